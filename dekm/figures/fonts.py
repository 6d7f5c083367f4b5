"""Installed fonts for the characters that the font of all figures lacks, such as those of Chinese names."""

import logging
import unicodedata
from functools import cache

from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager, get_font
from matplotlib.text import Text

from dekm.markup import printable

logger = logging.getLogger(__name__)

FONT = "DejaVu Sans"  # is part of Matplotlib
BOXES = "Last Resort"  # beginning of the name of a font that has a box for every character


def use_installed_fonts(figure: Figure) -> None:
    """Give each text of a figure the installed fonts that have the characters which `FONT` lacks.

    Control characters, and bytes of file names in other encodings, are escaped: Matplotlib refuses some.
    """
    for text in figure.findobj(Text):
        text.set_text(printable(text.get_text()))
        lacking = frozenset(filter(_is_drawn, text.get_text())) - _characters(findfont(FONT))
        if lacking:
            text.set_fontfamily([FONT, *find_fonts(lacking)])


@cache
def find_fonts(characters: frozenset[str]) -> list[str]:
    """Few installed fonts, if possible without serifs, that have the characters; a warning names others."""
    left, chosen = set(characters), list[str]()
    while left:
        covered = {name: left & have for name, have in _other_fonts().items() if left & have}
        if not covered:
            shown = "".join(sorted(left))
            logger.warning(
                "figures show boxes for %s, which no installed font has: install fonts such as Noto Sans CJK",
                shown if len(left) <= 20 else f"{shown[:20]}...",
            )
            break
        chosen.append(min(covered, key=lambda name: (-len(covered[name]), "Sans" not in name, name)))
        left -= covered[chosen[-1]]
    return chosen


@cache
def _other_fonts() -> dict[str, frozenset[str]]:
    """The characters of each installed font that can be scaled."""
    files = {font.name: str(font.fname) for font in fontManager.ttflist if not font.name.startswith(BOXES)}
    return {name: _characters(file) for name, file in files.items() if get_font(file).scalable}


@cache
def _characters(file: str) -> frozenset[str]:
    """The characters that a font has."""
    return frozenset(map(chr, get_font(file).get_charmap()))


def _is_drawn(character: str) -> bool:
    """Whether a character has a glyph of its own, unlike a line break or the joiner of others."""
    return unicodedata.category(character) not in ("Cc", "Cf", "Mn")
