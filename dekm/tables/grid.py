"""A table as text in cells under a two-level header: what Markdown, LaTeX and HTML are made from."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One entry.

    Attributes
    ----------
    text : our value
    sd : its standard deviation
    paper : the paper's value, or a dash where the paper has none; empty where it has no such cell
    quoted : whether the paper quotes its value from another
    difference : ours minus the paper's, signed
    place : 1 for the best of a column, 2 for the second
    tied : within noise of the best
    note : number of a footnote
    """

    text: str
    sd: str = ""
    paper: str = ""
    quoted: bool = False
    difference: str = ""
    place: int | None = None
    tied: bool = False
    note: int | None = None


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    name : of the file
    title : heading
    columns : pairs of upper and lower header; neighbours with the same upper header share it
    rows : cells of each row, the first of them its name
    caption : what the numbers and marks mean
    notes : footnotes, the first has number 1
    """

    name: str
    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    caption: str
    notes: Sequence[str] = field(default_factory=list)

    def groups(self) -> list[tuple[str, int]]:
        """Upper headers with the number of columns that each spans."""
        groups: list[tuple[str, int]] = []
        for upper, _ in self.columns:
            if groups and upper and groups[-1][0] == upper:
                groups[-1] = (upper, groups[-1][1] + 1)
            else:
                groups.append((upper, 1))
        return groups


class Notes:
    """Footnotes in the order of their first use; the same text has one number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int | None:
        """Number of a footnote; None for an empty text."""
        if not text:
            return None
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1
