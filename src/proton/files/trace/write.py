"""Profile -> bytes of a chrome trace, with metrics as counters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from proton.files.encoding.schema import PROTON_KEY, ROOT_NAME
from proton.files.encoding.summary import trace_summary
from proton.files.trace.lanes import PROCESS_NAME, Row, default_name, rows_of
from proton.files.trace.read import BASE_TIME, EVENTS
from proton.model.metric import MetricKind, MetricValue
from proton.model.profile import Profile
from proton.model.trace import LaneKind, Span, SpanKind, Trace


def to_chrome(profile: Profile, trace: Trace) -> bytes:
    """`profile`, which holds `trace`, as a compact chrome trace."""
    rows = rows_of(list(trace.lanes))
    events = _naming_events(trace, rows)
    arrows: dict[int, list[dict[str, Any]]] = {}
    for number, flow in enumerate(trace.flows, 1):
        arrows.setdefault(flow.source, []).append({"ph": "s", "id": number})
        arrows.setdefault(flow.target, []).append({"ph": "f", "id": number})
    for index, span in enumerate(trace.spans):
        row = rows[span.lane]
        events.append(_span_event(span, row))
        for arrow in arrows.get(index, ()):  # behind its span: that is how a reader finds it
            arrow |= {"cat": "flow", "name": "launch->kernel", "pid": row.pid, "tid": row.tid}
            arrow |= {"ts": span.start_ns / 1000, "bp": "e"}
            events.append(arrow)
    for counter in count_metrics(trace, profile.metric_kinds):
        events += (
            {"ph": "C", "name": counter.name, "pid": 0, "tid": 0, "ts": time_ns / 1000}
            | {"args": {"value": total}}
            for time_ns, total in counter.samples
        )
    file: dict[str, Any] = {"displayTimeUnit": "us"}
    if trace.base_time_ns is not None:
        file[BASE_TIME] = trace.base_time_ns
    file |= {EVENTS: events, PROTON_KEY: trace_summary(profile)}
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _naming_events(trace: Trace, rows: list[Row]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    if any(lane.kind in (LaneKind.GRAPH, LaneKind.DEVICE, LaneKind.SM) for lane in trace.lanes):
        events.append(_naming_event("process_name", Row(0, 0), "name", PROCESS_NAME))
    for lane, row in zip(trace.lanes, rows, strict=True):
        if lane.name != default_name(row) or lane.kind is not LaneKind.WARP:
            events.append(_naming_event("thread_name", row, "name", lane.name))
        if lane.sort:
            events.append(_naming_event("thread_sort_index", row, "sort_index", lane.sort))
    return events


def _naming_event(name: str, row: Row, key: str, value: str | int) -> dict[str, Any]:
    return {"ph": "M", "name": name, "pid": row.pid, "tid": row.tid, "args": {key: value}}


def _span_event(span: Span, row: Row) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if span.path:
        args["call_stack"] = [ROOT_NAME, *span.path]
    if span.metrics:
        is_text = span.kind in (SpanKind.SCOPE, SpanKind.METRIC)
        args["metrics"] = _metric_texts(span.metrics) if is_text else dict(span.metrics)
    args |= span.attributes
    name = span.name
    if span.kind is SpanKind.METRIC and span.path:
        values = ", ".join(f"<{key}, {_shown(value)}>" for key, value in span.metrics.items())
        name = f"{span.name}: {values}"
    event: dict[str, Any] = {
        "ph": "X",
        "cat": span.kind.value,
        "name": name,
        "pid": row.pid,
        "tid": row.tid,
    }
    event |= {"ts": span.start_ns / 1000, "dur": span.duration_ns / 1000}
    return event | ({"args": args} if args else {})


def _metric_texts(metrics: Mapping[str, MetricValue]) -> dict[str, str]:
    return {key: v if type(v) is str else json.dumps(v) for key, v in metrics.items()}


def _shown(value: MetricValue) -> str:
    return f"{value:.6f}" if type(value) is float else str(value)


class Counter(NamedTuple):
    """One metric over time."""

    name: str
    samples: list[tuple[float, float]]  # (nanoseconds after the base time, sum up to then)


def count_metrics(trace: Trace, kinds: Mapping[str, MetricKind]) -> list[Counter]:
    """One counter a metric, in the order in which they first appear; lists and labels have none.

    A span's metrics count from its end on. A property does not add up: it shows its values.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for span in trace.spans:
        for name, value in span.metrics.items():
            if isinstance(value, (int, float)):
                found.setdefault(name, []).append((span.start_ns + span.duration_ns, value))
    counters = []
    for name, samples in found.items():
        samples.sort(key=lambda sample: sample[0])
        if kinds.get(name) is not MetricKind.PROPERTY:
            sums = accumulate(value for _, value in samples)
            samples = [(time_ns, total) for (time_ns, _), total in zip(samples, sums, strict=True)]
        counters.append(Counter(name, samples))
    return counters
