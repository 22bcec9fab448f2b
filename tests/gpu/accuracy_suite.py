"""The suite of known durations: what is measured inside kernels against what it really takes.

The truth is not a data sheet: a plain kernel (`accuracy_kernels.timed`) with the same part in it
reads the clock before and after, launch by launch in turn with the recorded one. From both the cost
of measuring nothing is taken off: here that of two reads of the clock, there what Proton's own
calibration says. Both are a warp's mean passage, its median over the warps of a launch, and the
mean of that over launches, as profiles have it; all launches of a first session are left out, in
which code is loaded. Used by the GPU tests and by `benchmarks/in_kernel_accuracy.py`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import proton

ALLOWED_SHARE, ALLOWED_CYCLES = 0.02, 15.0
TURNS = 64  # passages of a launch: enough that fetching the code at first does not show
FEW_TURNS = 8  # where a passage has many records inside
LAUNCHES = 24
# Records of a launch are copied and their memory is zeroed within this time. Nothing in a cache is
# timed meanwhile; memory is not timed after a rest, which makes it slower.
READ_S = 0.003
MODE = "default:buffer_size=65536"  # of a CTA: room for every record of the regions in regions
NODE_BYTES = 128
APART = 4096  # nodes between where two launches begin: more than one passes
TWO_FLOATS = 0x3F8CCCCD_3F800000  # 1.1 and 1.0
# nodes of the rings that pointers are chased around: in the L1 cache, in the L2 cache, in memory
RINGS = {"l1": 32, "l2": 4096, "memory": 1 << 22}


@dataclass(frozen=True)
class Part:
    """One region of known duration: what it does, and how often.

    Attributes:
        code: name in `accuracy_kernels`.
        count: turns of its loop, or the cycles to spin.
        ring: where the pointers it chases stand; empty: it chases none.
        steps: that a region consists of, each in a region of its own; 0: it has none inside.
    """

    code: str
    count: int
    ring: str = ""
    steps: int = 0
    warps: int = 4
    ctas: int = 16
    is_event: bool = False

    @property
    def is_cached(self) -> bool:
        """Whether it needs its ring in a cache."""
        return self.ring in {"l1", "l2"}

    @property
    def turns(self) -> int:
        """Passages of a launch."""
        return FEW_TURNS if self.steps else TURNS


def _memory(code: str, count: int, ring: str, *, is_event: bool = False) -> Part:
    return Part(code, count, ring, warps=1, ctas=1, is_event=is_event)


PARTS = {
    "nothing": Part("NOTHING", 1),
    "spin of 100 cycles": Part("SPIN", 100),
    "spin of 1000 cycles": Part("SPIN", 1000),
    "spin of 10 000 cycles": Part("SPIN", 10_000),
    "spin of 100 000 cycles": Part("SPIN", 100_000),
    "4 dependent multiply-adds": Part("TIGHT", 1),
    "64 dependent multiply-adds": Part("MULTIPLY_ADD", 1),
    "256 dependent multiply-adds": Part("MULTIPLY_ADD", 4),
    "2048 dependent multiply-adds": Part("MULTIPLY_ADD", 32),
    "100 dependent inverse roots": Part("INVERSE_ROOT", 10),
    "32 regions of 64 multiply-adds in one": Part("MULTIPLY_ADD", 1, steps=32),
    "1 load, L1 cache": _memory("LOAD", 1, "l1"),
    "100 dependent loads, L1 cache": _memory("CHASE_NEAR", 10, "l1"),
    "100 dependent loads, L2 cache": _memory("CHASE_FAR", 25, "l2"),
    "32 dependent loads, memory": _memory("CHASE_FAR", 8, "memory"),
    "8 asynchronous copies, L2 cache": _memory("COPY", 8, "l2"),
    "1 asynchronous copy, memory": _memory("COPY", 1, "memory"),
    "8 asynchronous copies, as an event": _memory("COPY", 8, "l2", is_event=True),
}
# What records change, not what is measured wrong: the same instructions take another time where
# the loop stands elsewhere in the code, and warps wait for the records of others. Held to no bar.
CHANGED = {
    "64 turns of 4 multiply-adds": Part("TIGHT", 64),
    "16 regions in one, 16 warps a multiprocessor": Part("WIDE", 1, steps=16, warps=16, ctas=132),
}
ALL = PARTS | CHANGED


@dataclass(frozen=True)
class Accuracy:
    """What one region takes, in cycles of a passage, and what was measured of it."""

    name: str
    truth: float
    measured: float

    @property
    def error(self) -> float:
        """How far it is off, in cycles."""
        return abs(self.measured - self.truth)

    @property
    def allowed(self) -> float:
        """How far it may be off, in cycles."""
        return max(ALLOWED_SHARE * abs(self.truth), ALLOWED_CYCLES)

    def __str__(self) -> str:
        return (
            f"{self.name}: truth {self.truth:.1f}, measured {self.measured:.1f}, "
            f"{self.error:.1f} cycles off, {self.allowed:.1f} allowed"
        )


class Suite:
    """The parts, ready to run on a GPU."""

    def __init__(self, names: Iterable[str] = ALL) -> None:
        import torch

        if str(Path(__file__).parent) not in sys.path:
            sys.path.append(str(Path(__file__).parent))
        import accuracy_kernels  # type: ignore[import-not-found, unused-ignore]

        self.names = tuple(names)
        self._torch: Any = torch
        self._torch.manual_seed(0)
        self._kernels: Any = accuracy_kernels
        needed = {ALL[name].ring for name in self.names} - {""}
        self._rings = {name: self._ring(RINGS[name]) for name in needed}
        threads = max(32 * part.warps * part.ctas for part in ALL.values())
        self._sink = torch.zeros(threads, dtype=torch.int64, device="cuda")
        self._cycles = torch.zeros(threads, dtype=torch.int32, device="cuda")
        self._launches = 0

    def measure(self, launches: int = LAUNCHES) -> list[Accuracy]:
        """Run truth and record in turn, in one session, and compare.

        Raises:
            RuntimeError: a region was not recorded; the text says what the profile has.
        """
        self._run(1)
        truths, header = self._run(launches)
        found = []
        for name in self.names:
            # Medians, as the profile's: one launch that something disturbed decides neither.
            around = statistics.median(truths[_nothing_of(ALL[name])])
            truth = statistics.median(truths[ALL[name]]) - around
            found.append(Accuracy(name, truth, measured_in(header, name)))
        return found

    def _run(self, launches: int) -> tuple[dict[Part, list[float]], dict[str, Any]]:
        """What each part really took, launch by launch, and what the profile's header says."""
        parts = [ALL[name] for name in self.names]
        empty = {_nothing_of(part) for part in parts} - set(parts)
        truths: dict[Part, list[float]] = {part: [] for part in [*parts, *empty]}
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "accuracy"))
            session = proton.start(path, backend="instrumentation", mode=MODE)
            try:
                for _ in range(launches):
                    for part, cycles in truths.items():
                        cycles.append(self._time(part))
                        if part not in empty:
                            self._record(self.names[parts.index(part)], part)
            finally:
                proton.finalize(session)
            return truths, json.loads(Path(f"{path}.hatchet").read_text())[0]["proton"]

    def _time(self, part: Part) -> float:
        """Cycles of a turn by the clock: the median of all threads."""
        if part.is_cached:
            time.sleep(READ_S)
            self._torch.cuda.synchronize()
        start, threads = self._start(part), 32 * part.warps
        sizes: list[int] = [part.count, part.turns, *([part.steps] if part.steps else [])]
        kernel = self._kernels.timed if part.steps else self._kernels.timed_once
        code = getattr(self._kernels, part.code)
        kernel[(part.ctas,)](
            start, self._sink, self._cycles, *sizes,
            PART=code, THREADS=threads, num_warps=part.warps,
        )  # fmt: skip
        cycles = self._cycles[: threads * part.ctas].double()
        return float(cycles.median().item()) / part.turns

    def _record(self, name: str, part: Part) -> None:
        kernels = self._kernels
        sizes: list[int] = [part.count, part.turns, *([part.steps] if part.steps else [])]
        if part.steps:
            kernel = kernels.recorded_steps
        else:
            kernel = kernels.recorded_event if part.is_event else kernels.recorded
        kernel[(part.ctas,)](
            self._start(part), self._sink, *sizes, NAME=name,
            PART=getattr(kernels, part.code), THREADS=32 * part.warps, num_warps=part.warps,
        )  # fmt: skip

    def _start(self, part: Part) -> int:
        """What a launch begins with: a number, or a node as far around the ring as it can be.

        In memory no launch meets a node that another has brought into the cache. Smaller rings are
        brought into the L2 cache first: to zero the buffer of a launch may have put them out of it.
        """
        if not part.ring:
            return TWO_FLOATS
        ring, order = self._rings[part.ring]
        if part.is_cached:
            ring.sum()
        self._launches += 1
        node = int(order[self._launches * APART % len(order)])
        return int(ring.data_ptr()) + node * NODE_BYTES

    def _ring(self, nodes: int) -> tuple[Any, Any]:
        """Nodes, each beginning with the next one's address, in an order that nothing guesses."""
        torch, words = self._torch, NODE_BYTES // 8
        ring = torch.zeros(nodes * words, dtype=torch.int64, device="cuda")
        order = torch.randperm(nodes, device="cuda")
        ring[order * words] = ring.data_ptr() + order.roll(-1) * NODE_BYTES
        return ring, order.cpu()


def _nothing_of(part: Part) -> Part:
    """What measures nothing as `part` is measured."""
    return Part("NOTHING", 1, warps=part.warps, ctas=part.ctas)


def measured_in(header: dict[str, Any], name: str) -> float:
    """Cycles of a passage through a region, the median over warps, as a profile says.

    Raises:
        RuntimeError: it has no such region, or lost records of it.
    """
    entries = header.get("in_kernel", [])
    for entry in entries:
        for region in entry["regions"]:
            if region["name"] != name:
                continue
            if not region["count"] or "p50" not in region:
                raise RuntimeError(f"region {name!r} has no passages: {region}")
            lost = {kind: n for kind, n in entry.get("losses", {}).items() if n}
            if lost.keys() & {"overflowed_records", "dropped_buffers", "unmatched"}:
                raise RuntimeError(f"records of region {name!r} were lost: {lost}")
            if not entry.get("record_cycles"):
                raise RuntimeError(f"the cost of records is not known: {header.get('warnings')}")
            return float(region["p50"])
    seen = [region["name"] for entry in entries for region in entry["regions"]]
    raise RuntimeError(f"no region {name!r} among {seen}; warnings: {header.get('warnings')}")
