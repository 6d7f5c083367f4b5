r"""Figure 2: entropy and cluster structure, with the paper's three numbers and the corrected ones.

The paper gives its numbers in bits; they are in nats. (a) is the entropy of drawing one of 400 indices and
does not depend on the positions of the points. (b) and (c) follow the formula as printed,
:math:`\frac d2 \ln (2 \pi e \sigma_1^2 \cdots \sigma_d^2)^{1/d}`, whose exponent should enclose the product
of variances only: :math:`\frac d2 \ln (2 \pi e (\sigma_1^2 \cdots \sigma_d^2)^{1/d})`. The 0.033 of (c)
results from a standard deviation of 0.5, whereas the text states a variance of 0.5.
"""

from collections.abc import Sequence
from math import e, log, pi
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dekm.figures.style import PAGE, colour, new_figure, remove_ticks, save, save_data, style

N_POINTS = 400
SIDE = 10.0
CENTERS = np.array([[3.0, 3.0], [7.0, 7.0]])


def gaussian_entropy(variances: Sequence[float]) -> float:
    """Differential entropy of a Gaussian with independent coordinates, in nats."""
    return sum(log(2 * pi * e * variance) for variance in variances) / 2


def printed_entropy(variances: Sequence[float]) -> float:
    """The paper's formula as printed: half the logarithm of 2 pi e times the product of the variances."""
    return log(2 * pi * e * float(np.prod(variances))) / 2


def entropies() -> pd.DataFrame:
    """The paper's numbers, the values of its printed formula and the corrected entropies.

    Columns panel, data, paper_bits (as printed), and papers_formula and corrected, each in ``_nats`` and
    ``_bits``.
    """
    rows = [
        ("a", "uniform in a square of side 10", 5.992, log(N_POINTS), 2 * log(SIDE)),
        ("b", "two Gaussians, variance 1", 1.419, printed_entropy([1, 1]), gaussian_entropy([1, 1])),
        (
            "c",
            "two Gaussians, variance 0.25 (standard deviation 0.5)",
            0.033,
            printed_entropy([0.25, 0.25]),
            gaussian_entropy([0.25, 0.25]),
        ),
        (
            "c",
            "two Gaussians, variance 0.5 as in the text",
            0.033,
            printed_entropy([0.5, 0.5]),
            gaussian_entropy([0.5, 0.5]),
        ),
    ]
    columns = ["panel", "data", "paper_bits", "papers_formula_nats", "corrected_nats"]
    table = pd.DataFrame(rows, columns=columns)
    table["papers_formula_bits"] = table["papers_formula_nats"] / log(2)
    table["corrected_bits"] = table["corrected_nats"] / log(2)
    return table


def sample(seed: int = 0) -> dict[str, np.ndarray]:
    """Draw the 400 points (400, 2) of each panel: uniform, and 200 around each of two centers."""
    rng = np.random.default_rng(seed)
    centers = np.repeat(CENTERS, N_POINTS // 2, axis=0)
    return {
        "a": rng.uniform(0, SIDE, (N_POINTS, 2)),
        "b": centers + rng.normal(size=(N_POINTS, 2)),
        "c": centers + 0.5 * rng.normal(size=(N_POINTS, 2)),
    }


def draw(points: dict[str, np.ndarray], table: pd.DataFrame) -> Figure:
    """Draw three panels side by side with the paper's entropy and the corrected one below."""
    titles = {
        "a": "Uniform",
        "b": "Two Gaussians of variance 1",
        "c": "Two Gaussians of variance 0.25",
    }
    with style():
        figure = new_figure(PAGE, 3.0)
        for axes, (panel, xy) in zip(figure.subplots(1, len(points)), points.items(), strict=True):
            row = table[table["panel"] == panel].iloc[0]
            axes.scatter(*xy.T, s=7, c=colour(0), linewidths=0)
            axes.set(xlim=(-0.5, SIDE + 0.5), ylim=(-0.5, SIDE + 0.5), aspect="equal")
            axes.set_title(f"({panel}) {titles[panel]}")
            of_gaussian = "" if panel == "a" else " of one Gaussian"
            axes.set_xlabel(
                f"paper: {row['paper_bits']:.3f} “bits” (in fact nats)\ndifferential entropy{of_gaussian}:\n"
                f"{row['corrected_nats']:.3f} nats = {row['corrected_bits']:.3f} bits"
            )
            remove_ticks(axes)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig2.{pdf,png}``, the points as ``fig2.csv`` and the numbers as ``fig2_entropies.csv``."""
    points, table = sample(), entropies()
    frames = [pd.DataFrame(xy, columns=["x", "y"]).assign(panel=panel) for panel, xy in points.items()]
    save(draw(points, table), folder, "fig2")
    save_data(pd.concat(frames)[["panel", "x", "y"]], folder, "fig2")
    save_data(table, folder, "fig2_entropies")
