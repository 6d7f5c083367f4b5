"""Labels with the markup of every format, through every renderer of tables: each shows the label as it is."""

import io
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from dekm.markup import csv_cell, latex, markdown, markdown_code, one_line, printable, to_csv
from dekm.tables.rendering.grid import Cell, Grid
from dekm.tables.rendering.html import to_html
from dekm.tables.rendering.latex import to_latex
from dekm.tables.rendering.markdown import to_markdown

LABELS = [
    "DEKM",
    "k_means_",
    "_private_",
    "__init__ __all__",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- comment",
    "{x} {{y}} {wildcards.method}",
    "[link](https://example.org)",
    "![image](https://example.org/a.png)",
    "https://example.org",
    "www.example.org",
    "me@example.org",
    "<https://example.org>",
    "*star* **bold** ***",
    "*",
    "[1] first",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "---",
    "```code```",
    "`code`",
    "~~gone~~",
    "a | b",
    "$x^2$ $$",
    "&lt;b&gt; &amp; &#42;",
    "50 % & more # ~ ^ \\ \\\\",
    "\\input{/etc/passwd} \\[ \\]",
    "\"quoted\" 'too' `so`",
    "=HYPERLINK(A1)",
    "@SUM(A1)",
    "+1+1",
    "-1+1",
    "用于聚类 データ 군집",
    "naïve ± × ≈ – −",
]


def grid(label: str) -> Grid:
    """A table with the label at every place where a text of others may stand."""
    cells = [Cell(label, note=1), Cell("93.1", "0.2", label, difference=label, place=1), Cell(label, label)]
    second = [Cell(label, place=2), Cell(label, place=1, tied=True), Cell("–")]
    return Grid(
        "table", label, [("", label), (label, "ACC"), (label, label)], [cells, second], label, [label]
    )


class Shown(HTMLParser):
    """The texts and the tags that a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


@pytest.mark.parametrize("label", LABELS)
def test_a_page_shows_a_label_and_runs_nothing(label: str) -> None:
    shown = Shown(to_html(label, [grid(label)], [label]))
    assert "\n".join(shown.texts).count(label) >= 12
    assert not shown.tags & {"script", "img", "iframe", "object", "embed", "form"}


@pytest.mark.parametrize("label", LABELS)
def test_markdown_shows_a_label_without_markup(label: str) -> None:
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(to_markdown(grid(label)))
    shown = Shown(page)
    allowed = {"table", "thead", "tbody", "tr", "th", "td", "p", "ol", "li", "strong", "em"}
    assert shown.tags <= allowed
    assert "\n".join(shown.texts).count(label) >= 10
    assert page.count("<strong>") == 2
    assert page.count("<em>") == 1
    assert page.count("<td>") == 6


@pytest.mark.parametrize("label", LABELS)
def test_markdown_on_github_makes_no_link_and_no_formula(label: str) -> None:
    text = markdown(label)
    assert not re.search(r"https?://|www\.|\w@\w|(?<!\\)\$", text)


@pytest.mark.parametrize("label", LABELS)
def test_markdown_shows_a_label_as_code(label: str) -> None:
    table = f"| a | b |\n|---|---|\n| {markdown_code(label)} | c |\n"
    shown = Shown(MarkdownIt("commonmark").enable("table").render(table))
    assert shown.tags == {"table", "thead", "tbody", "tr", "th", "td", "code"}
    assert [text for text in shown.texts if text] == ["a", "b", label, "c"]


@pytest.mark.parametrize("label", LABELS)
def test_latex_has_no_command_of_a_label(label: str) -> None:
    code = to_latex(grid(label))
    known = r"\\(begin|end|toprule|midrule|bottomrule|cmidrule|multicolumn|textbf|underline|footnotesize)\b"
    known += r"|\\(textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}"
    known += r"|\\(pm|approx|times)\b|\\[&%$#_{}]|\\\\"
    rest = re.sub(known, "", code.partition("\n")[2])
    assert "\\" not in rest
    assert not re.search(r"[~^%#&\"]", rest.replace("$^*$", "").replace("$^{(1)}$", "").replace(" & ", ""))
    for row in re.split(r"\\\\\n|\\midrule\n", code):
        assert not row.startswith(("[", "*"))
    balance = re.sub(r"\\[{}]", "", code.partition("\n")[2])
    assert balance.count("{") == balance.count("}")


@pytest.mark.parametrize("label", LABELS)
def test_a_spreadsheet_runs_no_label(label: str) -> None:
    frame = pd.DataFrame({"label": [label], label: [1.5]})
    lines = to_csv(frame).splitlines()
    for field in [*pd.read_csv(io.StringIO("\n".join(lines)), header=None, dtype=str).loc[:, 0], lines[0]]:
        assert not field.startswith(("=", "@", "+", "-"))
    assert pd.read_csv(io.StringIO(to_csv(frame)))["label"][0].removeprefix("'") == label


@pytest.mark.parametrize(
    "text", ["=cmd", "=1+1", "+cmd|x", "-cmd", "@SUM(A1)", "\t=1", "\r=1", "=-1", "＝1+1"]
)
def test_a_formula_becomes_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["", "a=b", "-1.5", "+2", "-inf", "1e-3", 5, -5.0, None, "MNIST"])
def test_everything_else_stays_as_it_is(value: object) -> None:
    assert csv_cell(value) is value


def test_a_frame_keeps_its_numbers_and_gaps() -> None:
    frame = pd.DataFrame({"a": ["=x", None, "y"], "b": [-0.123456, 2.0, float("nan")], "c": [1, 2, 3]})
    frame["d"] = frame["c"].astype("Int64")
    assert to_csv(frame, "%.2f") == "a,b,c,d\n'=x,-0.12,1,1\n,2.00,2,2\ny,,3,3\n"
    plain = frame.assign(a=["x", None, "y"])
    assert pd.read_csv(io.StringIO(to_csv(plain, "%.6f")))["a"].tolist()[::2] == ["x", "y"]


@pytest.mark.parametrize("text", ["\x1b[2J", "a\rb", "\x07", "\x9b31m", "‮evil", "a\u2028b", "\x00", "\ud800"])
def test_a_terminal_gets_no_control_characters(text: str) -> None:
    shown = printable(f"{text}\nnext")
    assert shown.splitlines()[1:] == ["next"]
    assert shown.splitlines()[0].isprintable()
    assert latex(text) == latex(one_line(text))


@pytest.mark.parametrize("text", ["naïve", "用于 聚类", "👩‍🔬 team", "a\nb"])
def test_a_terminal_gets_everything_else(text: str) -> None:
    assert printable(text) == text


def test_a_cell_is_one_line() -> None:
    assert one_line(" a\n\tb  c\r") == "a b c"
    assert len(to_markdown(grid("a\n\n# b")).splitlines()) == len(to_markdown(grid("a")).splitlines())
    assert len(to_latex(grid("a\nb")).splitlines()) == len(to_latex(grid("a")).splitlines())
