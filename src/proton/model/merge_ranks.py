"""Profiles of several ranks as one, taken in one by one: only the sum is kept in memory."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from proton.model.device import Device
from proton.model.in_kernel import RecordedKernel
from proton.model.merge import TreeMerger, merge_traces
from proton.model.merge_in_kernel import merge_in_kernel
from proton.model.merge_sampling import merge_sampling
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS, MetricKind
from proton.model.origins import KernelOrigins, merge_origins
from proton.model.profile import Header, Profile, TraceProfile, TreeProfile
from proton.model.ranks import BY_RANK, Rank
from proton.model.sampling import Sampling
from proton.model.steps import StepSeries, of_rank
from proton.model.trace import Lane, Trace
from proton.model.tree import Tree

MOST_TIMES = 4_000_000  # kept of ranks in contexts; beyond, small contexts give theirs upwards
_BATCH = 32
_MOST_WARNINGS = 100


class RankMerger:
    """Adds profiles of ranks up. `add` each, then ask once for the `result`."""

    def __init__(self) -> None:
        self._first: Profile | None = None
        self._ranks: list[Rank] = []
        self._kinds: dict[str, MetricKind] = {}
        self._losses: Counter[str] = Counter()
        self._sample_losses: Counter[str] = Counter()
        self._warnings: dict[str, list[int]] = {}
        self._devices: dict[tuple[str, str], Device] = {}
        self._tree = TreeMerger(self._kinds)
        self._times: dict[str, dict[int, array[float]]] = {name: {} for name in BY_RANK}
        self._traces: list[Trace] = []
        self._samplings: list[Sampling] = []
        self._in_kernel: list[Sequence[RecordedKernel]] = []
        self._steps: list[StepSeries] = []
        self._origins: Sequence[KernelOrigins] = ()
        self._autotune: list[Mapping[str, Any]] = []
        self._phases: set[int] = set()
        self._ends: list[int] = []
        self._unlike: dict[str, list[int]] = {}

    def add(self, profile: Profile, rank: int) -> None:
        """Take in what `rank` recorded; a profile of several ranks brings its own numbers."""
        first = self._first = self._first or profile
        self._kinds.update(profile.metric_kinds)
        self._losses.update(profile.losses)
        for text in profile.warnings:
            self._warnings.setdefault(text, []).append(rank)
        self._add_devices(profile.devices, rank)
        for what in ("context", "mode", "backends"):
            if getattr(profile.header, what) != getattr(first.header, what):
                self._unlike.setdefault(what, []).append(rank)
        base = len(self._ranks)
        self._ranks += profile.ranks or (rank_of(profile, rank),)
        if isinstance(profile, TreeProfile):
            rows = self._tree.add(_without_ranks(profile.tree) if profile.ranks else profile.tree)
            for metric in BY_RANK:
                self._add_times(profile, metric, rows, base)
        if isinstance(profile, TraceProfile):
            self._traces.append(_of_rank(profile.trace, rank))
        if profile.sampling is not None:
            for what in ("dropped", "non_user", "overflows"):
                self._sample_losses[what] += getattr(profile.sampling, what) or 0
            self._samplings.append(profile.sampling)
        self._in_kernel.append(profile.in_kernel)
        self._steps += of_rank(profile.steps, rank)
        self._origins = merge_origins((self._origins, profile.origins))
        self._autotune += ({"rank": rank, **record} for record in profile.autotune)
        self._phases |= set(profile.phases)
        if profile.header.end_time_ns is not None:
            self._ends.append(profile.header.end_time_ns)
        if len(self._in_kernel) >= _BATCH:
            self._fold()

    def result(self, source: str, notes: Sequence[str] = ()) -> Profile:
        """One profile of all that was added, ranks in the order of their numbers."""
        first = self._first
        assert first is not None
        self._fold()
        order = sorted(range(len(self._ranks)), key=lambda at: self._ranks[at].rank)
        if isinstance(first, TreeProfile):
            first = replace(first, tree=self._tree_with_times(order))
        elif isinstance(first, TraceProfile):
            first = replace(first, trace=merge_traces(self._traces))
        return replace(
            first,
            source=source,
            devices=tuple(self._devices.values()),
            header=self._header(first.header),
            metric_kinds=MappingProxyType(dict(self._kinds)),
            losses=MappingProxyType(dict(self._losses)),
            warnings=(*notes, *self._said()),
            autotune=tuple(self._autotune),
            phases=tuple(sorted(self._phases)),
            sampling=self._samplings[0] if self._samplings else None,
            in_kernel=tuple(self._in_kernel[0]) if self._in_kernel else (),
            steps=tuple(sorted(self._steps, key=lambda series: series.rank or 0)),
            origins=tuple(self._origins),
            ranks=tuple(self._ranks[at] for at in order),
        )

    def _header(self, first: Header) -> Header:
        return replace(first, end_time_ns=max(self._ends, default=None), pid=None, rank=None)

    def _add_times(self, profile: TreeProfile, metric: str, rows: list[int], base: int) -> None:
        """Note the times of this profile's rank or ranks in every context."""
        times = self._times[metric]
        name = BY_RANK[metric] if profile.ranks else metric
        for own, row in zip(profile.tree.own, rows, strict=True):
            if not (value := own.get(name)):
                continue
            known = times.get(row)
            if known is None:
                known = times[row] = array("d")
            if isinstance(value, (int, float)):
                if len(known) == base:  # nearly always: the ranks before were there too
                    known.append(value)
                else:
                    _pad(known, base + 1)
                    known[base] += value
            elif isinstance(value, tuple):
                value = value[: len(profile.ranks)]  # a longer list would run into other ranks
                _pad(known, base + len(value))
                for at, time in enumerate(value, base):
                    known[at] += time

    def _tree_with_times(self, order: Sequence[int]) -> Tree:
        """The merged tree, with the times of ranks as a metric of its contexts."""
        own, parents = self._tree.own, self._tree.parents
        for metric, times in self._times.items():
            if not times or (metric == CPU_TIME_NS and self._times[TIME_NS]):
                continue
            kind = self._kinds.get(metric)
            if kind is None and metric == CPU_TIME_NS:
                kind = MetricKind.EXCLUSIVE
            self._kinds[BY_RANK[metric]] = kind or MetricKind.INCLUSIVE
            size = len(order)
            for known in times.values():
                _pad(known, size)
            most = MOST_TIMES // size
            if kind is not MetricKind.EXCLUSIVE and len(times) > most:
                self._warnings[
                    f"of {len(times)} contexts the {most} largest have their spread over ranks; "
                    "the others' times are in the contexts above them"
                ] = []
                _give_upwards(times, parents, most)
            for row, known in times.items():
                own[row][BY_RANK[metric]] = tuple(_plain(known[at]) for at in order)
        return self._tree.tree()

    def _add_devices(self, devices: Sequence[Device], rank: int) -> None:
        for device in devices:
            key = (device.device_type, device.device_id)
            known = self._devices.setdefault(key, device)
            residuals = [
                each.clock_residual_ns
                for each in (known, device)
                if each.clock_residual_ns is not None
            ]
            residual = max(residuals, default=None)
            self._devices[key] = replace(known, clock_residual_ns=residual)
            if replace(device, clock_residual_ns=residual) != self._devices[key]:
                text = (
                    f"device {device.device_id} is another one than on the first rank "
                    f"({device.name or device.arch}): shares of peak are the first one's"
                )
                self._warnings.setdefault(text, []).append(rank)

    def _fold(self) -> None:
        """Make one of the samplings and the records that have piled up."""
        merged = merge_sampling(self._samplings)
        if merged is not None:
            lost = self._sample_losses  # of ranks they add up, of parts of one session they do not
            summed = replace(
                merged,
                dropped=None if merged.dropped is None else lost["dropped"],
                non_user=None if merged.non_user is None else lost["non_user"],
                overflows=None if merged.overflows is None else lost["overflows"],
            )
            self._samplings = [summed]
        self._in_kernel = [merge_in_kernel(self._in_kernel)] if self._in_kernel else []

    def _said(self) -> list[str]:
        texts = [
            f"{text} ({_listed(ranks)})" if ranks else text
            for text, ranks in self._warnings.items()
        ]
        texts += [
            f"recorded with another {what.removesuffix('s')} than the first rank: {_listed(ranks)}"
            for what, ranks in self._unlike.items()
        ]
        if (more := len(texts) - _MOST_WARNINGS) > 0:
            texts[_MOST_WARNINGS:] = [f"and {more} more warnings of ranks"]
        return texts


def rank_of(profile: Profile, rank: int) -> Rank:
    """What is to be remembered of the process that recorded `profile`."""
    header = profile.header
    totals: dict[str, int | float | None] = dict.fromkeys((TIME_NS, COUNT))
    rows = profile.tree.own if isinstance(profile, TreeProfile) else ()
    for metric in totals:
        found = [value for own in rows if isinstance(value := own.get(metric), (int, float))]
        totals[metric] = sum(found) if found else None
    return Rank(
        rank=rank,
        source=profile.source,
        host=header.host,
        pid=header.pid,
        device=", ".join(dict.fromkeys(each.name or each.arch for each in profile.devices)),
        time_ns=totals[TIME_NS],
        kernels=totals[COUNT],
        lost=sum(profile.losses.values()),
    )


def _pad(times: array[float], size: int) -> None:
    """Zeros up to `size`: ranks that were never in this context."""
    if (missing := size - len(times)) > 0:
        times.frombytes(bytes(8 * missing))


def _give_upwards(times: dict[int, array[float]], parents: Sequence[int], most: int) -> None:
    """Leave the `most` largest rows; the others' times go to the context above, as a part of it.

    So sums over contexts stay right, and only contexts that hardly count lose their spread.
    """
    by_size = sorted(times, key=lambda row: -sum(times[row]))
    for row in sorted(by_size[most:], reverse=True):
        if not row:
            continue
        own = times.pop(row)
        target = times.setdefault(parents[row], array("d", bytes(8 * len(own))))
        for at, time in enumerate(own):
            target[at] += time


def _without_ranks(tree: Tree) -> Tree:
    """The tree without the lists of its ranks, whose places mean others now."""
    lists = set(BY_RANK.values())
    own = [{k: v for k, v in each.items() if k not in lists} for each in tree.own]
    return replace(tree, own=own)


def _of_rank(trace: Trace, rank: int) -> Trace:
    """The trace with lanes that say whose they are."""
    lanes = []
    for lane in trace.lanes:
        try:
            pid, tid = json.loads(lane.key)
        except (ValueError, TypeError):
            pid, tid = lane.key, 0
        process = rank + 1 if pid == 0 else f"rank {rank} {pid}"
        key = json.dumps([process, tid])
        lanes.append(Lane(key, f"rank {rank} {lane.name}", lane.kind, lane.sort))
    return replace(trace, lanes=lanes)


def _plain(time: float) -> int | float:
    return int(time) if time.is_integer() else time


def _listed(ranks: Sequence[int]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    shown = ", ".join(map(str, ranks[:8]))
    return f"ranks {shown}" + (f" and {len(ranks) - 8} more" if len(ranks) > 8 else "")
