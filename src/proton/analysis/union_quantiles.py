"""Quantiles of a kernel over all contexts that ran it, from those of each context.

They do not follow exactly, but they are bounded: a quantile of a union lies between the least and
the largest of its parts'. Between these it is estimated as if the runs of each context were spread
evenly between its least, median, 99 % and largest time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from proton.model.columns import NONE, order_by, take
from proton.model.metric import COUNT
from proton.model.profile import TreeProfile
from proton.model.span_table import span_table
from proton.model.trace import SpanKind, Trace
from proton.model.tree import Tree, quantiles

_WORK = (SpanKind.KERNEL, SpanKind.COPY)
_MOST = 128  # contexts that an estimate looks at


class Quantile(NamedTuple):
    """A value in nanoseconds, and where it surely lies; all three equal where it is known."""

    value: float
    least: float
    largest: float


def is_estimated(quantile: Quantile) -> bool:
    """Whether a value may differ from the true one by more than rounding.

    Views write three digits: bounds that agree in those are no doubt worth a mark.
    """
    return f"{quantile.least:.2e}" != f"{quantile.largest:.2e}"


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


def quantiles_of(profile: TreeProfile) -> dict[str, Middle]:
    """Median and 99 % of every kernel and copy by name, as exactly as the profile knows them."""
    trace = profile.trace
    return quantiles_of_kernels(profile.tree) if trace is None else quantiles_of_spans(trace)


def with_quantiles(flat: TreeProfile, profile: TreeProfile) -> tuple[TreeProfile, set[str]]:
    """A profile with one row a name, with median and 99 % of each; and the names with estimates.

    Args:
        flat: What `merge_by_name` made of `profile`.
        profile: The contexts that it was made of.
    """
    known = quantiles_of(profile)
    tree = flat.tree
    details = dict(tree.details)
    estimated: set[str] = set()
    for row, detail in tree.details.items():
        name = tree.frames[row].name
        if (middle := known.get(name)) is None:
            continue
        details[row] = detail._replace(
            p50_ns=round(middle.p50.value), p99_ns=round(middle.p99.value)
        )
        if any(map(is_estimated, middle)):
            estimated.add(name)
    return replace(flat, tree=replace(tree, details=details)), estimated


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
    spans = span_table(trace.spans)
    names: dict[str, int] = {}
    name_of = array("I", [NONE]) * len(spans.looks)
    for at, look in enumerate(spans.looks):
        if look.kind in _WORK:
            name = look.path[-1] if look.path else look.name
            name_of[at] = names.setdefault(name, len(names))
    numbers = take(name_of, spans.look)
    order = order_by(numbers, spans.duration_ns)
    numbers, times_ns = take(numbers, order), take(spans.duration_ns, order)
    found = {}
    for name, number in names.items():
        first, end = bisect_left(numbers, number), bisect_left(numbers, number + 1)
        if first < end:
            found[name] = Middle(*map(_exact, quantiles(times_ns[first:end], 0.5, 0.99)))
    return found


def _exact(time_ns: float) -> Quantile:
    whole_ns = round(time_ns)
    return Quantile(whole_ns, whole_ns, whole_ns)


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
