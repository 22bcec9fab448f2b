"""Flat listings: contexts by size, and the metrics of a profile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap

from proton.analysis.derive import Column, derivable_families
from proton.analysis.measurements import raw_metrics, shown_name, unit_of
from proton.analysis.select import Mask
from proton.model.profile import TreeProfile, kind_of
from proton.model.tree import Tree
from proton.render.display_names import cut_names, printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.head import program_head
from proton.render.text.style import BOLD, Style
from proton.render.text.terminal import aligned_cells
from proton.render.units import format_count

_LEAST_NAME_ROOM = 16
_GAP = "   "
_LISTING_WIDTH = 100  # of lists of words that go to a file


def sorted_lines(
    tree: Tree,
    mask: Mask,
    columns: Sequence[Column],
    name: Callable[[str], str],
    style: Style,
    looks: Sequence[str] | None = None,
    marks: Sequence[str] | None = None,
) -> list[str]:
    """The rows below the root, the largest value of the first column on top; dashes last."""
    values = columns[0].values if columns else [None] * len(tree)

    def size(row: int) -> tuple[bool, float]:
        value = values[row]
        return (True, abs(value)) if isinstance(value, (int, float)) else (False, 0.0)

    rows = sorted((row for row in range(1, len(tree)) if mask[row]), key=size, reverse=True)
    cells, header = aligned_cells(columns, rows, pad=True)
    lines = [style.paint(f"{header}name", BOLD)]
    room = None if style.width is None else max(style.width - len(header), _LEAST_NAME_ROOM)
    names = [name(tree.frames[row].name) for row in rows]
    if marks is not None:
        names = [f"{text} {marks[row]}".rstrip() for text, row in zip(names, rows, strict=True)]
    if room is not None:
        names = cut_names(names, room)
    for row, cell, text in zip(rows, cells, names, strict=True):
        line = cell + text
        lines.append(style.paint(line, looks[row]) if looks is not None else line)
    return lines


def metric_lines(
    profile: TreeProfile, style: Style, *, without_autotune: bool = False
) -> list[str]:
    """What can be asked for with -m: the metrics measured, then the ones derived from them.

    `without_autotune` is of the head; -m counts autotuning, and so do these metrics.
    """
    tree = profile.tree
    measured = [
        (
            printable(shown_name(metric)),
            printable(unit_of(metric)),
            kind_of(profile, metric).value,
            format_count(sum(metric in own for own in tree.own[1:])),
        )
        for metric in raw_metrics(tree)
    ]
    titles = ("measured", "unit", "adds up", "contexts")
    lines = table_lines(titles, measured, style, align="<<<>", gap=_GAP)
    families = derivable_families(profile)
    margin = max(map(len, ("derived", *families))) + len(_GAP)
    room = max((style.width or _LISTING_WIDTH) - margin, _LEAST_NAME_ROOM)
    lines += ["", style.paint("derived", BOLD)]
    for family, words in families.items():
        parts = wrap(printable("  ".join(words)), room, break_on_hyphens=False)
        heads = [family, *[""] * (len(parts) - 1)]
        lines += (f"{head:<{margin}}{part}" for head, part in zip(heads, parts, strict=True))
    head = program_head(profile, style, without_autotune=without_autotune)
    return [*head, "", *lines]
