"""The regions of an instrumented kernel: cost and spread; besides, its CTAs and heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from proton.analysis.regions import order_of, shares_of
from proton.analysis.source_lines import other_names
from proton.errors import FormatError
from proton.model.in_kernel import RecordedKernel, Region
from proton.model.profile import Profile
from proton.render.display_names import cell_width, cut_middle, display_name, pad, printable
from proton.render.text.bars import BAR_ROOM, bar
from proton.render.text.choose_by_name import choose_kernel
from proton.render.text.cta_waves import wave_lines
from proton.render.text.head import head_lines
from proton.render.text.kernel_remarks import (
    changes_text,
    clock_note,
    every_text,
    marks_of,
    replays_text,
    wrapped,
)
from proton.render.text.memory_accesses import access_lines, heat_lines
from proton.render.text.style import BOLD, DIM, RED, Style, looks_of_shares
from proton.render.units import MISSING, format_count

_MOST_REGIONS = 60
_LEAST_NAME_ROOM = 12
_GAP = "  "


def region_tables(profile: Profile, wanted: str, style: Style, *, full: bool) -> list[str]:
    """What the kernel that `wanted` means recorded, once for each context and mode.

    Those with the most cycles come first.

    Args:
        profile: What was recorded.
        wanted: A kernel's name, or a part of one; "": all.
        style: How.
        full: Every region, and nothing cut.

    Raises:
        UsageError: No instrumented kernel or several are meant; the message lists them.
        FormatError: The profile has no records of kernels.
    """
    if not profile.in_kernel:
        raise FormatError(
            f"{profile.source}: has no records from inside kernels; "
            'record with backend="instrumentation"'
        )
    ranked = sorted(profile.in_kernel, key=lambda kernel: -_cycles(kernel))
    symbols = list(dict.fromkeys(kernel.kernel for kernel in ranked))
    names = other_names(profile)
    if wanted:
        chosen = choose_kernel(
            wanted,
            [(symbol, *names.get(symbol, ()), display_name(symbol)) for symbol in symbols],
            option="--regions",
            what="an instrumented",
        )
        symbols = [symbols[chosen]]
    if full:
        style = replace(style, width=None)
    lines = head_lines(profile, style)
    for kernel in ranked:
        if kernel.kernel in symbols:
            lines += ["", *kernel_lines(kernel, style, full=full)]
    return lines


def kernel_lines(kernel: RecordedKernel, style: Style, *, full: bool) -> list[str]:
    """One kernel: title, what to beware of, regions, values, CTAs, heat maps."""
    lines = _title(kernel, style, full=full)
    if kernel.context:
        path = " > ".join(printable(name) for name in kernel.context)
        lines.append(f"in {path if style.width is None else cut_middle(path, style.width - 3)}")
    for mark in marks_of(kernel):
        lines += [style.paint(line, RED) for line in wrapped(f"! {mark}", style)]
    if note := clock_note(kernel):
        lines += wrapped(note, style)
    if kernel.regions:
        lines += ["", *RegionTable(kernel, style, full=full).lines()]
    if kernel.values:
        lines += ["", *_value_lines(kernel, style)]
    if kernel.ctas is not None:
        lines += ["", *wave_lines(kernel.ctas, style)]
    if kernel.accesses:
        lines += ["", *access_lines(kernel, style, full=full)]
    for heat in kernel.heat:
        lines += ["", *heat_lines(heat, style)]
    if not (kernel.regions or kernel.values or kernel.ctas or kernel.accesses or kernel.heat):
        lines.append("no records of it could be read")
    return lines


def _cycles(kernel: RecordedKernel) -> float:
    return sum(region.cycles for region in kernel.regions)


def _title(kernel: RecordedKernel, style: Style, *, full: bool) -> list[str]:
    """The name, with the facts beside it or, where there is no room, below it."""
    name = display_name(kernel.kernel, full=full)
    facts = "   ".join(facts_of(kernel))
    if style.width is None or cell_width(name) + 3 + len(facts) <= style.width:
        return [f"{style.paint(name, BOLD)}   {facts}"]
    return [style.paint(cut_middle(name, style.width), BOLD), *wrapped(facts, style)]


def facts_of(kernel: RecordedKernel) -> list[str]:
    """How a kernel was recorded, and how that changed it without harm: a few words each."""
    parts = [
        f"mode {printable(kernel.mode)}" if kernel.mode else "",
        f"device {kernel.device_id}" if kernel.device_id else "",
        replays_text(kernel)
        if kernel.replays
        else f"{format_count(kernel.launches)} launch{'es' * (kernel.launches != 1)}",
        f"{format_count(kernel.recorded_warps)} warps",
        f"{kernel.clock_ghz:.3f} GHz" if kernel.clock_ghz else "",
    ]
    unharmed = {
        name: change
        for name, change in kernel.changed.items()
        if name not in kernel.harm() and change.plain not in (None, change.recorded)
    }
    if unharmed:
        parts.append(changes_text(unharmed))
    return list(filter(None, parts))


class _Row(NamedTuple):
    """The texts of a region, column by column."""

    name: str
    place: str
    numbers: tuple[str, ...]
    bar: str
    look: str


class RegionTable:
    """The regions of a kernel, nested, with what they cost."""

    TITLES = ("count", "cycles", "share %")
    SPREAD = ("p10", "p50", "p90", "avg ns")

    def __init__(self, kernel: RecordedKernel, style: Style, *, full: bool) -> None:
        self._kernel = kernel
        self._style = style
        self._shares = shares_of(kernel)
        shown = order_of(kernel, None if full else _MOST_REGIONS)
        self._hidden = len(kernel.regions) - len(shown)
        looks = looks_of_shares([self._shares[number] for number, _ in shown], 1.0)
        self._rows = [
            self._row(number, depth, look)
            for (number, depth), look in zip(shown, looks, strict=True)
        ]

    def lines(self) -> list[str]:
        """Titles, one line a region, and what the numbers are."""
        titles = (*self.TITLES, *self.SPREAD)
        rooms = [
            max(len(title), *(len(row.numbers[at]) for row in self._rows))
            for at, title in enumerate(titles)
        ]
        place_room = max(4, *(cell_width(row.place) for row in self._rows))
        name_room = max(6, *(cell_width(row.name) for row in self._rows))
        columns = list(range(len(titles)))
        width = self._style.width
        fixed = place_room + sum(rooms) + (len(rooms) + 2) * len(_GAP) + BAR_ROOM
        has_bar = True
        if width is not None and fixed + min(name_room, _LEAST_NAME_ROOM) > width:
            has_bar = False
            fixed -= BAR_ROOM + len(_GAP)
        least = min(name_room, _LEAST_NAME_ROOM)
        while width is not None and len(columns) > 3 and fixed + least > width:
            fixed -= rooms[columns.pop()] + len(_GAP)
        if width is not None:
            name_room = min(name_room, max(width - fixed, _LEAST_NAME_ROOM))
        head = ["region".ljust(name_room), "line".ljust(place_room)]
        head += self._cells(titles, rooms, columns, "" if has_bar else None)
        lines = [self._style.paint(_GAP.join(head).rstrip(), BOLD)]
        for row in self._rows:
            cells = [pad(cut_middle(row.name, name_room), name_room), pad(row.place, place_room)]
            cells += self._cells(row.numbers, rooms, columns, row.bar if has_bar else None)
            lines.append(self._style.paint(_GAP.join(cells).rstrip(), row.look))
        notes = [line for note in self._notes() for line in wrapped(note, self._style)]
        return [*lines, *(self._style.paint(line, DIM) for line in notes)]

    def _cells(
        self, texts: Sequence[str], rooms: Sequence[int], columns: Sequence[int], drawn: str | None
    ) -> list[str]:
        cells = [texts[at].rjust(rooms[at]) for at in columns]
        if drawn is not None:
            cells.insert(3, drawn.ljust(BAR_ROOM))
        return cells

    def _row(self, number: int, depth: int, look: str) -> _Row:
        region = self._kernel.regions[number]
        share = self._shares[number]
        is_moment = not region.cycles and region.kind in ("mark", "value")
        name = printable(region.name) or '""'
        return _Row(
            "  " * depth + (f"{name} ({every})" if (every := every_text(region)) else name),
            place_of(region),
            (
                format_count(region.count),
                MISSING if is_moment else format_count(region.cycles),
                MISSING if share is None else f"{100 * share:.1f}",
                *(cycles_text(value) for value in (region.p10, region.p50, region.p90)),
                MISSING
                if region.ns is None or not region.count
                else cycles_text(region.ns / region.count),
            ),
            "" if share is None else bar(share, BAR_ROOM, self._style.glyphs),
            look,
        )

    def _notes(self) -> list[str]:
        notes = notes_of(self._kernel)
        if self._hidden:
            notes.insert(0, f"{format_count(self._hidden)} smaller regions; --full shows all")
        return notes


def notes_of(kernel: RecordedKernel) -> list[str]:
    """What the numbers of regions are, and how far they may be off."""
    notes = []
    if any(region.cycles for region in kernel.regions):
        notes.append(
            "cycles of all warps; share of the outermost regions; p10, p50, p90 of one "
            "passage in cycles, over warps"
        )
    if any(region.kind == "event" for region in kernel.regions):
        notes.append(
            "events are asynchronous: they overlap other regions and count in none of them"
        )
    corrected = []
    if kernel.record_cycles:
        corrected.append(f"{kernel.record_cycles:g} cycles per record were subtracted")
    if kernel.error_cycles is not None:
        corrected.append(f"a passage may be off by {kernel.error_cycles:g} cycles")
    return [*notes, "; ".join(corrected)] if corrected else notes


def place_of(region: Region) -> str:
    """`mm.py:22`: where a region is in the source."""
    file = region.file.rsplit("/", 1)[-1]
    if not region.line:
        return printable(file) or MISSING
    return printable(f"{file}:{region.line}" if file else f":{region.line}")


def cycles_text(value: float | None) -> str:
    """Cycles or nanoseconds of one passage; a dash where they are not known."""
    if value is None:
        return MISSING
    return format_count(value) if value >= 100 or float(value).is_integer() else f"{value:.1f}"


def _value_lines(kernel: RecordedKernel, style: Style) -> list[str]:
    is_odd = any(value.not_finite for value in kernel.values)  # of integers none is
    rows = [("value", "count", *(["not finite"] if is_odd else []), "mean", "min", "max")]
    for value in kernel.values:
        counts = [value.count, value.not_finite][: 1 + is_odd]
        sizes = (value.mean, value.min, value.max)
        texts = [MISSING if one is None else f"{one:g}" for one in sizes]
        rows.append((printable(value.name), *map(format_count, counts), *texts))
    name_room = max(cell_width(row[0]) for row in rows)
    rooms = [max(map(len, column)) for column in zip(*(row[1:] for row in rows), strict=True)]
    lines = []
    for row in rows:
        numbers = (text.rjust(room) for text, room in zip(row[1:], rooms, strict=True))
        lines.append(_GAP.join([pad(row[0], name_room), *numbers]))
    return [style.paint(lines[0], BOLD), *lines[1:]]
