"""Quantiles of a kernel over all contexts that ran it, from those of each context.

They do not follow exactly, but they are bounded: a quantile of a union lies between the least and
the largest of its parts'. Between these it is estimated as if the runs of each context were spread
evenly between its least, median, 99 % and largest time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from proton.model.metric import COUNT
from proton.model.trace import SpanKind, Trace
from proton.model.tree import KernelDetail, Tree, detail_of

_WORK = (SpanKind.KERNEL, SpanKind.COPY)
_MOST = 128  # contexts that an estimate looks at


class Quantile(NamedTuple):
    """A value in nanoseconds, and where it surely lies; all three equal where it is known."""

    value: float
    least: float
    largest: float


class Runs(NamedTuple):
    """The runs of a kernel in one context."""

    times: float  # how often it ran
    min_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float


class Middle(NamedTuple):
    """Median and 99 % of a kernel's runs."""

    p50: Quantile
    p99: Quantile


def quantiles_of_kernels(tree: Tree) -> dict[str, Middle]:
    """Median and 99 % of every kernel by name, where all of its contexts know theirs."""
    runs: dict[str, list[Runs]] = {}
    unknown: set[str] = set()
    for row, detail in tree.details.items():
        name, count = tree.frames[row].name, tree.own[row].get(COUNT)
        p50, p99 = detail.p50_ns, detail.p99_ns
        if p50 is None or p99 is None or not isinstance(count, (int, float)):
            unknown.add(name)
        else:
            part = Runs(count, detail.min_ns, p50, p99, detail.max_ns)
            runs.setdefault(name, []).append(part)
    return {name: middle_of(parts) for name, parts in runs.items() if name not in unknown}


def quantiles_of_spans(trace: Trace) -> dict[str, Middle]:
    """Median and 99 % of every kernel and copy of a timeline by name, exactly."""
    times: dict[str, list[int]] = {}
    for span in trace.spans:
        if span.kind in _WORK:
            name = span.path[-1] if span.path else span.name
            times.setdefault(name, []).append(round(span.duration_ns))
    return {name: _exact(detail_of(each)) for name, each in times.items()}


def _exact(detail: KernelDetail) -> Middle:
    p50, p99 = (Quantile(time, time, time) for time in (detail.p50_ns or 0, detail.p99_ns or 0))
    return Middle(p50, p99)


def middle_of(parts: Sequence[Runs]) -> Middle:
    """Median and 99 % of all runs of `parts`, of which there is at least one."""
    medians = [part.p50_ns for part in parts]
    tails = [part.p99_ns for part in parts]
    bounds = (min(medians), max(medians)), (min(tails), max(tails))
    if all(least == largest for least, largest in bounds):
        values = [least for least, _ in bounds]
    else:
        values = _estimates(_thinned(parts), (0.5, 0.99))
    p50, p99 = (
        Quantile(min(max(value, least), largest), least, largest)
        for value, (least, largest) in zip(values, bounds, strict=True)
    )
    return Middle(p50, p99)


def _thinned(parts: Sequence[Runs]) -> Sequence[Runs]:
    """At most about `_MOST` parts that stand for all: neighbours by median go together."""
    step = -(-len(parts) // _MOST)
    if step == 1:
        return parts
    ordered = sorted(parts, key=_median)
    groups = (ordered[at : at + step] for at in range(0, len(ordered), step))
    return [
        group[len(group) // 2]._replace(times=sum(part.times for part in group)) for group in groups
    ]


def _median(part: Runs) -> float:
    return part.p50_ns


def _estimates(parts: Sequence[Runs], shares: Sequence[float]) -> list[float]:
    """The times that `shares` (ascending) of all runs do not exceed, in one sweep over time."""
    changes = sorted(_changes(parts))
    targets = [share * sum(part.times for part in parts) for share in shares]
    found: list[float] = []
    done = density = before = 0.0
    for time, slope, jump in changes:
        reached = done + density * (time - before)
        while len(found) < len(targets) and targets[len(found)] <= reached and density > 0:
            found.append(before + (targets[len(found)] - done) / density)
        done, density, before = reached + jump, density + slope, time
        while len(found) < len(targets) and targets[len(found)] <= done:
            found.append(time)
    return found + [before] * (len(targets) - len(found))


def _changes(parts: Sequence[Runs]) -> list[tuple[float, float, float]]:
    """`(time, change of runs a nanosecond, runs at that very time)` for all stretches of parts."""
    changes = []
    for count, *times in parts:
        for (start, end), share in zip(pairwise(times), (0.5, 0.49, 0.01), strict=True):
            if end > start:
                slope = count * share / (end - start)
                changes += [(start, slope, 0.0), (end, -slope, 0.0)]
            else:
                changes.append((start, 0.0, count * share))
    return changes
