"""`RecordedKernel`: what instrumented kernels recorded about themselves, region by region.

What each context got of it stands in the tree as metrics; this is what is known beyond: how regions
spread over warps and CTAs over the device, which bytes were touched, what was lost, and what
recording changed. `to_json` gives an entry of the `in_kernel` of a `proton` key; reading it, and
all checking, is `proton.files.in_kernel`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple

NO_PARENT = -1

REGISTERS = "registers"  # of a thread
SPILLS = "spills"  # bytes of a thread
SHARED = "shared"  # bytes of a CTA
# Warps that ran while the frequency changed: by their own readings they are placed as well.
CLOCK_CHANGES = "clock_outliers"
# Replays of a CUDA graph whose records the next one overwrote before they were read.
UNREAD_REPLAYS = "unread_replays"
OCCUPANCY = "occupancy"  # warps of a multiprocessor, or a share of what it can hold


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a kernel, over all warps and launches. Cycles are without the records' cost.

    Quantiles and extremes are of one passage; the quantiles are over warps. None: not known.
    """

    name: str
    file: str = ""
    line: int = 0  # 0: not known
    kind: str = ""  # scope, event, loop, iteration, load, wait, ...
    parent: int = NO_PARENT  # number of the region around it
    count: int = 0  # passages
    cycles: float = 0.0  # of all passages
    ns: float | None = None
    p10: float | None = None
    p50: float | None = None
    p90: float | None = None
    min: float | None = None
    max: float | None = None
    every: int = 1  # in loops one iteration of so many was recorded


@dataclass(frozen=True, slots=True)
class Ctas:
    """The CTAs of one launch, the last that was read. Times are on the host's clock."""

    count: int = 0
    sms: int = 0  # multiprocessors that ran some
    first_start_ns: float | None = None
    last_end_ns: float | None = None
    p50_ns: float | None = None  # of how long a CTA ran
    p99_ns: float | None = None
    waves: float | None = None  # how often the device was filled; 1.2: a second, mostly empty time
    tail_ns: float | None = None  # from the first idle multiprocessor to the end
    per_sm: Sequence[float | None] = ()  # busy share by number; None: ran nothing
    active: Sequence[float] = ()  # CTAs that ran, in equal parts of the time; often not known


@dataclass(frozen=True, slots=True)
class Value:
    """Numbers that a kernel recorded under one name.

    Sum and extremes are of those that are finite; extremes of integers are integers, exact.
    """

    name: str
    count: int = 0
    sum: float = 0.0
    min: float | None = None
    max: float | None = None
    not_finite: int = 0  # of `count`: NaN and infinities

    @property
    def mean(self) -> float | None:
        """Of the numbers that are finite; None where none is."""
        finite = self.count - self.not_finite
        return self.sum / finite if finite > 0 else None

    def __add__(self, other: Value) -> Value:
        """Both together, under the name of the first."""
        lows = [each for each in (self.min, other.min) if each is not None]
        highs = [each for each in (self.max, other.max) if each is not None]
        most = sys.float_info.max  # a sum beyond it stays there: JSON has no infinity
        return Value(
            self.name,
            self.count + other.count,
            max(-most, min(most, self.sum + other.sum)),
            min(lows, default=None),
            max(highs, default=None),
            self.not_finite + other.not_finite,
        )


class FirstAddress(NamedTuple):
    """Where a warp's first access at one place went."""

    cta: int
    warp: int
    tensor: str  # empty: in none that is known
    offset: int  # bytes behind the start of the tensor; without one, the address itself


@dataclass(frozen=True, slots=True)
class AccessSite:
    """One place of a kernel that reads or writes global memory, over all warps that recorded.

    First addresses are of the last launch that was read, those of some of its warps.
    """

    name: str
    kind: str = ""  # load, copy (to shared memory), store or atomic
    file: str = ""
    line: int = 0  # 0: not known
    tensor: str = ""  # the argument it goes through, where that is known
    accesses: int = 0  # of lanes
    bytes: int = 0  # a byte counts each time a lane asks for it
    first: Sequence[FirstAddress] = ()
    first_of: int = 0  # warps of that launch that came here


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Accesses to one tensor, by address: `bins[n]` counts those to bytes from `n * bin_bytes`.

    `byte_bins[n]` is what they moved; it is empty where that is not known.
    """

    tensor: str
    bytes: int = 0  # moved by all accesses
    accesses: int = 0
    bin_bytes: int = 0
    bins: Sequence[int] = ()
    byte_bins: Sequence[int] = ()


class Change(NamedTuple):
    """A number of the kernel as it is without records, and with them. None: not known."""

    plain: float | None
    recorded: float | None


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RecordedKernel:
    """One kernel in one context and mode. Sums and counts are over all launches thinned out alike.

    Attributes:
        context: the path of the launch, the kernel not included.
        every: in loops one iteration of so many was recorded, to keep a budget; 0: none was.
        launches: those whose records were read.
        replays: of launches in CUDA graphs, read or not; 0 where none is in one.
        recorded_warps: warps whose records were read.
        clock_ghz: of the multiprocessors, as measured.
        record_cycles: what a record costs, which was taken off; 0: nothing was.
        error_cycles: how far a passage may be off after that.
        uncovered: what could not be counted, such as copies by descriptor -> instructions.
        losses: kind of loss -> records, scopes or buffers.
        changed: REGISTERS, SPILLS, ... -> what recording made of it.
    """

    kernel: str
    context: Sequence[str] = ()
    mode: str = ""
    device_id: int | None = None
    every: int = 1
    launches: int = 0
    replays: int = 0
    recorded_warps: int = 0
    clock_ghz: float | None = None
    record_cycles: float = 0.0
    error_cycles: float | None = None
    regions: Sequence[Region] = ()
    ctas: Ctas | None = None
    values: Sequence[Value] = ()
    accesses: Sequence[AccessSite] = ()
    heat: Sequence[HeatMap] = ()
    uncovered: Mapping[str, int] = field(default_factory=_nothing)
    losses: Mapping[str, int] = field(default_factory=_nothing)
    changed: Mapping[str, Change] = field(default_factory=_nothing)

    def harm(self) -> dict[str, Change]:
        """The changes that make the measured kernel another one: it spills, or fewer warps fit.

        A kernel that spills counts as well where it is not known without records.
        """
        return {
            name: change
            for name, change in self.changed.items()
            if _is_worse(name, change.plain, change.recorded)
        }

    def lost(self) -> dict[str, int]:
        """The losses that sums miss something by."""
        return {kind: n for kind, n in self.losses.items() if n and kind != CLOCK_CHANGES}

    def region_path(self, number: int) -> Iterator[Region]:
        """The region and those around it, the innermost first."""
        while number != NO_PARENT:
            yield self.regions[number]
            number = self.regions[number].parent

    def to_json(self) -> dict[str, Any]:
        """As it stands in a file; what is not known is left out."""
        said: dict[str, Any] = {
            "kernel": self.kernel,
            "context": list(self.context),
            "mode": self.mode,
            "device_id": self.device_id,
            "every": None if self.every == 1 else self.every,
            "launches": self.launches,
            "replays": self.replays or None,
            "recorded_warps": self.recorded_warps,
            "clock_ghz": self.clock_ghz,
            "record_cycles": self.record_cycles,
            "error_cycles": self.error_cycles,
            "regions": [_passages(region) for region in self.regions],
            "ctas": None if self.ctas is None else _known(self.ctas),
            "values": [_numbers(value) for value in self.values],
            "accesses": [_site(site) for site in self.accesses],
            "heat": [_heat(heat) for heat in self.heat],
            "uncovered": dict(self.uncovered),
            "losses": dict(self.losses),
            "changed": {name: list(change) for name, change in self.changed.items()},
        }
        return {key: value for key, value in said.items() if value is not None}


def active_over_time(
    times: Iterable[tuple[float, float]], first_ns: float, last_ns: float, parts: int = 64
) -> tuple[float, ...]:
    """How many CTAs ran on average in each of equal parts of the time: `Ctas.active`.

    Args:
        times: Start and end of each CTA.
        first_ns: Where the first part begins.
        last_ns: Where the last part ends.
        parts: How many there are.
    """
    length = (last_ns - first_ns) / parts
    if length <= 0:
        return ()
    # What each part has more of than the one before it; a CTA begins and ends somewhere inside two.
    steps = [0.0] * (parts + 2)
    for start_ns, end_ns in times:
        for time_ns, sign in ((start_ns, 1.0), (end_ns, -1.0)):
            at = min(max((time_ns - first_ns) / length, 0.0), float(parts))
            part = int(at)
            steps[part] += sign * (part + 1 - at)
            steps[part + 1] += sign * (at - part)
    return tuple(round(max(count, 0.0), 3) for count in accumulate(steps[:parts]))


def _is_worse(name: str, plain: float | None, recorded: float | None) -> bool:
    if recorded is None:
        return False
    if name == SPILLS:
        return recorded > (plain or 0)
    return name == OCCUPANCY and plain is not None and recorded < plain


def _passages(region: Region) -> dict[str, Any]:
    said = _known(region)
    if region.every == 1:
        del said["every"]  # few are thinned out
    return said


def _numbers(value: Value) -> dict[str, Any]:
    said = _known(value)
    if not value.not_finite:
        del said["not_finite"]  # few have any, integers none
    return said


def _site(site: AccessSite) -> dict[str, Any]:
    said = _known(site)
    if site.first:
        said["first"] = list(map(list, site.first))
    else:
        del said["first"], said["first_of"]  # only mode `memory` has them
    return said


def _heat(heat: HeatMap) -> dict[str, Any]:
    said = _known(heat)
    if not heat.byte_bins:
        del said["byte_bins"]
    return said


def _known(part: Region | Ctas | Value | AccessSite | HeatMap) -> dict[str, Any]:
    said = {each.name: getattr(part, each.name) for each in fields(part)}
    return {
        key: list(value) if isinstance(value, (tuple, list)) else value
        for key, value in said.items()
        if value is not None
    }
