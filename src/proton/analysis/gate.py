"""Whether a change is a regression: slower beyond a threshold, and surely so.

The whole interval of confidence has to lie beyond the threshold: a gate that fails by chance is
soon switched off.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from proton.analysis.change import FASTER, NOT_ENOUGH, SLOWER

LEAST_SHARE = 0.01  # of the time: kernels below it cannot fail a gate by themselves
_ORDER = {SLOWER: 0, FASTER: 1, NOT_ENOUGH: 1}  # what did not change comes last


class Judged(Protocol):
    """A change with its verdict, as `change.Change` and the page's records have it."""

    @property
    def verdict(self) -> str:
        """What is known of it."""

    @property
    def by_speed_ns(self) -> float | None:
        """What came from slower runs."""

    @property
    def speed_half_width_ns(self) -> float | None:
        """Half of its interval."""

    @property
    def expected_ns(self) -> float | None:
        """What the runs would have taken before."""


Row = TypeVar("Row", bound=Judged)


def relative_change(change: Judged) -> tuple[float, float] | None:
    """How much slower (or, below 0, faster) runs are as a share, and half of its interval.

    None where too little is known.
    """
    if change.by_speed_ns is None or not change.expected_ns:
        return None
    if change.speed_half_width_ns is None:
        return None
    return change.by_speed_ns / change.expected_ns, change.speed_half_width_ns / change.expected_ns


def is_regression(change: Judged, threshold: float) -> bool:
    """Whether runs are slower by more than `threshold`, a share, wherever in its interval."""
    found = relative_change(change)
    return change.verdict == SLOWER and found is not None and found[0] - found[1] > threshold


def regressions(
    kernels: Iterable[tuple[Row, float]], whole_ns: float, threshold: float
) -> list[Row]:
    """Those of `kernels`, each with its time after, that a gate fails for."""
    least_ns = LEAST_SHARE * whole_ns
    return [row for row, ns in kernels if ns >= least_ns and is_regression(row, threshold)]


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Slower ones first, then what else changed or may have; in each the largest at equal runs."""
    return sorted(
        rows, key=lambda row: (_ORDER.get(row.verdict, len(_ORDER)), -abs(row.by_speed_ns or 0.0))
    )
