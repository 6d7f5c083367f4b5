"""A table of text cells under a two-level header, the common input of Markdown, LaTeX and HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sample:
    """A sample that a cell of a page shows: its name, a data URL of its image, and where more is told of it.

    The last two are empty for a sample that is no image, or has no page.
    """

    name: str
    picture: str = ""
    address: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str  # our value
    sd: str = ""  # its standard deviation; empty if unknown
    paper: str = ""  # the paper's value, or a dash if it reports none; empty if it has no such cell
    quoted: bool = False  # whether the paper quotes its value from another paper
    difference: str = ""  # our value minus the paper's, with its sign; empty if either is unknown
    place: int | None = None  # 1 for the best of a column, 2 for the second
    tied: bool = False  # whether the value is within noise of the best of its column
    note: int | None = None  # number of a footnote on our value
    paper_note: int | None = None  # number of a footnote on the paper's value
    samples: Sequence[Sample] = ()  # what a page shows in place of the text


@dataclass(frozen=True)
class Grid:
    """A table."""

    name: str  # of its files, without suffix
    title: str  # heading
    # upper and lower header of each; adjacent ones with the same upper header share it
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]  # the first cell of a row is its name
    caption: str  # explanation of the numbers and marks
    notes: Sequence[str] = field(default_factory=list)  # footnotes, numbered from 1
    beside: str = ""  # heading of the tables that a page shows side by side; empty for one that stands alone

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
