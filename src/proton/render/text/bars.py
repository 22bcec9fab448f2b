"""Bars of characters: a share drawn in a fixed room."""

from __future__ import annotations

from proton.render.text.style import ASCII, Glyphs

_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, room: int, glyphs: Glyphs) -> str:
    """`share` of 1 as a bar, padded to `room` characters; what is not zero is seen."""
    share = min(max(share, 0.0), 1.0)
    if glyphs is ASCII:
        count = round(share * room)
        return ("#" * (count or (1 if share else 0))).ljust(room)
    eighths = round(share * room * 8) or (1 if share else 0)
    text = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return text.ljust(room)
