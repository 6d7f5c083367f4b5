"""Critical-difference diagram of the mean ranks, Demšar (2006), Figure 1."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dekm.figures.sources import single_input
from dekm.figures.style import INK, PAGE, new_figure, save, style
from dekm.files.reading import readable
from dekm.files.tables import read_table

logger = logging.getLogger(__name__)

STEP = 0.32  # inches between two labels
TEXTS = ("metric", "method_label")
NUMBERS = ("mean_rank", "n_datasets", "iman_davenport_p", "critical_difference", "separable")


def groups(ranks: Sequence[float], difference: float) -> list[tuple[int, int]]:
    """First and last of each maximal group of methods whose mean ranks do not differ significantly."""
    found: list[tuple[int, int]] = []
    for first, low in enumerate(ranks):
        last = max(i for i, rank in enumerate(ranks) if rank - low < difference)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def draw(ranks: pd.DataFrame) -> Figure:
    """Draw one panel per metric; a bar joins methods that do not differ significantly.

    Where the critical difference cannot tell methods apart, it is named instead of drawn. Columns metric,
    method_label, mean_rank, n_datasets, iman_davenport_p, critical_difference and separable, sorted by rank
    within a metric.
    """
    metrics = list(ranks["metric"].unique())
    n_methods = int(ranks.groupby("metric").size().max())
    with style():
        figure = new_figure(PAGE, len(metrics) * (1.1 + STEP * ((n_methods + 1) // 2)))
        for axes, metric in zip(figure.subplots(len(metrics), 1, squeeze=False)[:, 0], metrics, strict=True):
            _panel(axes, ranks[ranks["metric"] == metric], metric)
    return figure


def _panel(axes: Axes, ranks: pd.DataFrame, metric: str) -> None:
    values, labels = ranks["mean_rank"].tolist(), ranks["method_label"].tolist()
    n, difference = len(values), float(ranks["critical_difference"].iloc[0])
    separable = bool(ranks["separable"].iloc[0])
    half = (n + 1) // 2
    joined = groups(values, difference) if separable else []
    below = 0.45 + 0.28 * len(joined)
    bottom = below + half
    margin = 0.28 * max(n - 1, 1)
    axes.set(xlim=(1 - margin, n + margin), ylim=(bottom, -1.6))
    axes.axis("off")
    axes.plot([1, n], [0, 0], color=INK, linewidth=1)
    for tick in range(1, n + 1):
        axes.plot([tick, tick], [0, -0.15], color=INK, linewidth=1)
        axes.text(tick, -0.25, str(tick), ha="center", va="bottom", size=7)
    for i, (value, label) in enumerate(zip(values, labels, strict=True)):
        left = i < half
        depth = below + (i if left else n - 1 - i) + 0.3
        end, align = (1 - 0.05 * margin, "right") if left else (n + 0.05 * margin, "left")
        axes.plot([value, value, end], [0, depth, depth], color=INK, linewidth=0.7)
        text = f"{label}  {value:.2f}" if left else f"{value:.2f}  {label}"
        axes.text(end + (-0.03 if left else 0.03) * margin, depth, text, ha=align, va="center", size=8)
    for level, (first, last) in enumerate(joined):
        y = 0.35 + 0.28 * level
        axes.plot([values[first], values[last]], [y, y], color=INK, linewidth=3, solid_capstyle="round")
    if separable:
        axes.plot([1, 1 + difference], [-1.15, -1.15], color=INK, linewidth=2)
    axes.text(1, -1.25, _difference_text(difference, separable), ha="left", va="bottom", size=7)
    title = f"{metric.upper()}: mean rank over {ranks['n_datasets'].iloc[0]} datasets"
    p = float(ranks["iman_davenport_p"].iloc[0])
    axes.set_title(f"{title}, p = {p:.2g} (Iman and Davenport)" if math.isfinite(p) else title)


def _difference_text(difference: float, separable: bool) -> str:
    if not math.isfinite(difference):
        return ""
    text = f"critical difference {difference:.2f}"
    return text if separable else f"{text}: too few datasets to tell methods apart"


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``ranks.{pdf,png}`` from the ``ranks.csv`` of the tables; nothing if there are no ranks."""
    file = single_input(inputs, "a ranks.csv")
    ranks = read_table(file, TEXTS, NUMBERS, filled=TEXTS, remedy="It should be the ranks.csv of the tables.")
    with readable(file, "ranks.csv of the tables"):
        if len(ranks):
            save(draw(ranks), folder, "ranks")
        else:
            logger.info("no figure of ranks: no dataset has results of all methods")
