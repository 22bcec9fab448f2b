"""How the CTAs of a launch filled the device: waves, tail, busy shares of multiprocessors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median

from proton.model.in_kernel import Ctas
from proton.render.text.bars import bar, columns_of
from proton.render.text.kernel_remarks import wrapped
from proton.render.text.style import BOLD, DIM, Style
from proton.render.units import format_count, format_time

_MOST_BARS = 16  # multiprocessors with a bar of their own
_BAR_ROOM = 24
_SM_ROOM = 64  # multiprocessors in a row of blocks
_TIME_ROOM = 64
_LEAST_ROOM = 8


def wave_lines(ctas: Ctas, style: Style) -> list[str]:
    """The picture of one launch: numbers, CTAs over time, multiprocessors."""
    first, *more = wrapped(f"CTAs  {counts_text(ctas)}   (the last launch that was read)", style)
    lines = [first.replace("CTAs", style.paint("CTAs", BOLD), 1), *more]
    lines += wrapped(f"      {times}", style) if (times := times_text(ctas)) else []
    if ctas.active:
        lines += ["", *_over_time(ctas, style)]
    known = [(sm, share) for sm, share in enumerate(ctas.per_sm) if share is not None]
    if known:
        shares = [share for _, share in known]
        lines += ["", *wrapped(balance_text(shares), style)]
        draw = _bars if len(ctas.per_sm) <= _MOST_BARS else _blocks
        lines += draw(ctas.per_sm, style)
    return lines


def counts_text(ctas: Ctas) -> str:
    """How many CTAs ran where, in how many waves."""
    said = f"{format_count(ctas.count)} on {format_count(ctas.sms)} multiprocessors"
    if ctas.waves is not None:
        said += f", {ctas.waves:.2f} wave{'s' * (ctas.waves != 1)}"
    return said


def times_text(ctas: Ctas) -> str:
    """How long the launch and its CTAs took; empty where that is not known."""
    parts = []
    length = _length_ns(ctas)
    if length is not None:
        parts.append(f"{format_time(length)} from first start to last end")
    if ctas.p50_ns is not None:
        tall = "" if ctas.p99_ns is None else f", p99 {format_time(ctas.p99_ns)}"
        parts.append(f"a CTA p50 {format_time(ctas.p50_ns)}{tall}")
    if ctas.tail_ns is not None:
        share = f" ({100 * ctas.tail_ns / length:.0f} %)" if length else ""
        parts.append(f"tail {format_time(ctas.tail_ns)}{share}")
    return "   ".join(parts)


def _length_ns(ctas: Ctas) -> float | None:
    if ctas.first_start_ns is None or ctas.last_end_ns is None:
        return None
    return max(ctas.last_end_ns - ctas.first_start_ns, 0.0)


def _over_time(ctas: Ctas, style: Style) -> list[str]:
    most = max(ctas.active)
    room = _room(style, 6, _TIME_ROOM)
    cells = _folded(ctas.active, room)
    drawn = columns_of([value / most if most else 0.0 for value in cells], style.glyphs)
    length = _length_ns(ctas)
    scale = f"0 to {format_time(length)}; " if length is not None else ""
    return [f"time  {drawn}", style.paint(f"      {scale}highest: {most:g} CTAs at once", DIM)]


def balance_text(shares: Sequence[float]) -> str:
    """How evenly the multiprocessors were busy, from their `shares` of the time."""
    mean = fmean(shares)
    uneven = f", the busiest {max(shares) / mean:.2f} times the mean" if mean else ""
    return (
        f"multiprocessors busy {100 * mean:.0f} % on average, median {100 * median(shares):.0f} %, "
        f"least {100 * min(shares):.0f} %{uneven}"
    )


def _bars(per_sm: Sequence[float | None], style: Style) -> list[str]:
    room = _room(style, 16, _BAR_ROOM)
    lines = []
    for sm, share in enumerate(per_sm):
        if share is None:
            lines.append(style.paint(f"SM {sm:<3}  idle", DIM))
        else:
            lines.append(f"SM {sm:<3}  {bar(share, room, style.glyphs)} {100 * share:5.1f} %")
    return lines


def _blocks(per_sm: Sequence[float | None], style: Style) -> list[str]:
    """One character a multiprocessor, as high as it was busy; a dot is one that ran nothing."""
    room = _room(style, 8, _SM_ROOM)
    lines = []
    for first in range(0, len(per_sm), room):
        row = per_sm[first : first + room]
        drawn = columns_of([share or 0.0 for share in row], style.glyphs)
        marked = ("." if share is None else one for one, share in zip(drawn, row, strict=True))
        lines.append(f"SM {first:<4} {''.join(marked)}")
    note = "one column per multiprocessor, as high as its busy share"
    idle = sum(share is None for share in per_sm)
    if idle:
        note += f"; a dot: idle ({format_count(idle)})"
    return [*lines, *(style.paint(line, DIM) for line in wrapped(note, style))]


def _room(style: Style, taken: int, most: int) -> int:
    return most if style.width is None else max(min(style.width - taken, most), _LEAST_ROOM)


def _folded(values: Sequence[float], room: int) -> list[float]:
    """At most `room` values, each the mean of neighbours."""
    if len(values) <= room:
        return list(values)
    edges = [len(values) * at // room for at in range(room + 1)]
    return [fmean(values[a:b]) for a, b in pairwise(edges)]
