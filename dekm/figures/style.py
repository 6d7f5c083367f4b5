"""The common style of all figures, and their files, which are identical for identical data."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dekm.figures.fonts import FONT, use_installed_fonts
from dekm.files.writing import write_bytes, write_text
from dekm.markup import to_csv

COLUMN, PAGE = 3.5, 7.16  # inches: width of one column and of a page
DPI = 200
PDF_DPI = 600  # of the points in a PDF file, which are pixels; its lines and texts are vectors
# Ten colours of Petroff (2021), "Accessible color sequences for data visualization".
COLOURS = tuple(map(to_hex, mpl.color_sequences["petroff10"]))
MARKERS = ("o", "^", "s", "D", "v")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
TINT = 0.28  # fraction of the colour of a class in that of its region
INK = "#1b1f24"
RC: Any = {
    "axes.edgecolor": INK,
    "axes.grid": False,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 7.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": DPI,
    "font.family": FONT,
    "font.size": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "image.composite_image": False,  # each image in a PDF file keeps its pixels
    "lines.linewidth": 1.3,
    "path.simplify": True,
    "pdf.fonttype": 42,
    "savefig.dpi": DPI,
    "text.parse_math": False,  # a label may contain dollar signs
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}


@contextmanager
def style() -> Iterator[None]:
    """Context manager that applies the common style and ignores the user's settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        yield


@contextmanager
def boxes_told_once() -> Iterator[None]:
    """Silence Matplotlib's warnings of missing glyphs, which `use_installed_fonts` tells once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def legend_label(text: str) -> str:
    """A label of a legend, from which Matplotlib would leave out one that begins with an underscore."""
    return f"\u200a{text}" if text.startswith("_") else text


def new_figure(width: float, height: float) -> Figure:
    """Create an empty figure, drawn by Agg, which needs no display; its size is in inches."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write ``<name>.pdf`` with embedded fonts and ``<name>.png``, both without date and version."""
    removed = dict.fromkeys(("CreationDate", "Creator", "Producer"))
    for suffix, metadata, dpi in (("png", {"Software": None}, DPI), ("pdf", removed, PDF_DPI)):
        content = io.BytesIO()  # Matplotlib does not survive a full disk
        with style(), boxes_told_once():
            use_installed_fonts(figure)
            figure.savefig(content, format=suffix, metadata=metadata, dpi=dpi)
            figure.set_layout_engine("none")  # the layout is found once for both files
        write_bytes(folder / f"{name}.{suffix}", content.getvalue())


def save_data(frame: pd.DataFrame, folder: Path, name: str) -> None:
    """Write the data of a figure to ``<name>.csv``."""
    write_text(folder / f"{name}.csv", to_csv(frame, "%.6g"))


def colour(i: int) -> str:
    """Hexadecimal colour of a class or curve; they repeat after ten."""
    return COLOURS[i % len(COLOURS)]


def marker(i: int) -> str:
    """Marker of a class; the pair of colour and marker is unique for fifty classes."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def tint(i: int) -> tuple[float, float, float]:
    """Red, green and blue in [0, 1] of the colour of class i, mixed with white."""
    red, green, blue = (1 - TINT + TINT * part for part in to_rgb(colour(i)))
    return red, green, blue


def remove_ticks(axes: Axes) -> None:
    """Remove the ticks and draw all four spines."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)


def label_iterations(axes: Axes) -> None:
    """Label the x-axis "Iteration" and put its ticks at integers only."""
    axes.set_xlabel("Iteration")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7, min_n_ticks=1))


def percent(scores: dict[str, Any]) -> str:
    """ACC and NMI in percent, such as "ACC 86.5, NMI 82.8 %"; empty without ``acc``."""
    if "acc" not in scores:
        return ""
    return f"ACC {100 * scores['acc']:.1f}, NMI {100 * scores['nmi']:.1f} %"
