"""`RecordedKernel`: what instrumented kernels recorded about themselves, region by region.

What each context got of it stands in the tree as metrics; this is what is known beyond: how regions
spread over warps and CTAs over the device, which bytes were touched, what was lost, and what
recording changed. Fields are written, merged and documented by what their `Stored` says; checking
is `proton.files.encoding.summary`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from proton.model.sampling import SourceFile
from proton.model.schema import (
    COUNTS,
    EQUAL,
    LARGEST,
    LAST,
    LEAST,
    SAME,
    SUM,
    SUM_OF_ALL,
    Stored,
)

NO_PARENT = -1

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

    name: Annotated[str, Stored("what the kernel or Proton calls it", SAME)]
    file: Annotated[str, Stored("source file", SAME)] = ""
    line: Annotated[int, Stored("line of it; 0: not known", SAME)] = 0
    kind: Annotated[
        str,
        Stored(
            "`scope`, `event`, `mark`, `value`, `loop`, `iteration`, `mma`, or a group of "
            "operations as `load`",
            SAME,
        ),
    ] = ""
    parent: Annotated[
        int,
        Stored("number of the region around it, or -1", SAME, least=None),
    ] = NO_PARENT
    count: Annotated[int, Stored("passages", SUM)] = 0
    cycles: Annotated[float, Stored("of all passages", SUM)] = 0.0
    ns: Annotated[float | None, Stored("of all passages, in nanoseconds", SUM_OF_ALL)] = None
    p10: Annotated[
        float | None,
        Stored("quantile of one passage over the warps of all launches, in cycles, to 1 %", EQUAL),
    ] = None
    p50: Annotated[float | None, Stored("the same", EQUAL)] = None
    p90: Annotated[float | None, Stored("the same", EQUAL)] = None
    min: Annotated[float | None, Stored("cycles of the shortest passage", LEAST)] = None
    max: Annotated[float | None, Stored("cycles of the longest passage", LARGEST)] = None
    every: Annotated[
        int,
        Stored(
            "in loops one iteration of so many was recorded; left out: every one",
            SAME,
            sparse=True,
        ),
    ] = 1


@dataclass(frozen=True, slots=True)
class Ctas:
    """The CTAs of one launch, the last that was read. Times are on the host's clock."""

    count: Annotated[int, Stored("how many ran")] = 0
    sms: Annotated[int, Stored("multiprocessors that ran some")] = 0
    first_start_ns: Annotated[float | None, Stored("start of the first, host clock")] = None
    last_end_ns: Annotated[float | None, Stored("end of the last, host clock")] = None
    p50_ns: Annotated[float | None, Stored("median of how long a CTA ran")] = None
    p99_ns: Annotated[float | None, Stored("99th percentile of it")] = None
    waves: Annotated[
        float | None,
        Stored("how often the device was filled; 1.2: a second time, mostly empty"),
    ] = None
    tail_ns: Annotated[float | None, Stored("from the first idle multiprocessor to the end")] = None
    per_sm: Annotated[
        Sequence[float | None],
        Stored("busy share of each multiprocessor, by number; null: ran nothing"),
    ] = ()
    active: Annotated[Sequence[float], Stored("CTAs that ran, in equal parts of the time")] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """Numbers that a kernel recorded under one name.

    Sum and extremes are of those that are finite; extremes of integers are integers, exact.
    """

    name: Annotated[str, Stored("what the kernel calls it", SAME)]
    count: Annotated[int, Stored("numbers recorded")] = 0
    sum: Annotated[float, Stored("of those that are finite", least=None)] = 0.0
    min: Annotated[
        float | None,
        Stored("the least of them; of integers an integer, exact to 64 bits", least=None),
    ] = None
    max: Annotated[float | None, Stored("the largest of them", least=None)] = None
    not_finite: Annotated[
        int,
        Stored("of `count` NaN or infinite, and in no sum or extreme; left out: none", sparse=True),
    ] = 0

    @property
    def mean(self) -> float | None:
        """The mean of the finite numbers; None where there are none."""
        finite = self.count - self.not_finite
        return self.sum / finite if finite > 0 else None

    def __add__(self, other: Value) -> Value:
        """Both together, under the name of the first."""
        lows = [value for value in (self.min, other.min) if value is not None]
        highs = [value for value in (self.max, other.max) if value is not None]
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

    cta: Annotated[int, Stored()]
    warp: Annotated[int, Stored()]
    tensor: Annotated[str, Stored("empty: in none that is known")]
    offset: Annotated[
        int,
        Stored("bytes behind the start of the tensor; without one, the address itself"),
    ]


@dataclass(frozen=True, slots=True)
class AccessSite:
    """One place of a kernel that reads or writes global memory, over all warps that recorded.

    First addresses are of the last launch that was read, those of some of its warps.
    """

    name: Annotated[str, Stored("of the region", SAME)]
    kind: Annotated[
        str,
        Stored("`load`, `copy` (to shared memory), `store` or `atomic`", SAME),
    ] = ""
    file: Annotated[str, Stored("source file", SAME)] = ""
    line: Annotated[int, Stored("line of it; 0: not known", SAME)] = 0
    tensor: Annotated[str, Stored("the argument it goes through, where that is known", SAME)] = ""
    accesses: Annotated[int, Stored("of lanes", SUM)] = 0
    bytes: Annotated[int, Stored("a byte counts each time a lane asks for it", SUM)] = 0
    first: Annotated[
        Sequence[FirstAddress],
        Stored(
            "mode `memory`: where warps of the last launch that was read began, a list of "
            "`[CTA, warp, tensor, offset in bytes]` (in no known tensor: `''` and the "
            "address) of at most 64 warps of a place and 1 024 of a kernel",
            row="[CTA, warp, tensor, offset]",
            sparse=True,
        ),
    ] = ()
    first_of: Annotated[
        int,
        Stored("mode `memory`: how many warps of that launch came here", sparse=True),
    ] = 0


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Accesses to one tensor, by address: `bins[n]` counts those to bytes from `n * bin_bytes`.

    `byte_bins[n]` is what they moved; it is empty where that is not known.
    """

    tensor: Annotated[str, Stored("name of the argument", SAME)]
    bytes: Annotated[int, Stored("moved by all accesses", SUM)] = 0
    accesses: Annotated[int, Stored("in all", SUM)] = 0
    bin_bytes: Annotated[int, Stored("bytes of a bin", SAME)] = 0
    bins: Annotated[
        Sequence[int],
        Stored("accesses to each `bin_bytes` bytes of it, at most 1 024 of them"),
    ] = ()
    byte_bins: Annotated[
        Sequence[int],
        Stored("bytes that those moved; left out: not known", sparse=True),
    ] = ()


class Change(NamedTuple):
    """A number of the kernel as it is without records, and with them. None: not known."""

    plain: Annotated[float | None, Stored("without records")]
    recorded: Annotated[float | None, Stored("with them")]


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class RecordedKernel:
    """One kernel in one context and mode. Sums and counts are over all launches thinned out alike.

    Cycles are without the cost of the records.
    """

    kernel: Annotated[str, Stored("its name", SAME)]
    context: Annotated[
        Sequence[str],
        Stored("path of the launch, the kernel not included", SAME),
    ] = ()
    mode: Annotated[str, Stored("how it was instrumented", SAME)] = ""
    device_id: Annotated[int | None, Stored("where it ran", SAME)] = None
    every: Annotated[
        int,
        Stored(
            "to keep a `budget` one iteration of so many is recorded in loops, 0: none; "
            "left out: every one",
            SAME,
            sparse=True,
        ),
    ] = 1
    launches: Annotated[int, Stored("those whose records were read", SUM)] = 0
    replays: Annotated[
        int,
        Stored(
            "of launches in CUDA graphs, read or not: `launches` and the losses "
            "`unread_replays` and `dropped_buffers` together; left out where none is in a "
            "graph",
            SUM,
            sparse=True,
        ),
    ] = 0
    recorded_warps: Annotated[int, Stored("warps whose records were read", SUM)] = 0
    clock_ghz: Annotated[float | None, Stored("clock of the multiprocessors, as measured")] = None
    record_cycles: Annotated[
        float,
        Stored("what a record costs among work, and was taken off; 0: nothing was", LARGEST),
    ] = 0.0
    error_cycles: Annotated[
        float | None,
        Stored("how far a passage may be off after that", LARGEST),
    ] = None
    regions: Annotated[Sequence[Region], Stored("regions, below")] = ()
    ctas: Annotated[
        Ctas | None,
        Stored("CTAs of the last launch that was read, below", LAST),
    ] = None
    values: Annotated[Sequence[Value], Stored("recorded numbers, below")] = ()
    accesses: Annotated[
        Sequence[AccessSite],
        Stored("places that read or write global memory, below"),
    ] = ()
    heat: Annotated[Sequence[HeatMap], Stored("accesses by address, below")] = ()
    uncovered: Annotated[
        Mapping[str, int],
        Stored("what could not be counted, such as copies by descriptor -> instructions", LAST),
    ] = field(default_factory=_nothing)
    losses: Annotated[
        Mapping[str, int],
        Stored(
            "kind of loss -> how many records, scopes or buffers: `overflowed_records`, "
            "`unmatched`, `clock_anomalies`, `dropped_buffers`, `unread_replays` (the next "
            "replay of a graph overwrote the records), ...",
            COUNTS,
        ),
    ] = field(default_factory=_nothing)
    changed: Annotated[
        Mapping[str, Change],
        Stored(
            "`registers`, `spills`, `shared`, `occupancy` -> `[without records, with "
            "them]`, null where not known: the first where the kernel was not compiled "
            "without records",
            row="two numbers, without records and with them",
        ),
    ] = field(default_factory=_nothing)
    files: Annotated[
        Mapping[str, SourceFile],
        Stored(
            'path -> `{"sha256", "size"}` of the source files of regions and accesses, as they '
            "were at the end",
            LAST,
            sparse=True,
        ),
    ] = field(default_factory=_nothing)

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
