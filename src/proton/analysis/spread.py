"""Spread of times in every context: over the runs of a kernel and over ranks; how it was launched.

Details of runs and launches belong to single contexts with a kernel. A context without one has no
value, because quantiles of what lies below it do not follow from theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest

from proton.analysis.measurements import Cell
from proton.model.frame import FrameKind
from proton.model.ranks import CPU_TIME_BY_RANK_NS, TIME_BY_RANK_NS, Rank, Spread, spread_of
from proton.model.tree import KernelDetail, Tree

SLOWEST = "slowest_rank"
RANK_TIMES: Mapping[str, Callable[[Spread], float]] = {
    "rank_min": lambda spread: spread.least,
    "rank_median": lambda spread: spread.median,
    "rank_max": lambda spread: spread.largest,
}
SPREAD: Mapping[str, Callable[[KernelDetail], int | None]] = {
    "min_time": lambda detail: detail.min_ns,
    "max_time": lambda detail: detail.max_ns,
    "p50_time": lambda detail: detail.p50_ns,
    "p99_time": lambda detail: detail.p99_ns,
}


def spread_ns(tree: Tree, name: str) -> list[int | None]:
    """One of `SPREAD` for every row, in nanoseconds; None where it is not known."""
    pick = SPREAD[name]
    values: list[int | None] = [None] * len(tree)
    for row, detail in tree.details.items():
        values[row] = pick(detail)
    return values


def launch_values(tree: Tree, name: str) -> list[Cell]:
    """One of `LAUNCH` for every row; None where launches of the row differ or nobody told."""
    pick = LAUNCH[name]
    values: list[Cell] = [None] * len(tree)
    for row, detail in tree.details.items():
        values[row] = pick(detail)
    return values


def known_words(tree: Tree) -> list[str]:
    """The words of `SPREAD` and `LAUNCH` that some row has a value for."""
    details = tree.details.values()
    found = [name for name, pick in SPREAD.items() if any(pick(d) is not None for d in details)]
    return found + [name for name, of in LAUNCH.items() if any(of(d) is not None for d in details)]


def _extent(attribute: str) -> Callable[[KernelDetail], Cell]:
    def text(detail: KernelDetail) -> Cell:
        value = detail.attributes.get(attribute)
        return "x".join(map(str, value)) if isinstance(value, tuple) else None

    return text


def _shared_bytes(detail: KernelDetail) -> Cell:
    """Shared memory of a block, whether the kernel or its launch asked for it."""
    parts = [detail.attributes.get(f"{kind}_shared_bytes") for kind in ("static", "dynamic")]
    known = [part for part in parts if isinstance(part, (int, float))]
    return sum(known) if known else None


LAUNCH: Mapping[str, Callable[[KernelDetail], Cell]] = {
    "grid": _extent("grid"),
    "block": _extent("block"),
    "regs": lambda detail: detail.attributes.get("registers"),
    "shared": _shared_bytes,
    "occupancy": lambda detail: detail.attributes.get("occupancy"),
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
    return [
        rank_at(spread_of(value).slowest, ranks)
        if isinstance(value, tuple) and any(value)
        else None
        for value in values
    ]


def rank_at(place: int, ranks: Sequence[Rank]) -> int:
    """The number of the rank at `place`, which may lack a rank in a file that somebody changed."""
    return ranks[place].rank if place < len(ranks) else place


def times_by_kernel(tree: Tree, metric: str) -> dict[str, tuple[float, ...]]:
    """Name of a kernel -> the time of each rank in it, over all its contexts."""
    found: dict[str, tuple[float, ...]] = {}
    for frame, own in zip(tree.frames, tree.own, strict=True):
        times = own.get(metric)
        if frame.kind is FrameKind.KERNEL and isinstance(times, tuple) and times:
            before = found.get(frame.name, ())
            found[frame.name] = tuple(a + b for a, b in zip_longest(before, times, fillvalue=0.0))
    return found
