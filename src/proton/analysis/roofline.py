"""What the hardware allows: the least time of each context, and of each kernel by name.

The roof of a context is set by its flops against the peak of their width and by its bytes against
the peak of memory. Peaks belong to the device the context ran on; an unknown peak is None.
Copies have no roof: most cross the bus, which is not the device's. Flops that were given without a
width have no peak to be held against, so what bounds such a context is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proton.model.device import Device, peak_bytes_per_second, peak_flops
from proton.model.frame import FrameKind
from proton.model.metric import COUNT, DEVICE_ID, DEVICE_TYPE, TIME_NS, Metrics
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

FLOPS_WIDTHS = (8, 16, 32, 64)
WIDTH_METRICS = tuple((width, f"flops{width}") for width in FLOPS_WIDTHS)
BYTES = "bytes"
DECLARED = frozenset((BYTES, *(metric for _, metric in WIDTH_METRICS)))  # what bounds a time

COMPUTE, MEMORY = "compute", "memory"
PLAIN_FLOPS = "flops"  # of no stated width: no peak to hold it against
_FLOPS = frozenset((PLAIN_FLOPS, *(metric for _, metric in WIDTH_METRICS)))
_WORK = {BYTES, *_FLOPS}
UNKNOWN = float("nan")  # compared by identity: work was declared, its peak is not known


@dataclass(frozen=True, slots=True)
class Roof:
    """Least times of every row and all below it, in seconds; None where no work was declared."""

    flops_s: Sequence[float | None]  # by flops alone
    bytes_s: Sequence[float | None]  # by bytes alone
    least_s: Sequence[float | None]  # by the worse of the two, context for context
    is_unknown: Sequence[bool]  # some work below ran on a device whose peak is not known
    lacks_width: Sequence[bool]  # some flops below have no width, so compute may be the limit


def roof_of(profile: TreeProfile) -> Roof:
    """The roof of every context of a profile that has a tree."""
    tree = profile.tree
    peaks = Peaks(profile.devices, tree)
    devices = device_of_rows(tree, profile.devices)
    flops_s: list[float | None] = [None] * len(tree)
    bytes_s: list[float | None] = [None] * len(tree)
    least_s: list[float | None] = [None] * len(tree)
    is_unknown = [False] * len(tree)
    lacks_width = [False] * len(tree)
    for row, own in enumerate(tree.own):
        if row == 0 or _WORK.isdisjoint(own) or tree.frames[row].kind is FrameKind.COPY:
            continue
        lacks_width[row] = _lacks_width(own)
        if DECLARED.isdisjoint(own):
            continue
        by_flops, by_bytes = peaks.least_times(devices[row], own)
        if by_flops is UNKNOWN or by_bytes is UNKNOWN:
            is_unknown[row] = True
            continue
        flops_s[row], bytes_s[row] = by_flops, by_bytes
        least_s[row] = max(by_flops or 0.0, by_bytes or 0.0)
    for column in (flops_s, bytes_s, least_s):
        tree.add_upwards(column)
    for marks in (is_unknown, lacks_width):
        for row in range(len(tree) - 1, 0, -1):
            if marks[row]:
                marks[tree.parents[row]] = True
    return Roof(flops_s, bytes_s, least_s, is_unknown, lacks_width)


def _lacks_width(own: Metrics) -> bool:
    """Whether operations were declared, but not of what."""
    return bool(own.get(PLAIN_FLOPS)) and not any(metric in own for _, metric in WIDTH_METRICS)


def flops_of(own: Metrics) -> float | None:
    """All operations of a context: as declared without a width, or else those of all widths."""
    if _FLOPS.isdisjoint(own):
        return None
    plain = own.get(PLAIN_FLOPS)
    if isinstance(plain, (int, float)) and plain:
        return plain
    amounts = [own.get(metric) for metric in _FLOPS]
    known = [amount for amount in amounts if isinstance(amount, (int, float))]
    return sum(known) if known else None


def bound_by(flops_s: float | None, bytes_s: float | None) -> str | None:
    """What limits a context: "compute", "memory", or None with no work declared."""
    if flops_s is None and bytes_s is None:
        return None
    return COMPUTE if (flops_s or 0.0) >= (bytes_s or 0.0) else MEMORY


class Peaks:
    """The peaks of a profile's devices, asked for once each."""

    def __init__(self, devices: Sequence[Device], tree: Tree) -> None:
        present = set[str]().union(*tree.own)  # asking each row for all widths takes long
        self.widths = [each for each in WIDTH_METRICS if each[1] in present]
        self._flops: Mapping[tuple[int, int], float | None] = {
            (index, width): peak_flops(device, width)
            for index, device in enumerate(devices)
            for width in FLOPS_WIDTHS
        }
        self._bytes = [peak_bytes_per_second(device) for device in devices]

    def least_times(self, device: int | None, own: Metrics) -> tuple[float | None, float | None]:
        """Seconds by flops and by bytes; None where not declared, `UNKNOWN` with no peak."""
        by_flops: float | None = None
        for width, metric in self.widths:
            if isinstance(amount := own.get(metric), (int, float)):
                peak = None if device is None else self._flops[device, width]
                if not peak:
                    return UNKNOWN, UNKNOWN
                by_flops = (by_flops or 0.0) + amount / peak
        if not isinstance(amount := own.get(BYTES), (int, float)):
            return by_flops, None
        peak = None if device is None else self._bytes[device]
        return (by_flops, amount / peak) if peak else (UNKNOWN, UNKNOWN)


def device_of_rows(tree: Tree, devices: Sequence[Device]) -> list[int | None]:
    """The device of every row: its own, or the only one that the work below it ran on."""
    if len(devices) == 1:
        return [0] * len(tree)
    index = {(device.device_type, device.device_id): at for at, device in enumerate(devices)}
    mixed = -1
    found: list[int | None] = [
        index.get((str(own.get(DEVICE_TYPE)), str(own[DEVICE_ID]))) if DEVICE_ID in own else None
        for own in tree.own
    ]
    for row in range(len(tree) - 1, 0, -1):
        parent = tree.parents[row]
        if found[row] is not None and DEVICE_ID not in tree.own[parent]:
            found[parent] = found[row] if found[parent] in (None, found[row]) else mixed
    return [None if device == mixed else device for device in found]


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
    flops: float | None = None  # all operations
    flops_by_width: dict[int, float] = field(default_factory=dict)
    flops_s: float | None = None  # least time by flops, in seconds
    bytes_s: float | None = None
    least_s: float = 0.0
    is_unknown: bool = False  # the peak of some of its work is not known
    lacks_width: bool = False  # some of its flops have no width

    @property
    def width(self) -> int | None:
        """Bits of the operands of most of its operations."""
        widths = self.flops_by_width
        return max(widths, key=widths.__getitem__) if widths else None

    @property
    def intensity(self) -> float | None:
        """FLOP/byte."""
        return None if self.flops is None or not self.bytes else self.flops / self.bytes

    @property
    def least_ns(self) -> float | None:
        """The least time that the hardware allows; None where it is not known."""
        is_bounded = self.flops_s is not None or self.bytes_s is not None
        return self.least_s * 1e9 if is_bounded and not self.is_unknown else None

    @property
    def bound(self) -> str | None:
        """What limits it: "compute", "memory", or None."""
        if self.is_unknown or self.lacks_width:
            return None
        return bound_by(self.flops_s, self.bytes_s)

    @property
    def headroom_ns(self) -> float | None:
        """The time above the least; None where that is not known."""
        least_ns = self.least_ns
        return None if least_ns is None else self.time_ns - least_ns


def dots_of(profile: TreeProfile) -> list[Dot]:
    """The dots of a profile: those with the most to save first, then by time.

    One dot for each name that declares work, over all its contexts on one device. A scope that
    declares work itself is one too, with the time of what ran below it; a copy is none.
    """
    tree = profile.tree
    times, counts = tree.totals(TIME_NS), tree.totals(COUNT)
    peaks, devices = Peaks(profile.devices, tree), device_of_rows(tree, profile.devices)
    dots: dict[tuple[str, int | None], Dot] = {}
    for row, own in enumerate(tree.own):
        time_ns = times[row]
        if _WORK.isdisjoint(own) or row == 0 or not time_ns:
            continue
        frame, device = tree.frames[row], devices[row]
        if frame.kind is FrameKind.COPY:
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
    if (amount := flops_of(own)) is not None:
        dot.flops = amount + (dot.flops or 0.0)
    dot.lacks_width |= _lacks_width(own)
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
    headroom_ns = dot.headroom_ns
    return (headroom_ns is None, -(dot.time_ns if headroom_ns is None else headroom_ns))


def headroom_of(dots: Sequence[Dot]) -> float | None:
    """What all of them could save at best; None where no roof is known.

    One that is above its roof, as wrong declarations have it, does not make up for another.
    """
    known = [dot.headroom_ns for dot in dots if dot.headroom_ns is not None]
    return sum(max(headroom_ns, 0.0) for headroom_ns in known) if known else None
