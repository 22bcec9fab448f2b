"""The runs of a kernel in two profiles, context by context: what is left when its mix has changed.

A kernel that runs more often in its longest context has a longer mean, though no run of it became
slower. Held context against context, such a change is one of runs and not of speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from proton.analysis.run_times import OwnRuns, Runs
from proton.analysis.uncertainty import Variance, variance_of_sum


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
