"""How the time of a kernel changed between two profiles, and how sure that is.

Runs are compared context by context where both profiles have most of them: a kernel that runs more
often in its longest context has a longer mean, though no run of it became slower.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from proton.analysis.run_times import LEAST_BATCHES, PHASES, RANKS, SPREAD, OwnRuns, Runs
from proton.analysis.uncertainty import Variance, variance_of_sum

SLOWER, FASTER, SAME = "slower", "faster", "same"  # of a run (or all), beyond chance; or not
MORE_RUNS, FEWER_RUNS = "more runs", "fewer runs"  # each run took as long as before
NEW, GONE, NOT_ENOUGH = "new", "gone", "not enough"
# As a share: two recordings of one program differ by as much, however sure each of them is.
NOTABLE = 0.01
WIDE = 0.5  # as a share: half an interval beyond it does not tell "same" from much slower
# The variance of the change of the total, that of its part from slower runs, and their basis.
Variances = tuple[Variance | None, Variance | None, str | None]


@dataclass(slots=True)
class Matched:
    """The runs of one kernel in the contexts that both profiles have."""

    before_ns: float = 0.0
    after_ns: float = 0.0
    expected_ns: float = 0.0  # what the runs after would have taken at the speed before
    contexts: int = 0
    is_known: bool = True  # whether anything is known of how single runs vary
    _speed: Variance = field(default_factory=Variance)
    _total: Variance = field(default_factory=Variance)
    _differences: list[float] = field(default_factory=list)  # of contexts with one run each

    @property
    def by_speed_ns(self) -> float:
        """The part of the change that came from slower or faster runs."""
        return self.after_ns - self.expected_ns

    @property
    def variance_of_speed(self) -> Variance | None:
        """That of `by_speed_ns`; None where too little is known."""
        return self._with_singles(self._speed)

    @property
    def variance_of_total(self) -> Variance | None:
        """That of the change of the sum of these contexts; None where too little is known."""
        return self._with_singles(self._total)

    def add(self, before: OwnRuns, after: OwnRuns) -> None:
        """One more context."""
        (_, old), (_, new) = before, after
        if not old.count or not new.count:
            self.is_known = False
            return
        ratio = new.count / old.count
        self.contexts += 1
        self.before_ns += old.total_ns
        self.after_ns += new.total_ns
        self.expected_ns += old.total_ns * ratio
        if old.count == new.count == 1:
            self._differences.append(new.total_ns - old.total_ns)
            return
        first, second = _variance(old, new), _variance(new, old)
        if first is None or second is None:
            self.is_known = False
            return
        self._speed += first.scaled(ratio) + second
        self._total += first + second

    def _with_singles(self, variance: Variance) -> Variance | None:
        if not self.is_known:
            return None
        if not self._differences:
            return variance if self.contexts else None
        paired = variance_of_sum(self._differences)
        return None if paired is None else variance + paired


def match_contexts(
    pairs: Iterable[tuple[str, OwnRuns | None, OwnRuns | None]],
) -> dict[str, Matched]:
    """Kernel -> its runs in contexts of both profiles, from the runs of each context."""
    found: dict[str, Matched] = {}
    for name, before, after in pairs:
        if before is not None and after is not None:
            found.setdefault(name, Matched()).add(before, after)
    return found


def _variance(runs: Runs, other: Runs) -> Variance | None:
    """That of the sum of `runs`; one run varies as those of the other profile do."""
    if runs.variance is not None or runs.count != 1:
        return runs.variance
    if other.variance is None or not other.count:
        return None
    return Variance(other.variance.size / other.count, other.variance.doubt / other.count**2)


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
    repeats: float = 1.0,
) -> Change:
    """How `after` differs from `before`; at least one of them is given.

    Args:
        before: The runs in the first profile.
        after: Those in the second.
        matched: The same, of the contexts that both have.
        is_paired: Both were merged from the same ranks.
        repeats: How many times as many recordings `after` was put together from.
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
    is_same = change_ns == 0 and ratio == repeats == 1
    return _judged(
        Change(before, after, SAME if is_same else NOT_ENOUGH, change_ns, None, by_speed_ns),
        expected_ns,
        ratio / repeats,
        (of_total, of_speed, basis),
    )


def change_of_all(
    before: Runs | None, after: Runs | None, ratio: float = 1.0, repeats: float = 1.0
) -> Change:
    """How runs of many kernels changed: their sums are compared, because a mean has no meaning.

    Args:
        before: The runs in the first profile.
        after: Those in the second.
        ratio: How many times as often all kernels ran.
        repeats: How many times as many recordings `after` was put together from.
    """
    if before is None or after is None or not before.total_ns:
        return change_between(before, after, repeats=repeats)
    change_ns, expected_ns = after.total_ns - before.total_ns, before.total_ns * ratio
    by_speed_ns = after.total_ns - expected_ns
    verdict = SAME if by_speed_ns == 0 and ratio == 1 else NOT_ENOUGH  # as of a single kernel
    variances = _variances(before, after, ratio, is_paired=False)
    change = Change(before, after, verdict, change_ns, None, by_speed_ns)
    return _judged(change, expected_ns, ratio / repeats, variances)


def _judged(change: Change, expected_ns: float, ratio: float, variances: Variances) -> Change:
    """`change` with its intervals, and with the verdict that they allow; else with its own."""
    of_total, of_speed, basis = variances
    change = replace(
        change,
        half_width_ns=None if of_total is None else of_total.half_width(),
        expected_ns=expected_ns,
    )
    if of_speed is None or change.by_speed_ns is None:
        return change
    half = of_speed.half_width()
    verdict = _verdict(change.by_speed_ns, half, expected_ns, ratio)
    return replace(change, verdict=verdict, speed_half_width_ns=half, basis=basis)


def _verdict(by_speed_ns: float, half_ns: float, expected_ns: float, ratio: float) -> str:
    if abs(by_speed_ns) > max(half_ns, NOTABLE * expected_ns):
        return SLOWER if by_speed_ns > 0 else FASTER
    if half_ns > WIDE * expected_ns:
        return NOT_ENOUGH
    return SAME if ratio == 1 else MORE_RUNS if ratio > 1 else FEWER_RUNS


def _is_most(matched: Matched, before: Runs, after: Runs) -> bool:
    """Whether contexts of both profiles have most of the time; else names are all there is."""
    is_old = matched.before_ns >= 0.5 * before.total_ns
    return is_old and matched.after_ns >= 0.5 * after.total_ns and matched.expected_ns > 0


def _basis(before: Runs, after: Runs) -> str:
    """What is known of single runs; of contexts with one run each it is how they differ."""
    known = dict.fromkeys(runs.basis or SPREAD for runs in (before, after))
    return ", ".join(known)


def _variances(before: Runs, after: Runs, ratio: float, *, is_paired: bool) -> Variances:
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
