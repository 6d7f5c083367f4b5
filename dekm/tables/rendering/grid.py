"""A table of text cells under a two-level header, the common input of Markdown, LaTeX and HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    text : str
        Our value.
    sd : str
        Standard deviation of our value; empty if unknown.
    paper : str
        The paper's value, or a dash if the paper reports none; empty if the paper has no such cell.
    quoted : bool
        Whether the paper quotes its value from another paper.
    difference : str
        Our value minus the paper's, with its sign; empty if either is unknown.
    place : int or None
        1 for the best of a column, 2 for the second, otherwise None.
    tied : bool
        Whether the value is within noise of the best of its column.
    note : int or None
        Number of a footnote on our value.
    paper_note : int or None
        Number of a footnote on the paper's value.
    """

    text: str
    sd: str = ""
    paper: str = ""
    quoted: bool = False
    difference: str = ""
    place: int | None = None
    tied: bool = False
    note: int | None = None
    paper_note: int | None = None


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    name : str
        Name of the table's files, without suffix.
    title : str
        Heading.
    columns : sequence of tuple of (str, str)
        Upper and lower header of each column; adjacent columns with the same upper header share it.
    rows : sequence of sequence of Cell
        Cells of each row; the first cell is the name of the row.
    caption : str
        Explanation of the numbers and marks.
    notes : sequence of str
        Footnotes, numbered from 1.
    """

    name: str
    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    caption: str
    notes: Sequence[str] = field(default_factory=list)

    def groups(self) -> list[tuple[str, int]]:
        """Upper headers with the number of columns that each spans; an empty one spans one column."""
        groups: list[tuple[str, int]] = []
        for upper, _ in self.columns:
            if groups and upper and groups[-1][0] == upper:
                groups[-1] = (upper, groups[-1][1] + 1)
            else:
                groups.append((upper, 1))
        return groups


class Notes:
    """Footnotes in the order of their first use, numbered from 1; equal texts share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int | None:
        """Number of a footnote, which is added if it is new; None for an empty text."""
        if not text:
            return None
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1
