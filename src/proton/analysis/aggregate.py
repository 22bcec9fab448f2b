"""Many contexts into fewer: equal names merged into a flat list, spans of a trace into a tree."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from operator import mul
from typing import NamedTuple, cast

from proton.analysis.measurements import whole_of
from proton.analysis.select import Mask, both
from proton.analysis.several_devices import LaneDevice, lane_devices
from proton.model.columns import group_by, take, to_whole
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.host_time import outermost
from proton.model.merge import add_values
from proton.model.metric import (
    COUNT,
    CPU_TIME_NS,
    DEVICE_ID,
    DEVICE_TYPE,
    TIME_NS,
    MetricKind,
    Metrics,
    MetricValue,
    apart_from_backend,
)
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.span_table import Look, SpanTable, span_table
from proton.model.trace import LaneKind, SpanKind
from proton.model.tree import KernelDetail, Tree, depth_first, detail_of, merge_details

# Where a span that is no kernel ran -> what its duration is called.
_SPENT = {
    LaneKind.HOST: CPU_TIME_NS,
    LaneKind.GRAPH: "graph_time (ns)",
    LaneKind.DEVICE: "device_time (ns)",
    LaneKind.SM: "cta_time (ns)",
    LaneKind.WARP: "warp_time (ns)",
}
_DEVICE_WORK = {SpanKind.KERNEL: FrameKind.KERNEL, SpanKind.COPY: FrameKind.COPY}
_NUMBERS = {int, float}
KindOf = Callable[[str], MetricKind]


def merge_by_name(profile: TreeProfile, metric: str, mask: Mask, kind_of: KindOf) -> TreeProfile:
    """A flat profile: one row a name, for the kept contexts that measured `metric` themselves.

    What is left out is added to the root, so that totals stay those of the whole profile. A scope
    inside one of its own name is left out where host times are asked for: they hold its time.

    Args:
        profile: A profile with a tree.
        metric: The metric that decides which contexts count, e.g. "time (ns)".
        mask: The rows to take.
        kind_of: How the values of a metric add up.
    """
    tree = profile.tree
    frames: dict[str, Frame] = {}
    measured: dict[str, list[Metrics]] = {}
    details: dict[str, KernelDetail] = {}
    entries: dict[str, int] = {}
    if metric == CPU_TIME_NS:
        mask = both(mask, outermost(tree, metric, by_name=True))
    others: list[Metrics] = [dict.fromkeys(tree.own[0], 0)]
    for row in range(1, len(tree)):
        own = tree.own[row]
        if mask[row] and metric in own:
            frame = tree.frames[row]
            frames.setdefault(frame.name, frame)
            measured.setdefault(frame.name, []).append(own)
            if (detail := tree.details.get(row)) is not None:
                known = details.get(frame.name)
                details[frame.name] = detail if known is None else merge_details(known, detail)
            if (count := tree.entries.get(row)) is not None:
                entries[frame.name] = entries.get(frame.name, 0) + count
        elif own:
            others.append(own)
    own_of_rows = [sum_metrics(each, kind_of) for each in (others, *measured.values())]
    if (whole := whole_of(tree, CPU_TIME_NS)) is not None:
        own_of_rows[0][CPU_TIME_NS] = whole  # names may lie in each other: no sum of them
    flat = Tree(
        frames=[ROOT_FRAME, *frames.values()],
        parents=[-1, *([0] * len(frames))],
        own=own_of_rows,
        details={at: details[name] for at, name in enumerate(frames, 1) if name in details},
        entries={at: entries[name] for at, name in enumerate(frames, 1) if name in entries},
    )
    return replace(profile, tree=flat)


def tree_of_trace(profile: TraceProfile) -> TreeProfile:
    """The profile of a trace as a tree: spans of one path become one context.

    Kernels and copies have a context for each device, where there are several. They give
    `time (ns)`, `count` and their spread. Other spans give their duration by where they ran:
    `cpu_time (ns)` on the host, `warp_time (ns)` inside a kernel, `cta_time (ns)` for blocks of
    kernels, `graph_time (ns)` for graphs.
    """
    trace = profile.trace
    growing = GrowingTree()
    own: dict[int, dict[str, MetricValue]] = {}
    runs: dict[int, list[_Runs]] = {}  # node -> what ran on a device there
    known: dict[tuple[tuple[str, ...], LaneDevice | None], int] = {}
    spent = [_SPENT[lane.kind] for lane in trace.lanes]
    devices = lane_devices(trace, profile.devices)
    for look, lane, times_ns in _alike(span_table(trace.spans)):
        path = look.path or (look.name,)
        if look.kind is SpanKind.CTA:
            path = path[:-1] or path  # all CTAs of a kernel are one
        kind = _DEVICE_WORK.get(look.kind)
        device = None if kind is None else devices[lane]
        if (node := known.get((path, device))) is None:
            node = known.get((path[:-1], None), 0)
            for name in () if node else path[:-1]:
                node = growing.child(node, name, Frame(name))
            own_key = path[-1] if device is None else (path[-1], device)
            node = growing.child(node, own_key, Frame(path[-1]))
            known[path, device] = node
            if device is not None:
                labels = {DEVICE_ID: device.device_id, DEVICE_TYPE: device.device_type}
                own.setdefault(node, {}).update(labels)
        if kind is not None:
            if growing.frames[node].kind is not kind:
                growing.frames[node] = growing.frames[node]._replace(kind=kind)
            runs.setdefault(node, []).append(_Runs(times_ns, look.attributes))
        sums = own.setdefault(node, {})
        if look.metrics:
            measured = apart_from_backend(look.metrics)
            add_metrics(sums, measured, lambda _: MetricKind.INCLUSIVE)
        if kind is None:
            is_moment = look.kind is SpanKind.METRIC and not any(times_ns)
            if not is_moment:  # at which a value was read: nothing was spent
                _add_sum(sums, spent[lane], sum(times_ns))
        else:
            _add_sum(sums, TIME_NS, sum(times_ns))
            _add_sum(sums, COUNT, len(times_ns))
    nodes, parents = growing.order()
    tree = Tree(
        [growing.frames[node] for node in nodes],
        parents,
        [own.get(node, {}) for node in nodes],
        {row: _detail(runs[node]) for row, node in enumerate(nodes) if node in runs},
    )
    kinds = {**profile.metric_kinds, **dict.fromkeys(_SPENT.values(), MetricKind.EXCLUSIVE)}
    return replace(profile.with_tree(tree), trace=trace, metric_kinds=kinds)


def sum_metrics(measured: Sequence[Metrics], kind_of: KindOf) -> dict[str, MetricValue]:
    """All of `measured` added up as `add_metrics` does, metric by metric, which is faster."""
    sums: dict[str, MetricValue] = {}
    for name in dict.fromkeys(chain.from_iterable(measured)):
        values = [own[name] for own in measured if name in own]
        types = set(map(type, values))
        if kind_of(name) is MetricKind.PROPERTY or types == {str}:
            sums[name] = values[-1]
        elif types <= _NUMBERS:
            sums[name] = sum(cast("list[float]", values))
        else:
            for value in values:
                add_metrics(sums, {name: value}, kind_of)
    return sums


def add_metrics(sums: dict[str, MetricValue], own: Metrics, kind_of: KindOf) -> None:
    """Add `own` to `sums`; labels and properties take the last value."""
    for name, value in own.items():
        is_sum = name in sums and kind_of(name) is not MetricKind.PROPERTY
        sums[name] = add_values(sums[name], value) if is_sum else value


class _Runs(NamedTuple):
    """Spans of one look."""

    times_ns: Sequence[int]
    attributes: Metrics


def _alike(spans: SpanTable) -> Iterator[tuple[Look, int, Sequence[int]]]:
    """Spans that differ in time only, as look, lane and durations, in the order of the first.

    Those with metrics come one by one: labels take the last value, and floats add up in order.
    """
    columns = [spans.look, spans.lane]
    if any(look.metrics for look in spans.looks):
        is_single = array("B", [bool(look.metrics) for look in spans.looks])
        numbers = map(mul, take(is_single, spans.look), count(1))
        columns.append(array("I", numbers))
    places, bounds = group_by(*columns)
    durations = take(spans.duration_ns, places)
    times_ns: Sequence[int] | None = to_whole(durations)
    if times_ns is None:
        times_ns = list(map(round, durations))
    for begin, end in pairwise(bounds):
        first = places[begin]
        yield spans.looks[spans.look[first]], spans.lane[first], times_ns[begin:end]


def _add_sum(sums: dict[str, MetricValue], name: str, value: int) -> None:
    if (before := sums.get(name)) is None:
        sums[name] = value
    else:
        sums[name] = before + value if type(before) is int else add_values(before, value)


class GrowingTree:
    """Contexts that turn up in any order. Node 0 is the root; nodes become rows in the end."""

    def __init__(self, root: Frame = ROOT_FRAME) -> None:
        self.frames: list[Frame] = [root]
        self._parents = [-1]
        self._nodes: dict[tuple[int, Hashable], int] = {}

    def child(self, parent: int, key: Hashable, frame: Frame) -> int:
        """The node below `parent` that `key` tells from its siblings, made of `frame` if new."""
        node = self._nodes.setdefault((parent, key), len(self.frames))
        if node == len(self.frames):
            self.frames.append(frame)
            self._parents.append(parent)
        return node

    def order(self) -> tuple[list[int], list[int]]:
        """The node of every row in depth-first order, and the row of its parent."""
        return depth_first(self._parents)


def _detail(runs: list[_Runs]) -> KernelDetail:
    """The spread of `runs`, and the launch attributes that all of them have."""
    attributes = runs[0].attributes
    if any(run.attributes != attributes for run in runs):
        attributes = {
            name: value
            for name, value in attributes.items()
            if all(run.attributes.get(name) == value for run in runs)
        }
    return detail_of([time for run in runs for time in run.times_ns], attributes)
