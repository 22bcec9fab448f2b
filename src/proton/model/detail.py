"""`KernelDetail`: how the runs of one kernel in one context spread, and how it was launched."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from proton.model.metric import EMPTY, Metrics


class KernelDetail(NamedTuple):
    """What is known of a context's kernel beyond sums. Quantiles are None where nobody knows them.

    `attributes` are those of every launch in this context: `grid`, `block` (three numbers each),
    `registers`, `static_shared_bytes`, `dynamic_shared_bytes`, `occupancy` (0 to 1), `stream` and
    what a backend adds.
    """

    min_ns: int
    max_ns: int
    p50_ns: int | None = None
    p99_ns: int | None = None
    attributes: Metrics = EMPTY


def merge_details(first: KernelDetail, second: KernelDetail) -> KernelDetail:
    """The detail of both sets of runs.

    The least and the largest time are those of both, and attributes stay where they are equal.
    Quantiles of a union do not follow from those of its parts, so they are dropped.
    """
    shared = first.attributes
    if shared != second.attributes:
        theirs = second.attributes
        shared = {name: value for name, value in shared.items() if theirs.get(name) == value}
    return KernelDetail(
        min_ns=min(first.min_ns, second.min_ns),
        max_ns=max(first.max_ns, second.max_ns),
        attributes=shared or EMPTY,
    )


def detail_of(times_ns: Sequence[int], attributes: Metrics = EMPTY) -> KernelDetail:
    """The detail of runs that took `times_ns`, of which there is at least one."""
    times = sorted(times_ns)

    def quantile(share: float) -> int:
        return times[ceil(share * len(times)) - 1]

    return KernelDetail(times[0], times[-1], quantile(0.5), quantile(0.99), attributes)
