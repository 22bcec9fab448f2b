"""The regions of an instrumented kernel: cost and spread; besides, its CTAs and heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from proton.analysis.other_regions import with_other_regions
from proton.analysis.regions import by_cycles, has_sums_only, order_of, per_warp, shares_of
from proton.analysis.source_lines import other_names
from proton.errors import FormatError
from proton.model.in_kernel import RecordedKernel, Region
from proton.model.profile import Profile, TreeProfile
from proton.render.display_names import cell_width, cut_middle, display_name, printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.bars import BAR_ROOM, bar
from proton.render.text.choose_by_name import choose_kernel
from proton.render.text.cta_waves import wave_lines
from proton.render.text.head import program_head
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
_TITLES = (
    *("region", "line", "count", "cycles", "share %", ""),
    *("p10", "p50", "p90", "avg ns", "per warp"),
)
_FIRST_NUMBER = 2


def region_tables(
    profile: Profile, wanted: str, style: Style, *, full: bool, without_autotune: bool = False
) -> list[str]:
    """What the kernel that `wanted` means recorded, once for each context and mode.

    Those with the most cycles come first.

    Args:
        profile: What was recorded.
        wanted: A kernel's name, or a part of one; "": all.
        style: How.
        full: Every region, and nothing cut.
        without_autotune: The head tells of the program alone.

    Raises:
        UsageError: No instrumented kernel or several are meant; the message lists them.
        FormatError: The profile has no records of kernels.
    """
    recorded = profile.in_kernel
    if isinstance(profile, TreeProfile):
        recorded = with_other_regions(profile).in_kernel
    if not recorded:
        raise FormatError(
            f"{profile.source}: has no records from inside kernels; "
            'record with backend="instrumentation"'
        )
    ranked = by_cycles(recorded)
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
    lines = program_head(profile, style, without_autotune=without_autotune)
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
        lines += ["", *region_lines(kernel, style, full=full)]
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
        else f"{format_count(kernel.launches)} launch{'es' * (kernel.launches != 1)}"
        if kernel.launches or not has_sums_only(kernel)
        else "",
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


def region_lines(kernel: RecordedKernel, style: Style, *, full: bool) -> list[str]:
    """The regions of a kernel, nested, with what they cost, and what the numbers are."""
    shares = shares_of(kernel)
    shown = order_of(kernel, None if full else _MOST_REGIONS)
    rows = [_row(kernel, kernel.regions[at], depth, shares[at], style) for at, depth in shown]
    kept = _columns(kernel, rows)
    lines = table_lines(
        [_TITLES[column] for column in kept],
        [[row[column] for column in kept] for row in rows],
        style,
        align="".join("<<>>><>>>>>"[column] for column in kept),
        spare=[kept.index(column) for column in (5, 9, 8, 7, 6) if column in kept],
        looks=looks_of_shares([shares[at] for at, _ in shown], 1.0),
    )
    notes = notes_of(kernel)
    if hidden := len(kernel.regions) - len(shown):
        notes.insert(0, f"{format_count(hidden)} smaller regions; --full shows all")
    return [*lines, *(style.paint(line, DIM) for note in notes for line in wrapped(note, style))]


def _columns(kernel: RecordedKernel, rows: Sequence[Sequence[str]]) -> Sequence[int]:
    """The columns of the table; files of other tools know less, and have none of dashes alone."""
    if any(region.cycles for region in kernel.regions) and not has_sums_only(kernel):
        return range(len(_TITLES) - 1)
    if not any(region.cycles or region.ns for region in kernel.regions):
        return range(len(_TITLES) - 1)
    return [
        column
        for column in range(len(_TITLES))
        if column < _FIRST_NUMBER or any(row[column] != MISSING for row in rows)
    ]


def has_cycles(kernel: RecordedKernel, region: Region) -> bool:
    """Whether a region was counted in cycles: marks take none, other tools' traces have times."""
    if region.cycles or region.kind in ("mark", "value"):
        return region.cycles > 0
    return region.ns is None or any(one.cycles for one in kernel.regions)


def _row(
    kernel: RecordedKernel, region: Region, depth: int, share: float | None, style: Style
) -> Sequence[str]:
    is_timed = region.ns is not None and region.count
    name = printable(region.name) or '""'
    return (
        "  " * depth + (f"{name} ({every})" if (every := every_text(region)) else name),
        place_of(region),
        MISSING if has_sums_only(kernel) else format_count(region.count),
        format_count(region.cycles) if has_cycles(kernel, region) else MISSING,
        MISSING if share is None else f"{100 * share:.1f}",
        " " * BAR_ROOM if share is None else bar(share, BAR_ROOM, style.glyphs),
        *(cycles_text(value) for value in (region.p10, region.p50, region.p90)),
        cycles_text((region.ns or 0) / region.count if is_timed else None),
        cycles_text(per_warp(kernel, region)),
    )


def notes_of(kernel: RecordedKernel) -> list[str]:
    """What the numbers of regions are, and how far they may be off."""
    notes = []
    if has_sums_only(kernel):
        notes.append(
            "cycles of all warps and launches; share of the outermost regions; the file does not "
            "say how often warps went through a region"
        )
    elif any(region.cycles for region in kernel.regions):
        notes.append(
            "cycles of all warps; share of the outermost regions; p10, p50, p90 of one "
            "passage in cycles, over warps"
        )
    elif any(region.ns for region in kernel.regions):
        notes.append("the file has times of regions and no cycles; share of the outermost regions")
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
    align = "<" + ">" * (len(rows[0]) - 1)
    return table_lines(rows[0], rows[1:], replace(style, width=None), align=align)
