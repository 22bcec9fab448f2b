"""Several recordings as one: metrics summed by path, spans side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from proton.model.device import Device
from proton.model.frame import Frame
from proton.model.merge_in_kernel import merge_in_kernel
from proton.model.merge_sampling import merge_sampling
from proton.model.metric import EMPTY, MetricKind, Metrics, MetricValue
from proton.model.origins import merge_origins
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.steps import merge_steps
from proton.model.trace import Flow, Lane, Span, Trace
from proton.model.tree import KernelDetail, Tree, depth_first, merge_details

NO_KINDS: Mapping[str, MetricKind] = MappingProxyType({})


def merge_profiles(profiles: Sequence[Profile], source: str) -> Profile:
    """One profile of all `profiles`, in their order.

    Metrics are summed by path, properties and labels take the last value, details of kernels keep
    the least and the largest time but no quantiles, samples are summed. Losses and autotuning are
    the session's, each time up to the writing of the phase: the most of them is all. Warnings,
    devices and phases are listed once each. The header is the first one's, with the last end time.
    """
    first = profiles[0]
    kinds: dict[str, MetricKind] = {}
    losses: dict[str, int] = {}
    for profile in profiles:
        kinds.update(profile.metric_kinds)
        losses.update({kind: max(n, losses.get(kind, 0)) for kind, n in profile.losses.items()})
    sampled = [profile.sampling for profile in profiles if profile.sampling is not None]
    ends = [p.header.end_time_ns for p in profiles if p.header.end_time_ns is not None]
    merged = replace(
        first,
        source=source,
        devices=_merge_devices(profiles),
        header=replace(
            first.header,
            end_time_ns=max(ends, default=None),
            ended_by=next(filter(None, (p.header.ended_by for p in profiles)), ""),
        ),
        metric_kinds=MappingProxyType(kinds),
        losses=MappingProxyType(losses),
        warnings=tuple(dict.fromkeys(text for profile in profiles for text in profile.warnings)),
        autotune=max((tuple(profile.autotune) for profile in profiles), key=len),
        phases=tuple(sorted({phase for profile in profiles for phase in profile.phases})),
        sampling=merge_sampling(sampled),
        in_kernel=merge_in_kernel([profile.in_kernel for profile in profiles]),
        steps=merge_steps(profile.steps for profile in profiles),
        origins=merge_origins(profile.origins for profile in profiles),
    )
    if isinstance(merged, TreeProfile):
        trees = [profile.tree for profile in profiles if isinstance(profile, TreeProfile)]
        return replace(merged, tree=merge_trees(trees, kinds))
    if isinstance(merged, TraceProfile):
        traces = [profile.trace for profile in profiles if isinstance(profile, TraceProfile)]
        return replace(merged, trace=merge_traces(traces))
    return merged


def _merge_devices(profiles: Sequence[Profile]) -> tuple[Device, ...]:
    """Each device once, as last described; how far its clock was off is found anew each time."""
    known: dict[tuple[str, str], Device] = {}
    for device in (device for profile in profiles for device in profile.devices):
        key = device.device_type, device.device_id
        both = (known.get(key, device).clock_residual_ns, device.clock_residual_ns)
        most = max((residual for residual in both if residual is not None), default=None)
        known[key] = replace(device, clock_residual_ns=most)
    return tuple(known.values())


def merge_trees(trees: Sequence[Tree], kinds: Mapping[str, MetricKind] = NO_KINDS) -> Tree:
    """One tree with every path of `trees`; metrics of equal paths are added as their kind says."""
    merger = TreeMerger(kinds)
    for tree in trees:
        merger.add(tree)
    return merger.tree()


class TreeMerger:
    """One tree of many, taken in one by one. `kinds` is asked when a metric is met."""

    def __init__(self, kinds: Mapping[str, MetricKind] = NO_KINDS) -> None:
        self.parents: list[int] = []
        self.own: list[dict[str, MetricValue]] = []
        self._kinds = kinds
        self._frames: list[Frame] = []
        self._details: dict[int, KernelDetail] = {}
        self._entries: dict[int, int] = {}
        self._rows: dict[tuple[int, Frame], int] = {}

    def add(self, tree: Tree) -> list[int]:
        """Take in `tree`; where each of its rows is now, until `tree()` is asked for."""
        frames, details, own = self._frames, self._details, self.own
        properties = {name for name, kind in self._kinds.items() if kind is MetricKind.PROPERTY}
        here: list[int] = []
        for frame, parent, metrics in zip(tree.frames, tree.parents, tree.own, strict=True):
            above = here[parent] if parent >= 0 else -1
            row = self._rows.setdefault((above, frame), len(frames))
            if row == len(frames):
                frames.append(frame)
                self.parents.append(above)
                own.append(dict(metrics))
            elif metrics:
                _add(own[row], metrics, properties)
            here.append(row)
        for at, detail in tree.details.items():
            row = here[at]
            details[row] = merge_details(details[row], detail) if row in details else detail
        for at, count in tree.entries.items():
            self._entries[here[at]] = self._entries.get(here[at], 0) + count
        return here

    def tree(self) -> Tree:
        """All that was added, depth first."""
        nodes, parents = depth_first(self.parents)
        details, entries = self._details, self._entries
        return Tree(
            [self._frames[node] for node in nodes],
            parents,
            [self.own[node] or EMPTY for node in nodes],
            {row: details[node] for row, node in enumerate(nodes) if node in details},
            {row: entries[node] for row, node in enumerate(nodes) if node in entries},
        )


def _add(target: dict[str, MetricValue], metrics: Metrics, properties: Collection[str]) -> None:
    """Add `metrics` to `target`. Merging spends its time here: the usual cases come first."""
    for name, value in metrics.items():
        old = target.get(name)
        if old is None or name in properties:
            target[name] = value
        elif type(value) is int and type(old) is int:
            target[name] = old + value
        elif type(value) is str:
            target[name] = value
        else:
            target[name] = add_values(old, value)


def add_values(old: MetricValue | None, new: MetricValue) -> MetricValue:
    """Numbers are added, lists of one length element by element; else the new value stands."""
    if isinstance(old, (int, float)) and isinstance(new, (int, float)):
        return old + new
    if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        return tuple(a + b for a, b in zip(old, new, strict=True))
    return new


def merge_traces(traces: Sequence[Trace]) -> Trace:
    """One trace with every span of `traces`; those with a base time are put on one clock."""
    bases = [trace.base_time_ns for trace in traces if trace.base_time_ns is not None]
    base = min(bases, default=None)
    lanes: dict[str, int] = {}
    merged: list[Lane] = []
    spans: list[Span] = []
    flows: list[Flow] = []
    for trace in traces:
        shift_ns = 0
        if trace.base_time_ns is not None and base is not None:
            shift_ns = trace.base_time_ns - base
        here = []
        for lane in trace.lanes:
            if lane.key not in lanes:
                lanes[lane.key] = len(merged)
                merged.append(lane)
            here.append(lanes[lane.key])
        offset = len(spans)
        spans.extend(
            span._replace(lane=here[span.lane], start_ns=span.start_ns + shift_ns)
            for span in trace.spans
        )
        flows.extend(Flow(flow.source + offset, flow.target + offset) for flow in trace.flows)
    return Trace(merged, spans, flows, base)
