"""Shares drawn as one character each: columns of eight heights, shades of four."""

from __future__ import annotations

from collections.abc import Sequence

from proton.render.text.style import ASCII, Glyphs

_COLUMNS = " ▁▂▃▄▅▆▇█"
_ASCII_COLUMNS = " _.-~=+*#"
_SHADES = " ░▒▓█"
_ASCII_SHADES = " .:+#"


def columns_of(shares: Sequence[float], glyphs: Glyphs) -> str:
    """A column a share of 1; what is not zero is seen."""
    return _drawn(shares, _ASCII_COLUMNS if glyphs is ASCII else _COLUMNS)


def shades_of(shares: Sequence[float], glyphs: Glyphs) -> str:
    """A shade a share of 1; what is not zero is seen."""
    return _drawn(shares, _ASCII_SHADES if glyphs is ASCII else _SHADES)


def shade_levels(glyphs: Glyphs) -> str:
    """The shades from lightest to darkest, without the blank."""
    return (_ASCII_SHADES if glyphs is ASCII else _SHADES)[1:]


def _drawn(shares: Sequence[float], levels: str) -> str:
    most = len(levels) - 1
    return "".join(
        levels[max(1, min(most, -int(-share * most // 1)))] if share > 0 else levels[0]
        for share in shares
    )
