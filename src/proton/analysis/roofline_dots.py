"""Kernels against the roof of their device: work, rate, least time and what could be won.

One dot for each name that declares work, over all its contexts on one device. A scope that declares
work itself is one too: what ran below it is its time. Copies are none.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from proton.analysis.roofline import (
    BYTES,
    UNKNOWN,
    WIDTH_METRICS,
    Peaks,
    bound_by,
    device_of_rows,
)
from proton.model.frame import FrameKind
from proton.model.metric import COUNT, TIME_NS, Metrics
from proton.model.profile import TreeProfile

_PLAIN = "flops"  # of no stated width: no peak to hold it against
_WORK = {BYTES, _PLAIN, *(metric for _, metric in WIDTH_METRICS)}


@dataclass(slots=True)
class Dot:
    """The work of one name on one device. Sums over its contexts; None: not declared."""

    name: str
    kind: FrameKind
    row: int  # its first context
    device: int | None  # number among the profile's devices
    contexts: int = 0
    time_ns: float = 0.0
    count: float | None = None
    bytes: float | None = None
    plain_flops: float | None = None
    flops_by_width: dict[int, float] = field(default_factory=dict)
    flops_s: float | None = None  # least time by flops, in seconds
    bytes_s: float | None = None
    least_s: float = 0.0
    is_unknown: bool = False  # the peak of some of its work is not known

    @property
    def flops(self) -> float | None:
        """All operations: as declared, or else those of all widths."""
        if self.plain_flops is not None:
            return self.plain_flops
        return sum(self.flops_by_width.values()) if self.flops_by_width else None

    @property
    def width(self) -> int | None:
        """Bits of the operands of most of its operations."""
        widths = self.flops_by_width
        return max(widths, key=widths.__getitem__) if widths else None

    @property
    def intensity(self) -> float | None:
        """Operations for each byte."""
        flops = self.flops
        return None if flops is None or not self.bytes else flops / self.bytes

    @property
    def least_ns(self) -> float | None:
        """The least time that the hardware allows; None where it is not known."""
        is_bounded = self.flops_s is not None or self.bytes_s is not None
        return self.least_s * 1e9 if is_bounded and not self.is_unknown else None

    @property
    def bound(self) -> str | None:
        """What limits it: "compute", "memory", or None."""
        return None if self.is_unknown else bound_by(self.flops_s, self.bytes_s)


def dots_of(profile: TreeProfile) -> list[Dot]:
    """The dots of a profile with a tree: those with the most to win first, then by time."""
    tree = profile.tree
    times, counts = tree.totals(TIME_NS), tree.totals(COUNT)
    peaks, devices = Peaks(profile.devices, tree), device_of_rows(tree, profile.devices)
    dots: dict[tuple[str, int | None], Dot] = {}
    for row, own in enumerate(tree.own):
        time_ns = times[row]
        if _WORK.isdisjoint(own) or row == 0 or not time_ns:
            continue
        frame, device = tree.frames[row], devices[row]
        if frame.kind is FrameKind.COPY:  # most cross the bus, which is no roof of the device
            continue
        dot = dots.get((frame.name, device))
        if dot is None:
            dot = dots[frame.name, device] = Dot(frame.name, frame.kind, row, device)
        dot.contexts += 1
        dot.time_ns += time_ns
        if (count := counts[row]) is not None:
            dot.count = count + (dot.count or 0)
        _add_work(dot, own, peaks)
    return sorted(dots.values(), key=_by_headroom)


def _add_work(dot: Dot, own: Metrics, peaks: Peaks) -> None:
    for width, metric in peaks.widths:
        if isinstance(amount := own.get(metric), (int, float)):
            dot.flops_by_width[width] = amount + dot.flops_by_width.get(width, 0.0)
    if isinstance(amount := own.get(BYTES), (int, float)):
        dot.bytes = amount + (dot.bytes or 0.0)
    if isinstance(amount := own.get(_PLAIN), (int, float)):
        dot.plain_flops = amount + (dot.plain_flops or 0.0)
    by_flops, by_bytes = peaks.least_times(dot.device, own)
    if by_flops is UNKNOWN or by_bytes is UNKNOWN:
        dot.is_unknown = True
        return
    if by_flops is not None:
        dot.flops_s = by_flops + (dot.flops_s or 0.0)
    if by_bytes is not None:
        dot.bytes_s = by_bytes + (dot.bytes_s or 0.0)
    dot.least_s += max(by_flops or 0.0, by_bytes or 0.0)


def _by_headroom(dot: Dot) -> tuple[bool, float]:
    least_ns = dot.least_ns
    return (least_ns is None, -(dot.time_ns - (least_ns or 0.0)))
