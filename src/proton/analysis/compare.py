"""What became slower or faster between two profiles, kernel by kernel and scope by scope.

The change of a total has two parts: it ran more often, or each run took longer. Whether the second
is more than chance is said by an interval of confidence, or it is said that too little is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.diff import ABSENT, unite
from proton.analysis.run_times import (
    LEAST_BATCHES,
    RANKS,
    Runs,
    kinds_by_name,
    runs_by_name,
    runs_by_row,
)
from proton.analysis.uncertainty import Variance, variance_of_sum
from proton.model.detail import KernelDetail
from proton.model.frame import FrameKind
from proton.model.metric import MetricValue
from proton.model.profile import Profile
from proton.model.tree import Tree

SLOWER, FASTER, SAME = "slower", "faster", "same"  # of a run (or all), beyond chance; or not
MORE_RUNS, FEWER_RUNS = "more runs", "fewer runs"  # each run took as long as before
NEW, GONE, NOT_ENOUGH = "new", "gone", "not enough"

_NAMED = (FrameKind.SCOPE, FrameKind.PYTHON, FrameKind.STATE)
_SHOWN = ("grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes", "occupancy")


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one kernel or context, after minus before. Half widths are of intervals."""

    before: Runs | None
    after: Runs | None
    verdict: str
    change_ns: float  # of the total
    half_width_ns: float | None = None
    by_runs_ns: float | None = None  # the part of it that came from running more or less often
    per_run: float | None = None  # of a run, as a share of what it took before
    per_run_half_width: float | None = None
    basis: str | None = None  # what the intervals are from


@dataclass(frozen=True, slots=True)
class KernelChange:
    """The change of a kernel over all contexts, and how differently it is launched."""

    name: str
    kind: FrameKind
    change: Change
    launches: dict[str, tuple[MetricValue | None, MetricValue | None]]


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """The change of a context. A row is -1 in a profile that lacks it."""

    row: int  # in the tree of both profiles
    before_row: int
    after_row: int
    change: Change


def compare_kernels(
    before: Profile,
    after: Profile,
    before_phases: Sequence[Profile] = (),
    after_phases: Sequence[Profile] = (),
) -> list[KernelChange]:
    """Every kernel and copy of either profile, the largest change of the total first."""
    assert before.tree is not None
    assert after.tree is not None
    first, second = runs_by_name(before, before_phases), runs_by_name(after, after_phases)
    kinds = {**kinds_by_name(before.tree), **kinds_by_name(after.tree)}
    old, new = _launches(before.tree), _launches(after.tree)
    is_paired = [rank.rank for rank in before.ranks] == [rank.rank for rank in after.ranks]
    found = [
        KernelChange(
            name,
            kinds[name],
            change_between(first.get(name), second.get(name), is_paired=is_paired),
            _changed(old.get(name), new.get(name)),
        )
        for name in dict.fromkeys((*first, *second))
    ]
    return sorted(found, key=lambda each: -abs(each.change.change_ns))


def compare_scopes(before: Profile, after: Profile) -> tuple[Tree, list[ScopeChange]]:
    """Every scope, state and Python frame with kernels below, the largest change first.

    The tree has the contexts of both profiles: names and shape only.
    """
    assert before.tree is not None
    assert after.tree is not None
    union = unite(before.tree, after.tree)
    first, second = runs_by_row(before), runs_by_row(after)
    found: list[ScopeChange] = []
    for row, frame in enumerate(union.tree.frames):
        if frame.kind not in _NAMED:
            continue
        here, there = union.first_rows[row], union.second_rows[row]
        old = first[here] if here != ABSENT else None
        new = second[there] if there != ABSENT else None
        if old is not None or new is not None:
            found.append(ScopeChange(row, here, there, change_of_all(old, new)))
    found.sort(key=lambda each: -abs(each.change.change_ns))
    return union.tree, found


def change_between(before: Runs | None, after: Runs | None, *, is_paired: bool = False) -> Change:
    """How `after` differs from `before`; at least one of them is given.

    Args:
        before: The runs in the first profile.
        after: Those in the second.
        is_paired: Both were merged from the same ranks.
    """
    if before is None or after is None:
        assert before is not None or after is not None
        total = (after.total_ns if after else 0.0) - (before.total_ns if before else 0.0)
        return Change(before, after, GONE if after is None else NEW, total)
    change_ns = after.total_ns - before.total_ns
    if not before.count or not after.count or not before.total_ns:
        return Change(before, after, NOT_ENOUGH, change_ns)
    ratio = after.count / before.count
    old_ns, new_ns = before.total_ns / before.count, after.total_ns / after.count
    by_speed_ns = (new_ns - old_ns) * after.count
    by_runs_ns = change_ns - by_speed_ns
    per_run = new_ns / old_ns - 1
    of_total, of_speed, basis = _variances(before, after, ratio, is_paired=is_paired)
    if of_total is None or of_speed is None:
        verdict = SAME if change_ns == 0 and ratio == 1 else NOT_ENOUGH
        return Change(before, after, verdict, change_ns, None, by_runs_ns, per_run)
    half = of_speed.half_width()
    return Change(
        before,
        after,
        _verdict(by_speed_ns, half, ratio),
        change_ns,
        of_total.half_width(),
        by_runs_ns,
        per_run,
        half / (old_ns * after.count),
        basis,
    )


def change_of_all(before: Runs | None, after: Runs | None) -> Change:
    """The same of runs of many kernels: only their sum can be compared, a mean of them is none."""
    if before is None or after is None:
        return change_between(before, after)
    change_ns = after.total_ns - before.total_ns
    of_total, _, basis = _variances(before, after, 1.0, is_paired=False)
    if of_total is None:
        return Change(before, after, NOT_ENOUGH if change_ns else SAME, change_ns)
    half = of_total.half_width()
    return Change(before, after, _verdict(change_ns, half, 1.0), change_ns, half, basis=basis)


def _verdict(by_speed_ns: float, half_ns: float, ratio: float) -> str:
    if abs(by_speed_ns) > half_ns:
        return SLOWER if by_speed_ns > 0 else FASTER
    return SAME if ratio == 1 else MORE_RUNS if ratio > 1 else FEWER_RUNS


def _variances(
    before: Runs, after: Runs, ratio: float, *, is_paired: bool
) -> tuple[Variance | None, Variance | None, str | None]:
    """That of the change of the total, that of its part from slower runs, and what they are from.

    Ranks that are in both profiles are compared one by one, because their shares of the work may
    differ more than any of them changed.
    """
    first, second = before.by_rank_ns, after.by_rank_ns
    if is_paired and len(first) == len(second) >= LEAST_BATCHES:
        of_total = variance_of_sum([new - old for old, new in zip(first, second, strict=True)])
        scaled = [new - old * ratio for old, new in zip(first, second, strict=True)]
        return of_total, variance_of_sum(scaled), RANKS
    if before.variance is None or after.variance is None:
        return None, None, None
    basis = before.basis if before.basis == after.basis else f"{before.basis}, {after.basis}"
    return (
        before.variance + after.variance,
        before.variance.scaled(ratio) + after.variance,
        basis,
    )


def _launches(tree: Tree) -> dict[str, KernelDetail | None]:
    """The launch of each kernel; None where its contexts launch it differently."""
    found: dict[str, KernelDetail | None] = {}
    for row, detail in tree.details.items():
        name = tree.frames[row].name
        known = found.setdefault(name, detail)
        if known is not None and known.attributes != detail.attributes:
            found[name] = None
    return found


def _changed(
    before: KernelDetail | None, after: KernelDetail | None
) -> dict[str, tuple[MetricValue | None, MetricValue | None]]:
    if before is None or after is None:
        return {}
    pairs = {name: (before.attributes.get(name), after.attributes.get(name)) for name in _SHOWN}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
