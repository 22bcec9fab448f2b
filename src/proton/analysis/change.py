"""The change of a time between two profiles, with its interval of confidence and a verdict.

The change of a total has two parts: it ran more often, or each run took longer. Whether the second
is more than chance is what a verdict says, or that too little is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from proton.analysis.matched_runs import Matched
from proton.analysis.run_times import LEAST_BATCHES, PHASES, RANKS, SPREAD, Runs
from proton.analysis.uncertainty import Variance, variance_of_sum

SLOWER, FASTER, SAME = "slower", "faster", "same"  # of a run (or all), beyond chance; or not
MORE_RUNS, FEWER_RUNS = "more runs", "fewer runs"  # each run took as long as before
NEW, GONE, NOT_ENOUGH = "new", "gone", "not enough"
# As a share: two recordings of one program differ by as much, however sure each of them is.
NOTABLE = 0.01


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one kernel or context, after minus before. Half widths are of intervals."""

    before: Runs | None
    after: Runs | None
    verdict: str
    change_ns: float  # of the total
    half_width_ns: float | None = None
    by_speed_ns: float | None = None  # of it what came from slower runs, not from more of them
    speed_half_width_ns: float | None = None
    expected_ns: float | None = None  # what the runs after would have taken at the speed before
    basis: str | None = None  # what the intervals are from


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
    total_half = None if of_total is None else of_total.half_width()
    if of_speed is None:
        verdict = SAME if change_ns == 0 and ratio == 1 else NOT_ENOUGH
        return Change(before, after, verdict, change_ns, total_half, by_speed_ns, None, expected_ns)
    half = of_speed.half_width()
    return Change(
        before,
        after,
        _verdict(by_speed_ns, half, expected_ns, ratio),
        change_ns,
        total_half,
        by_speed_ns,
        half,
        expected_ns,
        basis,
    )


def change_of_all(before: Runs | None, after: Runs | None, ratio: float = 1.0) -> Change:
    """The same of runs of many kernels: only sums can be compared, a mean of them is none.

    Args:
        before: The runs in the first profile.
        after: Those in the second.
        ratio: How many times as often all kernels ran.
    """
    if before is None or after is None or not before.total_ns:
        return change_between(before, after)
    change_ns, expected_ns = after.total_ns - before.total_ns, before.total_ns * ratio
    by_speed_ns = after.total_ns - expected_ns
    of_total, of_speed, basis = _variances(before, after, ratio, is_paired=False)
    if of_total is None or of_speed is None:
        verdict = NOT_ENOUGH if by_speed_ns else SAME
        return Change(before, after, verdict, change_ns, None, by_speed_ns, None, expected_ns)
    half = of_speed.half_width()
    return Change(
        before,
        after,
        _verdict(by_speed_ns, half, expected_ns, ratio),
        change_ns,
        of_total.half_width(),
        by_speed_ns,
        half,
        expected_ns,
        basis,
    )


def _verdict(by_speed_ns: float, half_ns: float, expected_ns: float, ratio: float) -> str:
    if abs(by_speed_ns) > max(half_ns, NOTABLE * expected_ns):
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
