"""Memory traffic of a kernel: bytes by place in the code, and heat maps of its tensors."""

from __future__ import annotations

from proton.model.in_kernel import AccessSite, HeatMap, RecordedKernel
from proton.render.display_names import printable
from proton.render.text.aligned_table import table_lines
from proton.render.text.bars import BAR_ROOM, bar, shade_levels, shades_of
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.style import BOLD, DIM, Style, looks_of_shares
from proton.render.units import MISSING, format_bytes, format_count

_MOST_SITES = 40
_MOST_COLUMNS = 64
_LEAST_COLUMNS = 8
_MOST_ROWS = 16
_OFFSET_ROOM = 10  # of "1023.0 KiB"
_MOST_BEGUN = 8  # accesses whose first addresses are shown
_MOST_FIRST = 6  # warps of each


def access_lines(kernel: RecordedKernel, style: Style, *, full: bool) -> list[str]:
    """The accesses with the most bytes on top, and what could not be counted."""
    ranked = sorted(kernel.accesses, key=lambda site: -site.bytes)
    shown = ranked if full else ranked[:_MOST_SITES]
    whole = sum(site.bytes for site in ranked)
    lines = table_lines(
        ("access", "line", "kind", "tensor", "accesses", "bytes", "share %", ""),
        [_row(site, whole, style) for site in shown],
        style,
        align="<<<<>>><",
        spare=(7, 2, 4, 3),
        looks=looks_of_shares([site.bytes for site in shown], whole or 1),
    )
    notes = access_notes(kernel, full=full)
    if (more := len(ranked) - len(shown)) > 0:
        notes.insert(0, f"{format_count(more)} smaller accesses; --full shows all")
    return [*lines, *(style.paint(line, DIM) for note in notes for line in wrapped(note, style))]


def access_notes(kernel: RecordedKernel, *, full: bool = False) -> list[str]:
    """How much was asked for in all, what could not be counted, and where warps began."""
    whole = sum(site.bytes for site in kernel.accesses)
    notes = [
        f"{format_bytes(whole)} requested in all; a byte counts every time, whichever cache it "
        "comes from"
    ]
    if kernel.uncovered:
        listed = ", ".join(f"{format_count(n)} {printable(w)}" for w, n in kernel.uncovered.items())
        notes.append(f"not counted, in instructions: {listed}")
    begun = sorted((site for site in kernel.accesses if site.first), key=lambda site: -site.bytes)
    shown = begun if full else begun[:_MOST_BEGUN]
    notes += [_begin(site, None if full else _MOST_FIRST) for site in shown]
    if more := len(begun) - len(shown):
        notes.append(f"first addresses of {format_count(more)} smaller accesses are in the file")
    return notes


def _begin(site: AccessSite, most: int | None) -> str:
    """Where warps of the last launch began: `0.1` is warp 1 of CTA 0."""
    parts: list[str] = []
    tensor = None
    for first in site.first[:most]:
        at = f"+{format_count(first.offset)}" if first.tensor else hex(first.offset)
        name = f"{printable(first.tensor)} " if first.tensor not in ("", tensor) else ""
        parts.append(f"{first.cta}.{first.warp} {name}{at}")
        tensor = first.tensor
    return (
        f"{printable(site.name)}: first byte of CTA.warp {', '.join(parts)} "
        f"({format_count(len(parts))} of {format_count(site.first_of)} warps of the last launch)"
    )


def _row(site: AccessSite, whole: int, style: Style) -> tuple[str, ...]:
    file = printable(site.file.rsplit("/", 1)[-1])
    return (
        printable(site.name) or '""',
        f"{file}:{site.line}" if site.line else file or MISSING,
        printable(site.kind) or MISSING,
        printable(site.tensor) or MISSING,
        format_count(site.accesses),
        format_bytes(site.bytes),
        f"{100 * site.bytes / whole:.1f}" if whole else MISSING,
        bar(site.bytes / whole if whole else 0, BAR_ROOM, style.glyphs),
    )


def heat_lines(heat: HeatMap, style: Style) -> list[str]:
    """The map of one tensor: a block a stretch of addresses, darker the more often it was used."""
    times = f"{format_count(heat.accesses)} access{'es' * (heat.accesses != 1)}"
    said = f"{format_bytes(heat.bytes)} moved by {times}"
    lines = [f"{style.paint(printable(heat.tensor) or 'tensor', BOLD)}  {said}"]
    if not any(heat.bins):
        return [*lines, style.paint("no access was counted by address", DIM)]
    columns = _MOST_COLUMNS
    if style.width is not None:
        columns = max(min(style.width - _OFFSET_ROOM - 2, _MOST_COLUMNS), _LEAST_COLUMNS)
    bins_a_cell = -(-len(heat.bins) // (columns * _MOST_ROWS))
    cells = [
        sum(heat.bins[first : first + bins_a_cell])
        for first in range(0, len(heat.bins), bins_a_cell)
    ]
    most = max(cells)
    cell_bytes = bins_a_cell * heat.bin_bytes
    for first in range(0, len(cells), columns):
        row = cells[first : first + columns]
        drawn = shades_of([count / most for count in row], style.glyphs)
        lines.append(f"+{format_bytes(first * cell_bytes):<{_OFFSET_ROOM}} {drawn}".rstrip())
    touched = sum(count > 0 for count in heat.bins)
    levels = shade_levels(style.glyphs)
    limits = [max(1, most * at // len(levels)) for at in range(1, len(levels) + 1)]
    scale = ", ".join(f"{one} {format_count(up)}" for one, up in zip(levels, limits, strict=True))
    notes = [
        f"a block is {format_bytes(cell_bytes)}; accesses up to: {scale}; blank: none",
        f"{format_count(touched)} of {format_count(len(heat.bins))} bins of "
        f"{format_bytes(heat.bin_bytes)} touched ({100 * touched / len(heat.bins):.0f} %)",
        *_most_bytes(heat),
    ]
    return [*lines, *(style.paint(line, DIM) for note in notes for line in wrapped(note, style))]


def _most_bytes(heat: HeatMap) -> list[str]:
    """The bin that most bytes were moved to and from: accesses may be of different sizes."""
    most = max(heat.byte_bins, default=0)
    if not most:
        return []
    at = format_bytes(heat.byte_bins.index(most) * heat.bin_bytes)
    return [f"busiest bin: {format_bytes(most)} moved, at +{at}"]
