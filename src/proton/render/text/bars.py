"""Shares drawn with characters: bars in a fixed room, columns and shades of one character each."""

from __future__ import annotations

from collections.abc import Sequence

from proton.render.text.style import ASCII, Glyphs

BAR_ROOM = 10  # columns of a bar in a table
_EIGHTHS = " ▏▎▍▌▋▊▉"
_COLUMNS = " ▁▂▃▄▅▆▇█"
_ASCII_COLUMNS = " _.-~=+*#"
_SHADES = " ░▒▓█"
_ASCII_SHADES = " .:+#"


def bar(share: float, room: int, glyphs: Glyphs) -> str:
    """`share` of 1 as a bar, padded to `room` characters; what is not zero is seen."""
    share = min(max(share, 0.0), 1.0)
    if glyphs is ASCII:
        count = round(share * room)
        return ("#" * (count or (1 if share else 0))).ljust(room)
    eighths = round(share * room * 8) or (1 if share else 0)
    text = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return text.ljust(room)


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
