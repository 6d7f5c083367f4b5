"""The curves of one run over its iterations."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dekm.figures.style import PAGE, colour, label_iterations, new_figure, style


class CurvePanel(NamedTuple):
    """What a panel of the curves shows over the iterations."""

    label: str  # of the y-axis
    lines: Mapping[str, str]  # name of each line by its column of the history
    starts_at_zero: bool = True
    factor: int = 1  # what the values are multiplied by


TRAINING = (
    CurvePanel("Loss (mean over the batches)", {"loss": "Loss"}),
    CurvePanel("Labels changed (%)", {"changed": "Changed"}, factor=100),
)
SCORE_PANEL = CurvePanel(
    "Score (%)", {"acc": "ACC", "nmi": "NMI", "ari": "ARI"}, starts_at_zero=False, factor=100
)
INERTIA_PANEL = CurvePanel("Inertia", {"inertia": "Inertia"}, starts_at_zero=False)
WITHOUT_LABELS = (
    CurvePanel("Cluster size (samples)", {"largest": "Largest", "smallest": "Smallest"}),
    CurvePanel("Effective rank", {"effective_rank": "Rank"}),
    CurvePanel(
        "Fraction, ARI",
        {"inertia_fraction": "Inertia / total scatter", "ari_first": "ARI with iteration 0"},
        starts_at_zero=False,
    ),
)


def draw_curves(history: pd.DataFrame, title: str) -> Figure:
    """Draw the loss, the changed labels, the scores and what needs no labels: two rows of three panels.

    The third panel shows the inertia for data without labels.
    """
    panels = [*TRAINING, SCORE_PANEL if "acc" in history else INERTIA_PANEL]
    if "effective_rank" in history:
        panels += WITHOUT_LABELS
    n_rows = len(panels) // 3
    with style():
        figure = new_figure(PAGE, 2.1 * n_rows + 0.2)
        for axes, panel in zip(figure.subplots(n_rows, 3).flat, panels, strict=True):
            _draw_panel(axes, history, panel)
        figure.suptitle(title, size=8)
    return figure


def _draw_panel(axes: Axes, history: pd.DataFrame, panel: CurvePanel) -> None:
    x = history["n_iter"].to_numpy(float)
    marks: Any = {"marker": "o", "markersize": 2.5} if len(x) < 40 else {}
    shown = {name: label for name, label in panel.lines.items() if name in history}
    for i, (name, label) in enumerate(shown.items()):
        values = panel.factor * history[name].to_numpy(float)
        axes.plot(x, values, color=colour((0, 2, 1)[i]), linestyle=("-", "--", ":")[i], label=label, **marks)
    axes.set(ylabel=panel.label)
    if panel.starts_at_zero:
        axes.set(ylim=(0, None))
    if history[list(shown)].isna().all(axis=None):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", color="gray")
        axes.set(ylim=(0, 1))
    if len(panel.lines) > 1:
        axes.legend()
    label_iterations(axes)
