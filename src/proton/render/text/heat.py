"""Heat maps: which bytes of a tensor a kernel touched, and how often, as shaded blocks."""

from __future__ import annotations

from proton.model.in_kernel import HeatMap
from proton.render.display_names import printable
from proton.render.text.blocks import shade_levels, shades_of
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.style import BOLD, DIM, Style
from proton.render.units import format_count

_MOST_COLUMNS = 64
_LEAST_COLUMNS = 8
_MOST_ROWS = 16
_OFFSET_ROOM = 10  # of "1023.0 KiB"


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
    return [f"most bytes of a bin: {format_bytes(most)} moved, at +{at}"]


def format_bytes(size: float) -> str:
    """`64.0 KiB`; whole bytes below that."""
    for unit, length in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= length:
            return f"{size / length:.1f} {unit}"
    return f"{size:.0f} B"
