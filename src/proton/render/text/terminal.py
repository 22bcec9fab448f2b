"""The tree in a terminal: one line a context, values in front of names.

One metric is drawn beside its name (`├─ 1090.280 matmul`), several in aligned columns left of the
tree. Lines are plain text with escape codes, because a profile may have 100 000 of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import NamedTuple

from proton.analysis.derive import Column
from proton.analysis.select import Mask
from proton.model.tree import Tree
from proton.render.display_names import cut_name, cut_names, printable
from proton.render.text.style import BOLD, DIM, RESET, Glyphs, Style
from proton.render.units import Notation, format_column

_GAP = "  "
_NAME_ROOM = 24  # columns that indentation leaves to names
_LEAST_NAME_ROOM = 16  # below this a name is of no use: the line gets longer than the terminal
_LEAST_LEVELS = 6
_MOST_LEVELS = 60  # levels that are indented where lines may have any length


# Row, its name, the room there is (None: any) -> its text, or None where the name is all.
Label = Callable[[int, str, int | None], str | None]


class Drawing(NamedTuple):
    """A drawn tree. Levels below `levels` stand at one indentation, with their depth in front."""

    lines: list[str]
    levels: int
    is_capped: bool


def draw_tree(
    tree: Tree,
    mask: Mask,
    columns: Sequence[Column],
    name: Callable[[str], str],
    style: Style,
    looks: Sequence[str] | None = None,
    marks: Sequence[str] | None = None,
    label: Label | None = None,
) -> Drawing:
    """A tree as lines, titles first.

    Args:
        tree: The contexts.
        mask: The rows to draw.
        columns: What to show of each row.
        name: How to write the name of a frame.
        style: Colours and width.
        looks: The look of each row; needed with colours only.
        marks: A word behind each name, or "".
        label: Writes rows that are more than a name into the room they have; None for others.
    """
    is_beside = len(columns) == 1
    rows = list(compress(range(len(tree)), mask))
    cells, header = aligned_cells(columns, rows, pad=not is_beside)
    room = None if style.width is None else style.width - (0 if is_beside else len(header))
    levels = _MOST_LEVELS if room is None else max(_LEAST_LEVELS, (room - _NAME_ROOM) // 3)
    depths = tree.depths()
    is_capped = any(depths[row] > levels for row in rows)
    leads = _leads(tree, rows, depths, style.glyphs, levels)
    names = _names(tree, rows, name, marks)
    taken = [len(lead) for lead in leads]
    if is_beside:
        taken = [used + len(cell) + 1 for used, cell in zip(taken, cells, strict=True)]
    labels = [] if label is None else _labels(names, rows, taken, label, room)
    if room is not None:
        names = _cut(names, taken, [tree.parents[row] for row in rows], room)
    if labels:
        names = [text or name for text, name in zip(labels, names, strict=True)]
    lines = [style.paint(header.rstrip(), BOLD)] if columns else []
    if not style.color or looks is None:
        if is_beside:
            lines += [f"{a}{b} {c}" for a, b, c in zip(leads, cells, names, strict=True)]
        else:
            lines += [f"{b}{a}{c}" for a, b, c in zip(leads, cells, names, strict=True)]
        return Drawing(lines, levels, is_capped)
    ends = [RESET if looks[row] else "" for row in rows]
    starts = [looks[row] for row in rows]
    painted = [f"{DIM}{lead}{RESET}" if lead else "" for lead in leads]
    parts = zip(painted, cells, names, starts, ends, strict=True)
    if is_beside:
        lines += [f"{a}{s}{b} {c}{e}" for a, b, c, s, e in parts]
    else:
        lines += [f"{s}{b}{e}{a}{s}{c}{e}" for a, b, c, s, e in parts]
    return Drawing(lines, levels, is_capped)


def column_title(column: Column) -> str:
    """`time ms`: what a column shows and in which unit."""
    return printable(f"{column.title} {column.unit}".strip())


def aligned_cells(
    columns: Sequence[Column], rows: Sequence[int], *, pad: bool
) -> tuple[list[str], str]:
    """The values of each row as one text, and the titles above them; `pad` aligns them."""
    if not columns:
        return [""] * len(rows), ""
    texts = [
        format_column(
            [column.values[row] for row in rows],
            Notation(column.decimals, column.is_raw, column.is_difference, column.is_grouped),
        )
        for column in columns
    ]
    titles = [column_title(column) for column in columns]
    if not pad:
        return texts[0], titles[0]
    widths: list[int] = []
    for text, title in zip(texts, titles, strict=True):
        widths.append(max(len(title), max(map(len, text), default=0)))
    template = _GAP.join(f"{{:>{width}}}" for width in widths) + _GAP
    return list(map(template.format, *texts)), template.format(*titles)


def _leads(
    tree: Tree, rows: Sequence[int], depths: Sequence[int], glyphs: Glyphs, levels: int
) -> list[str]:
    """The lines drawn in front of each row. Their length is bounded, however deep the tree."""
    parents = tree.parents
    has_later = bytearray(len(tree))  # the row's parent has a child behind it
    seen = bytearray(len(tree))
    for row in reversed(rows):
        if seen[parents[row]]:
            has_later[row] = 1
        seen[parents[row]] = 1
    below = [""] * len(tree)  # what is drawn in front of the children of a row
    leads: list[str] = []
    for row in rows:
        if row == 0:
            leads.append("")
            continue
        before = below[parents[row]]
        if depths[row] > levels:
            below[row] = before
            leads.append(f"{before}{glyphs.deeper}{depths[row]} {glyphs.last}")
        elif has_later[row]:
            below[row] = before + glyphs.pass_by
            leads.append(before + glyphs.branch)
        else:
            below[row] = before + glyphs.empty
            leads.append(before + glyphs.last)
    return leads


def _names(
    tree: Tree, rows: Sequence[int], name: Callable[[str], str], marks: Sequence[str] | None
) -> list[str]:
    frames = tree.frames
    names = [frames[row].name for row in rows]
    written = {text: name(text) for text in set(names)}
    names = list(map(written.__getitem__, names))
    if marks is None:
        return names
    return [
        f"{text} {marks[row]}" if marks[row] else text
        for row, text in zip(rows, names, strict=True)
    ]


def _cut(
    names: Sequence[str], taken: Sequence[int], parents: Sequence[int], room: int
) -> list[str]:
    """Names cut to what the rest of their line leaves; those of siblings stay distinct."""
    rooms = [max(room - used, _LEAST_NAME_ROOM) for used in taken]
    cut = [
        text if text.isascii() and len(text) <= left else cut_name(text, left)
        for text, left in zip(names, rooms, strict=True)
    ]
    siblings: dict[int, list[int]] = {}
    for at, parent in enumerate(parents):
        if cut[at] is not names[at]:
            siblings.setdefault(parent, []).append(at)
    for places in siblings.values():
        # Values in front of names differ in length: what looks alike is seen in equal rooms.
        left = min(rooms[at] for at in places)
        apart = cut_names([names[at] for at in places], left) if len(places) > 1 else ()
        for at, text in zip(places, apart, strict=False):
            if text != cut_name(names[at], left):
                cut[at] = text
    return cut


def _labels(
    names: Sequence[str], rows: Sequence[int], taken: Sequence[int], label: Label, room: int | None
) -> list[str | None]:
    return [
        label(row, name, None if room is None else max(room - used, _LEAST_NAME_ROOM))
        for row, name, used in zip(rows, names, taken, strict=True)
    ]
