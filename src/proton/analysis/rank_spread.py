"""How the times of ranks spread in every context of a merged profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from proton.model.frame import FrameKind
from proton.model.metric import MetricValue
from proton.model.ranks import CPU_TIME_BY_RANK_NS, TIME_BY_RANK_NS, Rank, Spread, spread_of
from proton.model.tree import Tree

Cell = MetricValue | None

SLOWEST = "slowest_rank"
RANK_TIMES: Mapping[str, Callable[[Spread], float]] = {
    "rank_min": lambda spread: spread.least,
    "rank_median": lambda spread: spread.median,
    "rank_max": lambda spread: spread.largest,
}


def times_metric(available: Iterable[str]) -> str | None:
    """The metric with the times of ranks, of those that a profile has; None: it is not merged."""
    known = set(available)
    return next((name for name in (TIME_BY_RANK_NS, CPU_TIME_BY_RANK_NS) if name in known), None)


def rank_times_ns(values: Sequence[Cell], word: str) -> list[float | None]:
    """One of RANK_TIMES for every row, from the times of ranks in it."""
    pick = RANK_TIMES[word]
    return [pick(spread_of(v)) if isinstance(v, tuple) and v else None for v in values]


def slowest_ranks(values: Sequence[Cell], ranks: Sequence[Rank]) -> list[Cell]:
    """The number of the rank that spent the most time in every row."""
    found: list[Cell] = []
    for value in values:
        if not isinstance(value, tuple) or not any(value):
            found.append(None)
            continue
        place = spread_of(value).slowest
        found.append(ranks[place].rank if place < len(ranks) else place)
    return found


def times_by_kernel(tree: Tree, metric: str) -> dict[str, tuple[float, ...]]:
    """Name of a kernel -> the time of each rank in it, over all its contexts."""
    found: dict[str, tuple[float, ...]] = {}
    for frame, own in zip(tree.frames, tree.own, strict=True):
        times = own.get(metric)
        if frame.kind is FrameKind.KERNEL and isinstance(times, tuple) and times:
            before = found.get(frame.name, ())
            found[frame.name] = tuple(a + b for a, b in zip_longest(before, times, fillvalue=0.0))
    return found
