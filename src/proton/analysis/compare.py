"""What became slower or faster between two profiles, kernel by kernel and scope by scope.

The change of a total has two parts: it ran more often, or each run took longer. Whether the second
is more than chance is said by an interval of confidence, or it is said that too little is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.diff import ABSENT, unite
from proton.analysis.matched_runs import Matched, match_contexts
from proton.analysis.run_times import (
    LEAST_BATCHES,
    PHASES,
    RANKS,
    SPREAD,
    Runs,
    TimedTree,
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
    """The change of a context; row 0 is all. A row is -1 in a profile that lacks it."""

    row: int  # in the tree of both profiles
    before_row: int
    after_row: int
    change: Change


class Comparison:
    """Two profiles with trees, `after` against `before`, each read through once.

    Args:
        before: What to compare with.
        after: What changed.
        before_phases: `before` phase by phase, where it was put together from several.
        after_phases: The same of `after`.
    """

    def __init__(
        self,
        before: Profile,
        after: Profile,
        before_phases: Sequence[Profile] = (),
        after_phases: Sequence[Profile] = (),
    ) -> None:
        self._before, self._after = TimedTree.of(before), TimedTree.of(after)
        self._phases = before_phases, after_phases
        self.union = unite(self._before.tree, self._after.tree)

    def kernels(self) -> list[KernelChange]:
        """Every kernel and copy of either profile, the largest change of the total first."""
        before, after = self._before, self._after
        first, second = map(runs_by_name, (before, after), self._phases)
        kinds = {**kinds_by_name(before.tree), **kinds_by_name(after.tree)}
        old, new = _launches(before.tree), _launches(after.tree)
        matched = self._matched()
        ranks = [[rank.rank for rank in each.profile.ranks] for each in (before, after)]
        found = [
            KernelChange(
                name,
                kinds[name],
                change_between(
                    first.get(name),
                    second.get(name),
                    matched=matched.get(name),
                    is_paired=ranks[0] == ranks[1],
                ),
                _changed(old.get(name), new.get(name)),
            )
            for name in dict.fromkeys((*first, *second))
        ]
        return sorted(found, key=lambda each: -abs(each.change.change_ns))

    def scopes(self) -> list[ScopeChange]:
        """Every scope, state and Python frame with kernels below, the largest change first.

        Their rows are those of `union`.
        """
        union = self.union
        first, second = runs_by_row(self._before), runs_by_row(self._after)
        found: list[ScopeChange] = []
        for row, frame in enumerate(union.tree.frames):
            if row and frame.kind not in _NAMED:
                continue
            here, there = union.first_rows[row], union.second_rows[row]
            old = first[here] if here != ABSENT else None
            new = second[there] if there != ABSENT else None
            if old is not None or new is not None:
                found.append(ScopeChange(row, here, there, change_of_all(old, new)))
        found.sort(key=lambda each: -abs(each.change.change_ns))
        return found

    def _matched(self) -> dict[str, Matched]:
        old, new, union = self._before.own, self._after.own, self.union
        rows = zip(union.tree.frames, union.first_rows, union.second_rows, strict=True)
        return match_contexts((frame.name, old.get(a), new.get(b)) for frame, a, b in rows)


def change_between(
    before: Runs | None,
    after: Runs | None,
    *,
    matched: Matched | None = None,
    is_paired: bool = False,
) -> Change:
    """How `after` differs from `before`; at least one of them is given.

    Args:
        before: The runs in the first profile.
        after: Those in the second.
        matched: The same, of the contexts that both have.
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
    expected_ns, by_speed_ns = before.total_ns * ratio, after.total_ns - before.total_ns * ratio
    of_total, of_speed, basis = _variances(before, after, ratio, is_paired=is_paired)
    if matched is not None and basis not in (RANKS, PHASES) and _is_most(matched, before, after):
        expected_ns, by_speed_ns = matched.expected_ns, matched.by_speed_ns
        of_speed = matched.variance_of_speed
        if matched.before_ns == before.total_ns and matched.after_ns == after.total_ns:
            of_total = matched.variance_of_total
        basis = None if of_speed is None else _basis(before, after)
    by_runs_ns, per_run = change_ns - by_speed_ns, by_speed_ns / expected_ns
    total_half = None if of_total is None else of_total.half_width()
    if of_speed is None:
        verdict = SAME if change_ns == 0 and ratio == 1 else NOT_ENOUGH
        return Change(before, after, verdict, change_ns, total_half, by_runs_ns, per_run)
    half = of_speed.half_width()
    return Change(
        before,
        after,
        _verdict(by_speed_ns, half, ratio),
        change_ns,
        total_half,
        by_runs_ns,
        per_run,
        half / expected_ns,
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


def _is_most(matched: Matched, before: Runs, after: Runs) -> bool:
    """Whether contexts of both profiles have most of the time; else names are all there is."""
    is_old = matched.before_ns >= 0.5 * before.total_ns
    return is_old and matched.after_ns >= 0.5 * after.total_ns and matched.expected_ns > 0


def _basis(before: Runs, after: Runs) -> str:
    """What is known of single runs; of contexts with one run each it is how they differ."""
    known = dict.fromkeys(runs.basis or SPREAD for runs in (before, after))
    return ", ".join(known)


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
    return (
        before.variance + after.variance,
        before.variance.scaled(ratio) + after.variance,
        _basis(before, after),
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
