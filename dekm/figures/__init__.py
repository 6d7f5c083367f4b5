"""The figures of the paper and those of single runs, one module each.

Every module has a function ``write(inputs, folder)``, which reads files of results and writes the figure as
PDF and PNG and its data as CSV, and ``draw`` functions, which make a figure from arrays and data frames.
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
    "cost": "cost",
    "choose_k": "choose_k",
    "runs": "runs",
}


def write_figure(name: str, inputs: Sequence[Path], folder: Path) -> None:
    """Write the figure `name`, a key of `FIGURES`; its module says what the inputs are."""
    import_module(f"{__name__}.{FIGURES[name]}").write(inputs, folder)
