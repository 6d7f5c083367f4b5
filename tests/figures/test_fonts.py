"""Labels of any script and with any markup in figures, on machines with and without fonts for them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from PIL import Image

from dekm.figures import choose_k, fonts
from dekm.figures.classes import class_names
from dekm.figures.runs import draw_confusion
from dekm.figures.style import new_figure, save, style
from dekm.markup import printable

CHINESE = "聚类"  # that no installed font has, or at least not as full squares


@pytest.fixture(autouse=True)
def known_fonts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The fonts of Matplotlib alone, and those that a test adds."""
    own = [font for font in fontManager.ttflist if "matplotlib" in str(font.fname)]
    monkeypatch.setattr(fontManager, "ttflist", own)
    for function in (fonts.find_fonts, fonts._other_fonts):
        function.cache_clear()
    yield
    for function in (fonts.find_fonts, fonts._other_fonts):
        function.cache_clear()
    fontManager._findfont_cached.cache_clear()


def install_font(folder: Path, name: str, characters: str) -> None:
    """Make a font whose glyphs are full squares, and add it to those of Matplotlib."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for point in ((0, 1000), (1000, 1000), (1000, 0)):
        pen.lineTo(point)
    pen.closePath()
    square = pen.glyph()
    glyphs = [".notdef", *(f"g{i}" for i in range(len(characters)))]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(glyphs)
    builder.setupCharacterMap({ord(c): f"g{i}" for i, c in enumerate(characters)})
    builder.setupGlyf(dict.fromkeys(glyphs, square))
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (1000, 0)))
    builder.setupHorizontalHeader(ascent=1000, descent=0)
    builder.setupNameTable({"familyName": name, "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=1000)
    builder.setupPost()
    builder.save(folder / f"{name}.ttf")
    fontManager.addfont(folder / f"{name}.ttf")


def drawn(folder: Path, text: str) -> np.ndarray:
    """The pixels of a figure of one text."""
    with style():
        figure = new_figure(2, 1)
        figure.text(0.1, 0.5, text)
    save(figure, folder, "text")
    return np.asarray(Image.open(folder / "text.png").convert("L"))


def test_characters_are_drawn_by_an_installed_font_that_has_them(tmp_path: Path, caplog) -> None:
    boxes = drawn(tmp_path, CHINESE)
    assert f"figures show boxes for {''.join(sorted(CHINESE))}, which no installed font has" in caplog.text
    drawn(tmp_path, CHINESE)
    assert caplog.text.count("figures show boxes") == 1
    fonts.find_fonts.cache_clear()
    fonts._other_fonts.cache_clear()
    caplog.clear()
    install_font(tmp_path, "Squares", CHINESE)
    squares = drawn(tmp_path, CHINESE)
    assert (squares < 128).sum() > 1.5 * (boxes < 128).sum()
    assert not caplog.text
    embedded = (tmp_path / "text.pdf").read_bytes()
    assert b"/FontFile2" in embedded
    assert b"DejaVu" not in embedded


def test_latin_text_is_drawn_as_before_whatever_is_installed(tmp_path: Path) -> None:
    before = drawn(tmp_path, "naïve 93.1 ± 0.2")
    install_font(tmp_path, "Squares", "naive 0123456789.±ï")
    np.testing.assert_array_equal(drawn(tmp_path, "naïve 93.1 ± 0.2"), before)


def test_few_fonts_are_chosen_and_the_rest_is_told(tmp_path: Path, caplog) -> None:
    install_font(tmp_path, "Serif", "聚类分析")
    install_font(tmp_path, "Sans", "聚类分析")
    install_font(tmp_path, "Korean", "군집")
    assert fonts.find_fonts(frozenset("聚类군집仮")) == ["Sans", "Korean"]
    assert "figures show boxes for 仮," in caplog.text


@pytest.mark.parametrize(
    "label",
    [
        "$x^",
        "$x^2$",
        "_private",
        "聚类",
        "a\nb",
        "caf\udce9",  # a file name in another encoding
        "a\x00\x1b[2J",
    ],
)
def test_a_label_is_drawn_as_it_is(label: str, tmp_path: Path) -> None:
    install_font(tmp_path, "Squares", CHINESE)
    counts = np.array([[3, 1], [0, 2]])
    _, names = class_names(np.array([label, "z"]))
    save(draw_confusion(counts, names, [0, 1], [75.0, 66.0], label), tmp_path, "confusion")
    rows = [{"method": printable(label), "k": k, "seed": 0, "silhouette": 0.5} for k in (2, 3)]
    frame = pd.DataFrame(rows).assign(davies_bouldin=1.0, modularity=0.3, stability=np.nan)
    figure = choose_k.draw(frame, label)
    save(figure, tmp_path, "choose_k")
    shown = [text.get_text().strip("\u200a") for text in figure.findobj(Text)]
    assert shown.count(printable(label)) == 2  # the title and the legend
    assert not any(text.get_parse_math() for text in figure.findobj(Text) if text.get_text() == label)


def test_figures_need_no_backend_of_the_environment(tmp_path: Path) -> None:
    backend = "module://matplotlib_inline.backend_inline"  # that of a notebook, which need not exist here
    command = [sys.executable, "-m", "dekm", "figure", "fig2", "--out", str(tmp_path)]
    done = subprocess.run(command, env=os.environ | {"MPLBACKEND": backend}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "fig2.png").is_file()
