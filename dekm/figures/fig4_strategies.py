"""Figure 4: ACC and NMI of the five strategies over the iterations."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dekm.errors import InputError
from dekm.figures.sources import describe_data, read_history
from dekm.figures.style import (
    LINES,
    MARKERS,
    PAGE,
    colour,
    label_iterations,
    new_figure,
    save,
    save_data,
    style,
)
from dekm.results.folders import CellFolder
from dekm.results.record import Record

STRATEGIES = (
    "1: last dimension of Y",
    "2: random dimension of Y",
    "3: all dimensions of Y",
    "4: random dimension of H",
    "5: all dimensions of H",
)
SAME_LOSS = (
    "Strategies 3 and 5 minimize one loss from the same weights: where all dimensions move to the centroid, "
    "rotating the embedding by V\n"
    "does not change it. They differ by rounding only, until that leads K-means to another partition."
)
PALETTE = (0, 1, 2, 4, 8)  # five of the colours that also differ in lightness


def mean_curves(histories: Mapping[str, Sequence[pd.DataFrame]]) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each strategy, metric and iteration.

    The last score of a run that stopped early is repeated, so that every mean is over the same seeds. Columns
    strategy, metric, n_iter, mean, sd (both in percent; sd is NaN for one seed) and n_seeds.
    """
    length = max(len(history) for runs in histories.values() for history in runs)
    rows = []
    for strategy, runs in histories.items():
        for metric in ("acc", "nmi"):
            values = np.stack(
                [np.pad(run[metric], (0, length - len(run)), mode="edge") * 100 for run in runs]
            )
            sd = values.std(0, ddof=1) if len(runs) > 1 else np.full(length, np.nan)
            rows.append(
                pd.DataFrame({"n_iter": np.arange(length), "mean": values.mean(0), "sd": sd}).assign(
                    strategy=strategy, metric=metric, n_seeds=len(runs)
                )
            )
    return pd.concat(rows)[["strategy", "metric", "n_iter", "mean", "sd", "n_seeds"]]


def finals(frame: pd.DataFrame) -> pd.DataFrame:
    """The last point of each curve: one row per strategy and metric, without the column n_iter."""
    return frame[frame["n_iter"] == frame["n_iter"].max()].drop(columns="n_iter")


def draw(frame: pd.DataFrame, title: str = "") -> Figure:
    """Draw ACC and NMI, one line per strategy with bars of one standard deviation at some iterations."""
    with style():
        figure = new_figure(PAGE, 3.3)
        panels = figure.subplots(1, 2)
        for axes, metric in zip(panels, ("acc", "nmi"), strict=True):
            shown = frame[frame["metric"] == metric]
            every = max(1, int(shown["n_iter"].max()) // 8)
            for i, (strategy, line) in enumerate(shown.groupby("strategy", sort=False)):
                x, mean, sd = (line[name].to_numpy(float) for name in ("n_iter", "mean", "sd"))
                places = (i * every // 5, every)  # one strategy beside the other
                axes.errorbar(
                    x,
                    mean,
                    np.nan_to_num(sd),
                    errorevery=places,
                    elinewidth=0.9,
                    capsize=1.8,
                    color=colour(PALETTE[i]),
                    linestyle=LINES[i],
                    marker=MARKERS[i],
                    markevery=places,
                    markersize=3.5,
                    label=strategy,
                )
            label_iterations(axes)
            axes.set_ylabel(f"{metric.upper()} (%)")
            axes.margins(x=0.03)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        figure.suptitle(f"{title}\n{SAME_LOSS}", size=6.5)
    return figure


def write(inputs: Sequence[Path], folder: Path) -> None:
    """Write ``fig4.{pdf,png}``, the curves as ``fig4.csv`` and their last points as ``fig4_final.csv``.

    The inputs are the cells ``runs/<dataset>/<method>`` of strategies 1 to 5, in this order; the means are
    over the seeds that count in all of them. `InputError` if there are not five inputs, no such seed, or a
    cell has no runs or no ACC.
    """
    if len(inputs) != len(STRATEGIES):
        raise InputError(f"{len(inputs)} inputs should be {len(STRATEGIES)}: the cells of the strategies.")
    cells = [{run.facts["seed"]: run for run in CellFolder(cell).seeds()} for cell in inputs]
    common = [seed for seed in cells[0] if all(seed in cell for cell in cells)]
    if not common:
        raise InputError("the five cells should have a seed in common that counts in each; they have none.")
    seeds, histories = [cells[0][seed] for seed in common], {}
    for strategy, cell, runs in zip(STRATEGIES, inputs, cells, strict=True):
        histories[strategy] = [read_history(runs[seed]) for seed in common]
        if not all("acc" in history for history in histories[strategy]):
            raise InputError(f"{cell} should hold runs on a dataset with true labels; its runs have no ACC.")
    frame = mean_curves(histories)
    save(draw(frame, figure_title(seeds)), folder, "fig4")
    save_data(frame, folder, "fig4")
    save_data(finals(frame), folder, "fig4_final")


def figure_title(seeds: Sequence[Record]) -> str:
    """Data, seeds, and what line and bars are."""
    numbers = ", ".join(str(seed.facts["seed"]) for seed in seeds)
    if len(seeds) == 1:
        return f"{describe_data(seeds[0])}, seed {numbers}"
    return f"{describe_data(seeds[0])}: mean over the seeds {numbers}, bars of ± one standard deviation"
