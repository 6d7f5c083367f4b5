"""Measures of several numbers of clusters, one line per method."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dekm.figures.sources import single_input
from dekm.figures.style import LINES, MARKERS, PAGE, colour, legend_label, new_figure, save, style
from dekm.files.tables import read_table

MEASURES = {
    "modularity": "Modularity (more is better)",
    "silhouette": "Silhouette (more is better)",
    "stability": "Stability over seeds (ARI)",
}


def draw(frame: pd.DataFrame, title: str) -> Figure:
    """Draw one panel per measure that has values, with bands of one standard deviation over the seeds.

    The frame has the columns method, k, modularity, silhouette and stability, with their standard
    deviations in ``_sd`` where they have one.
    """
    shown = {name: label for name, label in MEASURES.items() if frame[name].notna().any()}
    with style():
        figure = new_figure(PAGE, 2.7)
        panels = figure.subplots(1, max(len(shown), 1), squeeze=False)[0]
        for axes, (name, label) in zip(panels, shown.items(), strict=False):
            for i, (method, line) in enumerate(frame.groupby("method", sort=False)):
                x, y = line["k"].to_numpy(float), line[name].to_numpy(float)
                sd = line.get(f"{name}_sd", pd.Series(float("nan"), line.index)).to_numpy(float)
                axes.fill_between(x, y - sd, y + sd, color=colour(i), alpha=0.15, linewidth=0)
                look = {"linestyle": LINES[i % len(LINES)], "marker": MARKERS[i % len(MARKERS)]}
                axes.plot(x, y, color=colour(i), markersize=3, label=legend_label(str(method)), **look)
            axes.set(xlabel="Number of clusters k", ylabel=label)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        figure.suptitle(title, size=8)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``<dataset>.{pdf,png}``; the input is the CSV file that `dekm choose-k` wrote for a dataset."""
    file = single_input(inputs, "a CSV file of choose-k")
    frame = read_table(file, ("method",), ("k", *MEASURES))
    save(draw(frame, f"{file.stem}: measures without true labels"), folder, file.stem)
