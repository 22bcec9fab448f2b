"""What every view says of instrumented kernels: what they lost, and how recording changed them.

A kernel that spills or has fewer warps because it records is not the one that runs without: views
mark it wherever they name it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from proton.model.in_kernel import (
    CLOCK_CHANGES,
    OCCUPANCY,
    SHARED,
    SPILLS,
    UNREAD_REPLAYS,
    Change,
    RecordedKernel,
    Region,
)
from proton.model.profile import Profile
from proton.render.display_names import cut_middle, display_name, printable
from proton.render.text.style import RED, Style
from proton.render.units import MISSING, format_count

_MOST_MARKED = 4
_REMARK_LINES = 4
_BYTES = {SPILLS, SHARED}
_HARD = "\0"  # a blank at which no line ends; `printable` texts have no such character
# Blanks inside of what is read as one: groups of digits, numbers with units, options with values.
_HELD = re.compile(r"(?<=\d) (?=\d{3}(?!\d)|(?:[num]?s|GHz|%)(?!\w))|(?<=--fold|--hide) (?=\w)")


def in_kernel_lines(profile: Profile, style: Style) -> list[str]:
    """How much was recorded inside kernels, and a line for each that lost records or changed."""
    kernels = profile.in_kernel
    if not kernels:
        return []
    names = len({kernel.kernel for kernel in kernels})
    parts = [
        f"in-kernel records of {_counted(names, 'kernel')}",
        _counted(sum(kernel.launches for kernel in kernels), "launch", "es"),
        _counted(sum(kernel.recorded_warps for kernel in kernels), "warp"),
    ]
    marked = list(dict.fromkeys(line for kernel in kernels for line in marks_of(kernel)))
    lines = [f"! {line}" for line in marked[:_MOST_MARKED]]
    if (more := len(marked) - len(lines)) > 0:
        lines.append(f"! {more} more remarks on kernels; --regions KERNEL shows those of one")
    lines = [part for line in lines for part in wrapped_remark(line, style)]
    said = wrapped(f"{', '.join(parts)}; recording is in their times", style)
    return [*said, *(style.paint(line, RED) for line in lines)]


def recording_remark(kernels: Sequence[RecordedKernel]) -> str:
    """What to know of the time of a kernel that recorded; empty for one that did not."""
    if not kernels:
        return ""
    harm: dict[str, Change] = {}
    for kernel in kernels:
        harm.update(kernel.harm())
    remark = "instrumented: its time includes recording"
    return f"{remark}, which changed it: {changes_text(harm)}" if harm else remark


def marks_of(kernel: RecordedKernel) -> list[str]:
    """What to beware of in a kernel's numbers, one line each."""
    name = display_name(kernel.kernel)
    marks = []
    if harm := kernel.harm():
        is_sure = any(change.plain is not None for change in harm.values())
        did = "changed" if is_sure else "may have changed"
        marks.append(f"{name}: recording {did} it: {changes_text(harm)}")
    if kernel.every != 1:
        marks.append(f"{name}: thinned out for its budget: {_kept_text(kernel.every)}")
    if lost := _other_losses(kernel):
        listed = ", ".join(f"{format_count(n)} {printable(kind)}" for kind, n in lost.items())
        marks.append(f"{name}: lost in-kernel: {listed}")
    if UNREAD_REPLAYS in kernel.lost():
        marks.append(f"{name}: {replays_text(kernel)} of its graph: a flush reads the last one")
    return marks


def every_text(region: Region) -> str:
    """`1 of 4 iterations` where that is all that was recorded; else empty."""
    return f"1 of {format_count(region.every)} iterations" if region.every > 1 else ""


def _kept_text(every: int) -> str:
    if every == 0:
        return "nothing in loops is recorded"
    return f"1 of {format_count(every)} iterations of loops is recorded, and nothing in while loops"


def replays_text(kernel: RecordedKernel) -> str:
    """`read 1 of 1 000 replays`: of a kernel in a graph, what its numbers are of."""
    replays = max(kernel.replays, kernel.launches + kernel.losses.get(UNREAD_REPLAYS, 0))
    return f"read {format_count(kernel.launches)} of {_counted(replays, 'replay')}"


def clock_note(kernel: RecordedKernel) -> str:
    """That the frequency was not steady, for who wonders why warps differ; else empty."""
    warps = kernel.losses.get(CLOCK_CHANGES, 0)
    if not warps:
        return ""
    text = f"{_counted(warps, 'warp')} ran while the clock frequency changed; "
    return text + "their own readings place them"


def short_mark(kernels: Sequence[RecordedKernel]) -> str:
    """A few words behind the name of a kernel; empty where all is well."""
    words = []
    if any(SPILLS in kernel.harm() for kernel in kernels):
        words.append("spills")
    if any(OCCUPANCY in kernel.harm() for kernel in kernels):
        words.append("occupancy changed")
    if any(kernel.every != 1 for kernel in kernels):
        words.append("thinned out")
    if any(_other_losses(kernel) for kernel in kernels):
        words.append("records lost")
    if any(UNREAD_REPLAYS in kernel.lost() for kernel in kernels):
        words.append("replays not read")
    return f"(! {', '.join(words)})" if words else ""


def changes_text(changes: dict[str, Change]) -> str:
    """`spills 0 -> 16 bytes, occupancy 16 -> 12`; `spills 16 bytes (not known without records)`."""
    return ", ".join(_change_text(name, change) for name, change in changes.items())


def _change_text(name: str, change: Change) -> str:
    amount = f"{_amount(change.recorded)}{' bytes' if name in _BYTES else ''}"
    if change.plain is None:
        return f"{printable(name)} {amount} (not known without records)"
    return f"{printable(name)} {_amount(change.plain)} -> {amount}"


def wrapped(text: str, style: Style) -> list[str]:
    """`text` in lines as wide as there is room."""
    if style.width is None:
        return [text]
    held = _HELD.sub(_HARD, text)
    lines = wrap(held, max(style.width, 40), subsequent_indent="  ", break_on_hyphens=False)
    return [line.replace(_HARD, " ") for line in lines]


def wrapped_remark(text: str, style: Style) -> list[str]:
    """A remark in a few lines: its end tells what to do, but a name in it may be endless."""
    if style.width is None:
        return [text]
    return wrapped(cut_middle(text, _REMARK_LINES * max(style.width, 40)), style)


def _other_losses(kernel: RecordedKernel) -> dict[str, int]:
    return {kind: count for kind, count in kernel.lost().items() if kind != UNREAD_REPLAYS}


def _amount(value: float | None) -> str:
    if value is None:
        return MISSING
    return format_count(value) if float(value).is_integer() else f"{value:.2f}"


def _counted(count: int, what: str, plural: str = "s") -> str:
    return f"{format_count(count)} {what}{'' if count == 1 else plural}"
