"""The figures of the paper and those of single runs, one module each.

Every module has ``write(inputs, folder)``, which reads files of results and writes the figure as PDF and
PNG and the numbers behind it as CSV, and ``draw`` functions, which make a figure from arrays and frames.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

FIGURES = {
    "fig1": "fig1_iterations",
    "fig2": "fig2_entropy",
    "fig3": "fig3_samples",
    "fig4": "fig4_strategies",
    "fig5": "fig5_embeddings",
    "ranks": "ranks",
    "runs": "runs",
}


def write_figure(name: str, inputs: Sequence[Path], folder: Path) -> None:
    """Write one figure; see ``write`` of its module for the inputs."""
    import_module(f"{__name__}.{FIGURES[name]}").write(inputs, folder)
