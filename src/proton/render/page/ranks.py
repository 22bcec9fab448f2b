"""The ranks part: how long each rank took, and how the ranks spread in every context and kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton.analysis.measurements import shown_values
from proton.analysis.spread import times_by_kernel, times_metric
from proton.model.profile import TreeProfile, kind_of
from proton.model.ranks import Rank, Spread, spread_of
from proton.render.display_names import display_name
from proton.render.page.pack import ColumnId, Columns

MOST_ENTRIES = 20_000  # contexts, and kernels
MOST_TIMES = 200_000  # of single ranks; where ranks differ least, only the spread is in the page


@dataclass(frozen=True, slots=True)
class RankTimes:
    """How the times of whole ranks spread; `slowest` is a place in the list of ranks."""

    least_ns: float
    median_ns: float
    largest_ns: float
    slowest: int


@dataclass(frozen=True, slots=True)
class SpreadColumns:
    """Entries whose slowest rank is furthest from the median come first.

    `at` is a row of the tree, or the place of a name. Times of single ranks follow each other, one
    for each rank of the first entries.
    """

    at: ColumnId
    least: ColumnId
    median: ColumnId
    largest: ColumnId
    excess: ColumnId  # the largest less the median
    slowest: ColumnId  # place of the slowest rank
    times: ColumnId
    left_out: int


@dataclass(frozen=True, slots=True)
class RanksPart:
    """How the ranks of a merged profile spread, in all, in every kernel and in every context."""

    metric: str
    ranks: Sequence[Rank]
    times: RankTimes | None
    names: Sequence[str]  # of kernels, as in the file
    titles: Sequence[str]
    kernels: SpreadColumns
    contexts: SpreadColumns


def ranks_part(profile: TreeProfile, columns: Columns) -> RanksPart | None:
    """The spread over ranks of a merged profile; None for others."""
    tree = profile.tree
    metric = times_metric(name for own in tree.own for name in own)
    if metric is None or not profile.ranks:
        return None
    values = shown_values(tree, metric, kind_of(profile, metric))
    contexts = {row: value for row, value in enumerate(values) if isinstance(value, tuple)}
    by_name = times_by_kernel(tree, metric)
    names = list(by_name)
    kernels = dict(enumerate(by_name.values()))
    return RanksPart(
        metric=metric,
        ranks=profile.ranks,
        times=_times(profile.ranks),
        names=names,
        titles=[display_name(name) for name in names],
        kernels=_spreads(kernels, len(profile.ranks), columns),
        contexts=_spreads(contexts, len(profile.ranks), columns),
    )


def _times(ranks: Sequence[Rank]) -> RankTimes | None:
    timed = [(place, rank.time_ns) for place, rank in enumerate(ranks) if rank.time_ns is not None]
    if not timed:
        return None
    spread = spread_of([float(time_ns) for _, time_ns in timed])
    return RankTimes(spread.least, spread.median, spread.largest, timed[spread.slowest][0])


def _spreads(times: Mapping[int, Sequence[float]], ranks: int, columns: Columns) -> SpreadColumns:
    """The columns of `times`, which are by row, or by the place of a name."""
    spreads = [(at, spread_of(found)) for at, found in times.items() if any(found)]
    spreads.sort(key=lambda pair: -_excess(pair[1]))
    shown = spreads[:MOST_ENTRIES]
    single: list[float] = []
    for at, _ in shown[: MOST_TIMES // max(ranks, 1)]:
        single += [*times[at][:ranks], *([0.0] * (ranks - len(times[at])))]
    return SpreadColumns(
        at=columns.add("u32", (at for at, _ in shown)),
        least=columns.add("f64", (spread.least for _, spread in shown)),
        median=columns.add("f64", (spread.median for _, spread in shown)),
        largest=columns.add("f64", (spread.largest for _, spread in shown)),
        excess=columns.add("f64", (_excess(spread) for _, spread in shown)),
        slowest=columns.add("u32", (spread.slowest for _, spread in shown)),
        times=columns.add("f32", single),
        left_out=len(spreads) - len(shown),
    )


def _excess(spread: Spread) -> float:
    """What the others wait for the slowest rank, where they wait for each other."""
    return spread.largest - spread.median
