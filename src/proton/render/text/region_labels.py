"""The rows of a tree that are regions of instrumented kernels, and the marks of those kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.region_rows import RegionRow, find_recorded
from proton.model.in_kernel import Region
from proton.model.profile import Profile
from proton.model.tree import Tree
from proton.render.display_names import cell_width, cut_end, cut_middle, pad
from proton.render.text.bars import bar
from proton.render.text.kernel_remarks import every_text, short_mark, wrapped
from proton.render.text.region_tables import BAR_ROOM, cycles_text, place_of
from proton.render.text.style import Style
from proton.render.units import format_count

_NAME_ROOM = 24  # columns that names of regions take at most
_LEAST_ROOM = 16
_INDENT = 3  # columns of a level of the tree
_SHARE_ROOM = 9


@dataclass(slots=True)
class _Rooms:
    """Columns that the regions of one kernel take."""

    name: int = 0  # with what is in front of it below the outermost regions
    place: int = 0
    spread: int = 0


class RegionLabels:
    """Writes regions (name, line, share, bar, passages, spread) and the marks of kernels."""

    def __init__(self, profile: Profile, tree: Tree, style: Style, *, marks_only: bool) -> None:
        """`marks_only`: regions are names like others, as where metrics were asked for."""
        recorded = find_recorded(profile, tree)
        self._style = style
        self._regions = {} if marks_only else recorded.regions
        self._marks = {
            row: mark for row, kernels in recorded.kernels.items() if (mark := short_mark(kernels))
        }
        self._rooms: dict[int, _Rooms] = {}
        for row, found in self._regions.items():
            rooms = self._rooms.setdefault(found.kernel_row, _Rooms())
            name = min(cell_width(tree.frames[row].name), _NAME_ROOM)
            rooms.name = max(rooms.name, name + found.depth * _INDENT)
            rooms.place = max(rooms.place, cell_width(place_of(found.region)))
            rooms.spread = max(rooms.spread, len(_spread(found.region)))

    def __bool__(self) -> bool:
        return bool(self._regions or self._marks)

    def label(self, row: int, name: str, room: int | None) -> str | None:
        """The text of `row` in `room` columns; None where its `name` is all there is to say."""
        if (mark := self._marks.get(row)) is not None:
            if room is not None and cell_width(name) + 1 + len(mark) > room:
                mark = "(!)"
                name = cut_middle(name, max(room - len(mark) - 1, _LEAST_ROOM))
            return f"{name} {mark}"
        found = self._regions.get(row)
        return None if found is None else self._region(found, name, room)

    def _region(self, found: RegionRow, name: str, room: int | None) -> str:
        indent = found.depth * _INDENT
        rooms = self._rooms[found.kernel_row]
        name_room = rooms.name - indent
        text = pad(name if room is None else cut_middle(name, name_room), name_room)
        # What all regions of the kernel have room for: a bar and the line go first.
        left = None if room is None else room + indent - rooms.name - rooms.spread - 2 - _SHARE_ROOM
        if left is None or left >= rooms.place + 2:
            text += "  " + pad(place_of(found.region), rooms.place)
            left = None if left is None else left - rooms.place - 2
        bar_room = BAR_ROOM if left is None or left > BAR_ROOM else BAR_ROOM // 2
        bar_room = bar_room if left is None or left > bar_room else 0
        if found.share is None:
            text += " " * (_SHARE_ROOM + (bar_room + 1 if bar_room else 0))
        else:
            text += f"  {100 * found.share:5.1f} %"
            if bar_room:
                text += f" {bar(found.share, bar_room, self._style.glyphs)}"
        text += f"  {_spread(found.region)}"
        return text.rstrip() if room is None else cut_end(text.rstrip(), room)

    def explained(self, mask: Sequence[int]) -> list[str]:
        """What the labels of the rows that `mask` keeps mean."""
        shown = [found for row, found in self._regions.items() if mask[row]]
        notes = []
        if any(found.share is not None for found in shown):
            spread = ", p10/p50/p90 of one passage over warps, in cycles"
            known = any(found.region.p50 is not None for found in shown)
            note = (
                "regions: share of the kernel's outermost regions, passages"
                f"{spread if known else ''}; --regions KERNEL shows more"
            )
            notes += wrapped(note, self._style)
        return notes


def _spread(region: Region) -> str:
    text = f"{format_count(region.count)} times"
    if every := every_text(region):
        text += f" ({every})"
    if region.p50 is None:
        return text
    return f"{text}, " + "/".join(cycles_text(one) for one in (region.p10, region.p50, region.p90))
