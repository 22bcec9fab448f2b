"""Ranks: the processes that a merged profile was put together from, and how their times spread.

The time of each rank in a context is a metric like any other, a list with a place for every rank
in the order of `Profile.ranks`, so that it adds up, is filtered and is stored as metrics are. A
rank that was never in a context has 0 there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from proton.model.metric import CPU_TIME_NS, TIME_NS
from proton.model.schema import Stored

TIME_BY_RANK_NS = "time_by_rank (ns)"
CPU_TIME_BY_RANK_NS = "cpu_time_by_rank (ns)"
BY_RANK = {TIME_NS: TIME_BY_RANK_NS, CPU_TIME_NS: CPU_TIME_BY_RANK_NS}


@dataclass(frozen=True, slots=True)
class Rank:
    """One process of a merged profile. What its file did not say is empty or None."""

    rank: Annotated[int, Stored("its number", least=None)]
    source: Annotated[str, Stored("the file it came from", sparse=True)] = ""
    host: Annotated[str, Stored("where it ran", sparse=True)] = ""
    pid: Annotated[int | None, Stored("its process", least=None)] = None
    device: Annotated[str, Stored("name of its device", sparse=True)] = ""
    time_ns: Annotated[float | None, Stored("of all its kernels", least=None)] = None
    kernels: Annotated[float | None, Stored("how many ran", least=None)] = None
    lost: Annotated[int, Stored("events", least=None)] = 0


class Spread(NamedTuple):
    """How the times of ranks in one context differ; `slowest` is a place in the list."""

    least: float
    median: float
    largest: float
    slowest: int


def spread_of(times: Sequence[float]) -> Spread:
    """The spread of `times`, of which there is at least one; of equals the first is slowest."""
    ordered = sorted(times)
    middle = len(ordered) // 2
    is_odd = len(ordered) % 2
    median = ordered[middle] if is_odd else (ordered[middle - 1] + ordered[middle]) / 2
    return Spread(ordered[0], median, ordered[-1], max(range(len(times)), key=times.__getitem__))
