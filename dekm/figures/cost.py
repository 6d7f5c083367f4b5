"""Accuracy against seconds: what each method costs, and what it gains."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from dekm.errors import InputError
from dekm.figures.style import INK, PAGE, colour, legend_label, marker, new_figure, save, save_data, style
from dekm.files.tables import read_table

logger = logging.getLogger(__name__)

COLUMNS = 3  # panels beside each other
LEGEND_COLUMNS = 6
KEYS = ("dataset", "dataset_label", "method", "method_label")
TEXTS, NUMBERS = (*KEYS, "metric"), ("mean", "sd")


def draw(points: pd.DataFrame) -> Figure:
    """Draw one panel per dataset with a point for each method, and a line for the standard deviation of ACC.

    Columns dataset, dataset_label, method, method_label, acc and acc_sd in percent, and seconds.
    """
    methods = dict(zip(points["method"], points["method_label"], strict=True))
    datasets = list(points["dataset"].unique())
    n_columns = min(COLUMNS, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    n_lines = -(-len(methods) // LEGEND_COLUMNS)
    with style():
        figure = new_figure(PAGE * max(n_columns, 2) / COLUMNS, 2.2 * n_rows + 0.17 * n_lines)
        panels = figure.subplots(n_rows, n_columns, squeeze=False)
        for axes, dataset in zip(panels.flat, datasets, strict=False):
            _panel(axes, points[points["dataset"] == dataset], list(methods))
        for axes in panels.flat[len(datasets) :]:
            axes.set_visible(False)
        for axes in panels[:, 0]:
            axes.set_ylabel("ACC (%)")
        figure.legend(
            handles=[_point(i, label=legend_label(name)) for i, name in enumerate(methods.values())],
            loc="outside lower center",
            ncols=min(LEGEND_COLUMNS, len(methods)),
            columnspacing=0.9,
        )
    return figure


def _panel(axes: Axes, points: pd.DataFrame, methods: list[str]) -> None:
    for row in points.to_dict("records"):
        x, y = row["seconds"], row["acc"]
        axes.errorbar(x, y, yerr=row["acc_sd"], color=INK, elinewidth=0.6, zorder=1)
        axes.add_line(_point(methods.index(row["method"]), [x], [y]))
    axes.set(title=points["dataset_label"].iloc[0], xscale="log", xlabel="Seconds of a run")
    low, high = axes.get_xlim()
    grown = max(1.0, math.sqrt(10 * low / high))  # at least one decade, which has two ticks
    axes.set_xlim(low / grown, high * grown)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 300 else (1.0, 3.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())


def _point(i: int, x: Sequence[float] = (), y: Sequence[float] = (), label: str = "") -> Line2D:
    return Line2D(
        x, y, color=colour(i), marker=marker(i), linestyle="", markersize=5, mec=INK, mew=0.5, label=label
    )


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``cost.{pdf,png,csv}`` from ``table3.csv`` and ``further.csv``; nothing without ACC."""
    if len(inputs) != 2:
        raise InputError(f"{len(inputs)} inputs should be 2: the table3.csv and further.csv of the tables.")
    scores, further = (
        read_table(file, TEXTS, NUMBERS, filled=TEXTS, remedy="It should be one of the tables.")
        for file in inputs
    )
    acc = scores[scores["metric"] == "acc"].rename(columns={"mean": "acc", "sd": "acc_sd"})
    seconds = further[further["metric"] == "seconds"].rename(columns={"mean": "seconds"})
    points = acc[[*KEYS, "acc", "acc_sd"]].merge(seconds[["dataset", "method", "seconds"]])
    points = points.dropna(subset=["acc", "seconds"]).fillna({"acc_sd": 0.0})  # of one seed
    if len(points):
        save(draw(points), folder, "cost")
        save_data(points, folder, "cost")
    else:
        logger.info("no figure of cost: no dataset has ACC")
