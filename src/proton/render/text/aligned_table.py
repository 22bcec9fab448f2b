"""Rows of texts under their titles, in columns that line up and fit the width there is."""

from __future__ import annotations

from collections.abc import Sequence

from proton.render.display_names import cell_width, cut_middle, pad
from proton.render.text.style import BOLD, Style

_LEAST_NAME_ROOM = 12


def table_lines(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    style: Style,
    *,
    align: str,
    spare: Sequence[int] = (),
    looks: Sequence[str] = (),
    gap: str = "  ",
) -> list[str]:
    """The titles and a line a row. The first column is a name, which is cut where room is short.

    Args:
        titles: One for each column.
        rows: Texts, column by column.
        style: Colours and width.
        align: `<` or `>` for each column: to the left or to the right.
        spare: Columns that go where room is short, the first of them first.
        looks: The look of each row.
        gap: What stands between two columns.
    """
    rooms = [max(map(cell_width, column)) for column in zip(titles, *rows, strict=True)]
    kept = list(range(len(titles)))
    if style.width is not None:
        least = min(rooms[0], _LEAST_NAME_ROOM)
        left = style.width - sum(rooms[1:]) - len(gap) * (len(rooms) - 1)
        for column in spare:
            if left < least:
                kept.remove(column)
                left += rooms[column] + len(gap)
        rooms[0] = min(rooms[0], max(left, least))
    lines = []
    for texts, look in zip((titles, *rows), (BOLD, *(looks or [""] * len(rows))), strict=True):
        cells = (cut_middle(texts[0], rooms[0]), *texts[1:])
        drawn = [_aligned(cells[at], rooms[at], align[at]) for at in kept]
        lines.append(style.paint(gap.join(drawn).rstrip(), look))
    return lines


def _aligned(text: str, room: int, side: str) -> str:
    return pad(text, room) if side == "<" else " " * (room - cell_width(text)) + text
