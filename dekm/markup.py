"""Names that people give - of methods, datasets, classes, samples - as plain text in each format.

What would be markup, a formula or a control sequence there is escaped. HTML is left to `html.escape`.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Also what reverses the direction of a line, and what other programs take for a line break.
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
FORMULA = re.compile(r"[=+\-@＝＋－＠\t\r\n]")
LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''"}
LATEX |= {character: f"\\{character}" for character in "&%$#_{}"}
# Behind the end of a row, a bracket or an asterisk would belong to the command.
LATEX |= {character: f"{{{character}}}" for character in "[]*"}
LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
LATEX |= {"×": r"$\times$", "≈": r"$\approx$", "±": r"$\pm$", "–": "--", "−": "$-$"}
MARKDOWN = re.compile(
    r"(?P<mark>[\\|*`\[\]~$])|(?P<edge>(?<![^\W_])_|_(?![^\W_]))|(?P<entity><|&(?=#?\w+;)|@|:(?=//)|(?<=www)\.)"
    r"|(?P<start>^(?:#{1,6}(?=\s|$)|>|[+-](?=\s)|-{3,}$|\d+[.)](?=\s)))"
)


def printable(text: str) -> str:
    """A text for a terminal: control characters but line breaks are escaped."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """A text without control characters and line breaks, as a cell of a table."""
    return printable(" ".join(text.split()))


def latex(text: str) -> str:
    """A text in LaTeX."""
    return "".join(LATEX.get(character, character) for character in one_line(text))


def markdown(text: str) -> str:
    """A text in one line of Markdown, with the tables, links and formulas of GitHub."""

    def escape(found: re.Match[str]) -> str:
        if found["entity"]:
            return {"<": "&lt;", "&": "&amp;"}.get(found[0], f"&#{ord(found[0])};")
        return f"{found[0][:-1]}\\{found[0][-1]}"

    return MARKDOWN.sub(escape, one_line(text))


def markdown_code(text: str) -> str:
    """A text as code in a cell of a Markdown table."""
    text = one_line(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", r"\|")


def csv_cell(value: Any) -> Any:
    """A value of a CSV file; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    if not isinstance(value, str) or not FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def from_csv_cell(value: Any) -> Any:
    """The value of which `csv_cell` made this one."""
    if isinstance(value, str) and value.startswith("'") and csv_cell(value[1:]) == value:
        return value[1:]
    return value


def to_csv(frame: "pd.DataFrame", float_format: str | None = None) -> str:
    """A data frame as CSV text without its index; see `csv_cell`."""
    text = frame.select_dtypes(exclude="number").columns
    safe = frame.apply(lambda column: column.map(csv_cell) if column.name in text else column)
    return safe.rename(columns=csv_cell).to_csv(index=False, float_format=float_format)
