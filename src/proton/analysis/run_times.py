"""How long the kernels of a profile took, and how sure that is, context by context and by name.

The variance of a time comes from the best there is: spans of a trace, else the spread that a tree
keeps of each context. By name also from phases or ranks, where there are three or more: they show
what varies between parts of a run, which runs next to each other do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proton.analysis.several_devices import SpanRows
from proton.analysis.uncertainty import (
    Variance,
    sum_of,
    variance_from_spread,
    variance_of_batches,
    variance_of_sum,
)
from proton.model.frame import FrameKind
from proton.model.metric import COUNT, TIME_NS
from proton.model.profile import TreeProfile
from proton.model.ranks import TIME_BY_RANK_NS
from proton.model.trace import SpanKind
from proton.model.tree import Tree

SPANS, SPREAD, PHASES, RANKS = "spans", "spread", "phases", "ranks"
LEAST_BATCHES = 3


@dataclass(frozen=True, slots=True)
class Runs:
    """All runs of one kernel, or of all kernels in one context."""

    total_ns: float
    count: float | None  # None: not recorded
    variance: Variance | None = None  # of `total_ns`; None: too little is known
    basis: str | None = None  # what the variance is from
    by_rank_ns: tuple[float, ...] = ()


OwnRuns = tuple[Sequence[float], Runs]  # single runs where they are known, and all of them


@dataclass(frozen=True, slots=True)
class TimedTree:
    """A profile with the runs of each context alone, found once."""

    profile: TreeProfile
    tree: Tree
    own: Mapping[int, OwnRuns]  # row -> its runs, where it measured a time
    basis: str  # what variances are from

    @classmethod
    def of(cls, profile: TreeProfile) -> TimedTree:
        """That of a profile with a tree."""
        basis = SPREAD if profile.trace is None else SPANS
        return cls(profile, profile.tree, _own_runs(profile, profile.tree, basis), basis)


def runs_by_row(timed: TimedTree) -> list[Runs | None]:
    """The runs in every context and all below it; None where no kernel ran."""
    parents, own, basis = timed.tree.parents, timed.own, timed.basis
    found: list[Runs | None] = [None] * len(parents)
    for row in range(len(parents) - 1, -1, -1):
        if (mine := own.get(row)) is not None:
            below = found[row]
            found[row] = mine[1] if below is None else _joined(below, mine[1], basis)
        here = found[row]
        if row and here is not None:
            above = found[parents[row]]
            found[parents[row]] = here if above is None else _joined(above, here, basis)
    return found


def runs_by_name(timed: TimedTree, phases: Sequence[TreeProfile] = ()) -> dict[str, Runs]:
    """The runs of every kernel and copy, by its name.

    Args:
        timed: All of them.
        phases: The same, phase by phase, where it was put together from several.
    """
    parts: dict[str, list[OwnRuns]] = {}
    for row, own in timed.own.items():
        parts.setdefault(timed.tree.frames[row].name, []).append(own)
    batches = _times_by_phase(phases) if len(phases) >= LEAST_BATCHES else {}
    found: dict[str, Runs] = {}
    for name, each in parts.items():
        runs = found[name] = _over_contexts(each, timed.basis)
        if name in batches and (batch := variance_of_batches(*batches[name])) is not None:
            found[name] = replace(runs, variance=batch, basis=PHASES)
    return found


def whole_runs(runs: Runs | None, phases: Sequence[TreeProfile]) -> Runs | None:
    """All runs of a profile, with the variance that its phases tell, where they are enough."""
    if runs is None or len(phases) < LEAST_BATCHES:
        return runs
    sums = [_sum_of_phase(phase) for phase in phases]
    variance = variance_of_batches([time_ns for time_ns, _ in sums], [count for _, count in sums])
    return runs if variance is None else replace(runs, variance=variance, basis=PHASES)


def _sum_of_phase(phase: TreeProfile) -> tuple[float, float]:
    times = _times_by_phase([phase]).values()
    return sum(time for one, _ in times for time in one), sum(n for _, one in times for n in one)


def kinds_by_name(tree: Tree) -> dict[str, FrameKind]:
    """What the contexts that measured a time are, by name."""
    return {
        frame.name: frame.kind
        for frame, own in zip(tree.frames, tree.own, strict=True)
        if TIME_NS in own
    }


def _own_runs(profile: TreeProfile, tree: Tree, basis: str) -> dict[int, OwnRuns]:
    """The runs of every row that measured a time: single ones where known, and all of them."""
    spans = _times_by_row(profile, tree)
    found: dict[int, OwnRuns] = {}
    for row in range(1, len(tree)):
        own = tree.own[row]
        time_ns, count = own.get(TIME_NS), own.get(COUNT)
        if not isinstance(time_ns, (int, float)):
            continue
        runs = count if isinstance(count, (int, float)) else None
        times: Sequence[float] = spans.get(row, ())
        variance = variance_of_sum(times)
        if runs == 1 and not times:
            times = (time_ns,)
        detail = tree.details.get(row)
        if variance is None and detail is not None and runs is not None:
            variance = variance_from_spread(int(runs), time_ns, detail)
        by_rank = own.get(TIME_BY_RANK_NS)
        ranks = by_rank if isinstance(by_rank, tuple) else ()
        known = None if variance is None else basis
        found[row] = times, Runs(time_ns, runs, variance, known, ranks)
    return found


def _times_by_row(profile: TreeProfile, tree: Tree) -> dict[int, list[float]]:
    """The single runs of the contexts of a trace."""
    if profile.trace is None:
        return {}
    rows = SpanRows(profile.trace, tree, profile.devices)
    found: dict[int, list[float]] = {}
    for span in profile.trace.spans:
        if span.kind not in (SpanKind.KERNEL, SpanKind.COPY):
            continue
        if (at := rows.find(span.path or (span.name,), span.lane)) is not None:
            found.setdefault(at, []).append(span.duration_ns)
    return found


def _over_contexts(parts: Sequence[OwnRuns], basis: str) -> Runs:
    """The runs of one kernel over its contexts.

    Contexts that ran it once are taken as runs like each other: how they differ then counts as
    chance, which makes the interval too wide rather than too narrow.
    """
    total = sum(runs.total_ns for _, runs in parts)
    counts = [runs.count for _, runs in parts]
    count = None if None in counts else sum(each or 0 for each in counts)
    ranks = _sum_ranks([runs.by_rank_ns for _, runs in parts])
    if len(ranks) >= LEAST_BATCHES:
        return Runs(total, count, variance_of_sum(ranks), RANKS, ranks)
    singles = [times[0] for times, runs in parts if runs.variance is None and len(times) == 1]
    known = [runs.variance for _, runs in parts if runs.variance is not None]
    if singles and (pooled := variance_of_sum(singles)) is not None:
        known.append(pooled)
        singles = []
    if singles or not known or any(runs.variance is None and not times for times, runs in parts):
        return Runs(total, count, by_rank_ns=ranks)
    return Runs(total, count, sum_of(known), basis, ranks)


def _sum_ranks(parts: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    if not parts or any(len(part) != len(parts[0]) for part in parts):
        return ()
    return tuple(map(sum, zip(*parts, strict=True)))


def _joined(first: Runs, second: Runs, basis: str) -> Runs:
    count = None if first.count is None or second.count is None else first.count + second.count
    variance = None
    if first.variance is not None and second.variance is not None:
        variance = first.variance + second.variance
    known = None if variance is None else basis
    return Runs(first.total_ns + second.total_ns, count, variance, known)


def _times_by_phase(phases: Sequence[TreeProfile]) -> dict[str, tuple[list[float], list[float]]]:
    """Kernel -> its time and its number of runs in each of `phases` that it ran in."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for phase in phases:
        sums: dict[str, list[float]] = {}
        for frame, own in zip(phase.tree.frames, phase.tree.own, strict=True):
            time_ns, count = own.get(TIME_NS), own.get(COUNT)
            if isinstance(time_ns, (int, float)) and isinstance(count, (int, float)) and count:
                each = sums.setdefault(frame.name, [0.0, 0.0])
                each[0] += time_ns
                each[1] += count
        for name, (time_ns, count) in sums.items():
            times, counts = found.setdefault(name, ([], []))
            times.append(time_ns)
            counts.append(count)
    return found
