"""Rows of a tree that say more than a name: source lines, regions, and kernels with remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton.analysis.folding.fold_lines import HotLine, Lineless
from proton.analysis.regions import EVENT, RegionRow, find_recorded
from proton.files.source_text import SourceText, TextState, read_source
from proton.model.in_kernel import Region
from proton.model.profile import Profile
from proton.model.tree import Tree
from proton.render.display_names import cell_width, cut_end, cut_middle, pad, printable
from proton.render.text.bars import BAR_ROOM, bar
from proton.render.text.kernel_remarks import every_text, short_mark, wrapped
from proton.render.text.region_tables import cycles_text, place_of
from proton.render.text.sample_texts import (
    MOST_REASONS,
    WITHOUT_LINES,
    choices_of_reasons,
    fit_reason,
    fitting,
    legend_lines,
    reasons_text,
    text_remark,
)
from proton.render.text.style import Style
from proton.render.units import format_count

_PLACE_ROOM = 28
_NAME_ROOM = 16  # columns that a kernel keeps, whatever its reasons take
_WIDE = 60  # columns from which bars have all of their room
_LEAST_TEXT_ROOM = 12
_TEXT_ROOM = 30  # columns that source text should have; reasons give way
_REGION_NAME_ROOM = 24  # columns that names of regions take at most
_LEAST_ROOM = 16
_INDENT = 3  # columns of a level of the tree
_SHARE_ROOM = 9


class LineLabels:
    """Writes the lines of a folded tree (place, share, bar, reasons, source text) and its kernels.

    A kernel without lines has its reasons behind its name.
    """

    def __init__(
        self,
        profile: Profile,
        lines: Mapping[int, HotLine],
        kernels: Mapping[int, Lineless],
        style: Style,
        *,
        full: bool,
    ) -> None:
        self._profile = profile
        self._style = style
        self._full = full
        self._texts: dict[str, SourceText] = {}
        self._lines = lines
        self._kernels = kernels
        self._reasons = choices_of_reasons({row: line.samples for row, line in lines.items()})
        self._places = {row: self._place(line) for row, line in lines.items()}
        self._place_room = max(map(cell_width, self._places.values()), default=0)

    def __bool__(self) -> bool:
        return bool(self._lines or self._kernels)

    def label(self, row: int, name: str, room: int | None) -> str | None:
        """The text of `row` in `room` columns; None where its `name` is all there is to say."""
        if row in self._kernels:
            return self._kernel(self._kernels[row], name, room)
        line = self._lines.get(row)
        if line is None:
            return None
        place = pad(self._places[row], self._place_room)
        bar_room = BAR_ROOM if room is None or room >= _WIDE else BAR_ROOM // 2
        drawn = bar(line.share, bar_room, self._style.glyphs)
        front = f"{place}  {100 * line.share:5.1f} % {drawn} "
        left = None if room is None else room - cell_width(front)
        reasons = fitting(self._reasons, left, _TEXT_ROOM)
        text = f"{front}{pad(fit_reason(reasons.texts[row], left), reasons.room)}"
        source = self._source(line)
        if room is None or room - cell_width(text) > _LEAST_TEXT_ROOM:
            text += f"  {source}"
        return text.rstrip() if room is None else cut_end(text.rstrip(), room)

    def _kernel(self, kernel: Lineless, name: str, room: int | None) -> str:
        status = f" ({kernel.status})" if kernel.status in WITHOUT_LINES else ""
        tail = ""
        for most in range(MOST_REASONS, 0, -1):
            tail = f"{status}  {reasons_text(kernel.samples, most)}".rstrip()
            if room is None or cell_width(name) + len(tail) <= room:
                return name + tail
        assert room is not None
        if room - len(tail) < _NAME_ROOM:
            tail = status
        return cut_end(cut_middle(name, max(room - len(tail), _NAME_ROOM)) + tail, room)

    def explained(self, mask: Sequence[int]) -> list[str]:
        """What is to be known about the rows that `mask` keeps: files, lines that are not known."""
        statuses = {kernel.status for row, kernel in self._kernels.items() if mask[row]}
        notes = [text_remark(file, text) for file, text in self._texts.items()]
        notes += [note for status, note in WITHOUT_LINES.items() if status in statuses]
        shown = [line.samples for row, line in self._lines.items() if mask[row]]
        shown += [kernel.samples for row, kernel in self._kernels.items() if mask[row]]
        lines = [line for note in filter(None, notes) for line in wrapped(note, self._style)]
        return lines + legend_lines(shown, self._style, full=self._full)

    def _place(self, line: HotLine) -> str:
        if not line.is_line:
            return line.file
        name = line.file if self._full else line.file.rsplit("/", 1)[-1]
        number = f":{line.line}" if line.line else ""
        place = f"{printable(name)}{number}"
        return place if self._full else cut_middle(place, _PLACE_ROOM)

    def _source(self, line: HotLine) -> str:
        if not line.is_line:
            return ""
        if line.file not in self._texts:
            sampling = self._profile.sampling
            recorded = None if sampling is None else sampling.files.get(line.file)
            self._texts[line.file] = read_source(line.file, recorded, self._profile.source)
        text = self._texts[line.file]
        if text.state is TextState.GONE:
            return "(file gone)"
        found = printable((text.line(line.line) or "").strip().expandtabs(4))
        return f"(file changed) {found}" if text.state is TextState.CHANGED else found


@dataclass(slots=True)
class _Rooms:
    """Columns that the regions of one kernel take."""

    name: int = 0  # with what is in front of it below the outermost regions
    place: int = 0
    spreads: Sequence[int] = ()  # of each way to write them, the longest first


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
            name = min(cell_width(tree.frames[row].name), _REGION_NAME_ROOM)
            rooms.name = max(rooms.name, name + found.depth * _INDENT)
            rooms.place = max(rooms.place, cell_width(place_of(found.region)))
            lengths = [len(text) for text in _spreads(found.region)]
            rooms.spreads = list(map(max, lengths, rooms.spreads or lengths))

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
        # What all regions of the kernel have room for: a bar and the line go first, then a part of
        # the spread, because half a number would be another one.
        lefts = [
            None if room is None else room + indent - rooms.name - spread - 2 - _SHARE_ROOM
            for spread in rooms.spreads
        ]
        fits = [way for way, left in enumerate(lefts) if left is None or left >= 0]
        way = fits[0] if fits else -1
        left = lefts[way]
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
        text += f"  {_spreads(found.region)[way]}"
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
        events = [one.region for one in shown if one.region.kind == EVENT and one.share is None]
        if events:
            note = (
                f"{printable(events[0].name)}: events overlap other regions and have no share, "
                "though the cycles of their kernel include theirs"
            )
            notes += wrapped(note, self._style)
        return notes


def _spreads(region: Region) -> tuple[str, str, str]:
    """Passages and how long they took, with less and less of the latter."""
    text = f"{format_count(region.count)} times"
    if every := every_text(region):
        text += f" ({every})"
    if region.p50 is None:
        return text, text, text
    spread = "/".join(cycles_text(one) for one in (region.p10, region.p50, region.p90))
    return f"{text}, {spread}", f"{text}, p50 {cycles_text(region.p50)}", text
