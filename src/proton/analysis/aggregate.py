"""Many contexts into fewer: equal names merged into a flat list, spans of a trace into a tree."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from proton.analysis.select import Mask
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.merge import add_values
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS, MetricKind, Metrics, MetricValue
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import LaneKind, Span, SpanKind
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

    What is left out is added to the root, so that totals stay those of the whole profile.

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
        elif own:
            others.append(own)
    flat = Tree(
        frames=[ROOT_FRAME, *frames.values()],
        parents=[-1, *([0] * len(frames))],
        own=[sum_metrics(each, kind_of) for each in (others, *measured.values())],
        details={at: details[name] for at, name in enumerate(frames, 1) if name in details},
    )
    return replace(profile, tree=flat)


def tree_of_trace(profile: TraceProfile) -> TreeProfile:
    """The profile of a trace as a tree: spans of one path become one context.

    Kernels and copies give `time (ns)`, `count` and their spread. Other spans give their
    duration by where they ran: `cpu_time (ns)` on the host, `warp_time (ns)` inside a kernel,
    `cta_time (ns)` for blocks of kernels, `graph_time (ns)` for graphs.
    """
    trace = profile.trace
    growing = GrowingTree()
    own: dict[int, dict[str, MetricValue]] = {}
    runs: dict[int, list[Span]] = {}  # node -> what ran on a device there
    known: dict[tuple[str, ...], int] = {}
    for span in trace.spans:
        path = span.path or (span.name,)
        if span.kind is SpanKind.CTA:
            path = path[:-1] or path  # all CTAs of a kernel are one
        node = known.get(path)
        if node is None:
            node = 0
            for name in path:
                node = growing.child(node, name, Frame(name))
            known[path] = node
        if (kind := _DEVICE_WORK.get(span.kind)) is not None:
            growing.frames[node] = growing.frames[node]._replace(kind=kind)
            runs.setdefault(node, []).append(span)
        measured = _measured(span, trace.lanes[span.lane].kind)
        add_metrics(own.setdefault(node, {}), measured, lambda _: MetricKind.INCLUSIVE)
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


def _measured(span: Span, lane: LaneKind) -> dict[str, MetricValue]:
    measured: dict[str, MetricValue] = dict(span.metrics)
    duration_ns = round(span.duration_ns)
    if span.kind in _DEVICE_WORK:
        measured |= {TIME_NS: duration_ns, COUNT: 1}
    else:
        measured[_SPENT[lane]] = duration_ns
    return measured


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


def _detail(runs: list[Span]) -> KernelDetail:
    """The spread of `runs`, and the launch attributes that all of them have."""
    attributes = runs[0].attributes
    if any(span.attributes != attributes for span in runs):
        attributes = {
            name: value
            for name, value in attributes.items()
            if all(span.attributes.get(name) == value for span in runs)
        }
    return detail_of([round(span.duration_ns) for span in runs], attributes)
