"""Profile -> bytes of a chrome trace, with metrics as counters."""

from __future__ import annotations

import json
from array import array
from collections import Counter as Counts
from collections.abc import Iterator, Mapping
from itertools import accumulate, chain, compress, islice
from math import isfinite
from typing import Any, NamedTuple

from proton import _core
from proton.files.encoding.schema import PROTON_KEY, ROOT_NAME
from proton.files.encoding.summary import trace_summary
from proton.files.trace.lanes import PROCESS_NAME, Row, default_name, rows_of
from proton.files.trace.read import BASE_TIME, EVENTS
from proton.files.trace.tables import WITH_ROW, SpanTables
from proton.model.columns import take
from proton.model.metric import MetricKind, MetricValue
from proton.model.profile import Profile
from proton.model.span_table import (
    FlowTable,
    Look,
    SpanTable,
    flow_numbers,
    flow_table,
    span_table,
)
from proton.model.trace import LaneKind, SpanKind, Trace

_BATCH = 4096  # events that are encoded at once
_WORDS = ("in", "out")  # ends of arrows
_MOST_DIGITS = 1e15  # past it a number's known spelling is longer than the number


def to_chrome(profile: Profile, trace: Trace) -> bytes:
    """`profile`, which holds `trace`, as a compact chrome trace."""
    spans = span_table(trace.spans)
    rows = rows_of(list(trace.lanes))
    tables = SpanTables()
    file: dict[str, Any] = {"displayTimeUnit": "us"}
    if trace.base_time_ns is not None:
        file[BASE_TIME] = trace.base_time_ns
    pieces = [_json(file)[:-1].encode(), f',"{EVENTS}":['.encode()]
    events = chain(
        map(_json, _naming_events(trace, rows)),
        _SpanEvents(trace, spans, rows, tables).texts(),
        map(_json, _counter_events(profile, trace)),
    )
    while part := list(islice(events, _BATCH)):
        pieces += (",".join(part).encode(), b",")
    if pieces[-1] == b",":
        pieces.pop()
    rest = {PROTON_KEY: trace_summary(profile) | tables.to_object()}
    pieces += (b"],", _json(rest)[1:].encode())
    return b"".join(pieces)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _Texts(NamedTuple):
    """What the events of spans of one look on one lane have in common."""

    head: str  # up to the times
    arguments: str  # behind them, but for the number of a scope
    has_scope_id: bool
    has_row: bool  # in the tables


class _SpanEvents:
    """The events of spans and of arrows as texts: what spans share is put into words once."""

    def __init__(self, trace: Trace, spans: SpanTable, rows: list[Row], tables: SpanTables) -> None:
        self._trace = trace
        self._spans = spans
        self._rows = rows
        self._tables = tables

    def texts(self) -> Iterator[str]:
        """Every event, in the order of the spans."""
        spans, tables = self._spans, self._tables
        bound, arrows = _arrows(flow_table(self._trace.flows), len(spans))
        known: dict[tuple[int, int], _Texts] = {}
        columns = zip(spans.look, spans.lane, spans.start_ns, spans.duration_ns, strict=True)
        for index, (look, lane, start_ns, duration_ns) in enumerate(columns):
            if (found := known.get((look, lane))) is None:
                found = known[look, lane] = self._texts(spans.looks[look], lane)
            if not (isfinite(start_ns) and isfinite(duration_ns)):
                raise ValueError(f"span {index} has a time that JSON cannot hold")
            head, arguments, has_scope_id, has_row = found
            if has_row:
                tables.add(spans.looks[look])
            elif has_scope_id:
                arguments = f',"args":{{"scope_id":{index + 1},{arguments}'
            end = bound[index]
            arrow = "" if not end else f',"bind_id":{abs(end)},"flow_{_WORDS[end > 0]}":true'
            yield (
                f'{head},"ts":{start_ns / 1000!r},"dur":{duration_ns / 1000!r}{arguments}{arrow}}}'
            )
            if index in arrows:  # behind its span: that is how a reader finds it
                row = self._rows[lane]
                for fields in arrows[index]:
                    fields |= {"cat": "flow", "name": "launch->kernel"}
                    fields |= {"pid": row.pid, "tid": row.tid, "ts": start_ns / 1000, "bp": "e"}
                    yield _json(fields)

    def _texts(self, look: Look, number: int) -> _Texts:
        row, lane = self._rows[number], self._trace.lanes[number]
        title = _title(look)
        head = {"ph": "X", "cat": look.kind.value, "name": title, "pid": row.pid, "tid": row.tid}
        arguments = _arguments(look, title)
        is_scope = look.kind in (SpanKind.SCOPE, SpanKind.METRIC)
        has_scope_id = is_scope and lane.kind is LaneKind.HOST and bool(look.path)
        text = ""
        if has_scope_id:  # so there are arguments: the path
            text = _json(arguments)[1:]
        elif arguments:
            text = f',"args":{_json(arguments)}'
        return _Texts(_json(head)[:-1], text, has_scope_id, look.kind in WITH_ROW)


def _arrows(flows: FlowTable, size: int) -> tuple[array[int], dict[int, list[dict[str, Any]]]]:
    """The ends of arrows by span: on the span itself, and as events of their own.

    A span has room for one end, and what is bound to one launch belongs to it: only arrows of spans
    that several lead to, or on from, are events. An end on a span is the number of its arrow,
    negative where the arrow leads to it, 0 where there is none.
    """
    sources = set(flows.source)
    incoming = Counts(flows.target)
    odd = {
        source
        for source, target in zip(flows.source, flows.target, strict=True)
        if incoming[target] > 1 or target in sources or source in incoming
    }
    bound = array("q", bytes(8 * size))
    arrows: dict[int, list[dict[str, Any]]] = {}
    numbers = flow_numbers(flows, by_source=True)
    for number, source, target in zip(numbers, flows.source, flows.target, strict=True):
        if source in odd:
            arrows.setdefault(source, []).append({"ph": "s", "id": number})
            arrows.setdefault(target, []).append({"ph": "f", "id": number})
            continue
        bound[source] = bound[source] or number
        bound[target] = -bound[source]
    return bound, arrows


def _counter_events(profile: Profile, trace: Trace) -> Iterator[dict[str, Any]]:
    for counter in count_metrics(trace, profile.metric_kinds):
        for time_ns, total in counter.samples:
            event = {"ph": "C", "name": counter.name, "pid": 0, "tid": 0, "ts": time_ns / 1000}
            yield event | {"args": {"value": total}}


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


def _title(look: Look) -> str:
    """The name of the event; what is left out of it the path or the tables say."""
    if not look.path:
        return look.name
    if look.kind is SpanKind.METRIC and look.metrics:
        values = ", ".join(f"<{key}, {_shown(value)}>" for key, value in look.metrics.items())
        return f"{look.name}: {values}"
    if look.kind is SpanKind.LAUNCH and type(function := look.attributes.get("function")) is str:
        return function
    is_short = look.kind in (SpanKind.KERNEL, SpanKind.LAUNCH)
    return _core.short_name(look.name) if is_short else look.name


def _arguments(look: Look, title: str) -> dict[str, Any]:
    args: dict[str, Any] = {}
    if look.path:
        own = title if look.kind is SpanKind.LAUNCH else look.path[-1]
        args["call_stack"] = [ROOT_NAME, *look.path[:-1], own]
    if look.metrics:
        is_text = look.kind in (SpanKind.SCOPE, SpanKind.METRIC)
        args["metrics"] = _metric_texts(look.metrics) if is_text else dict(look.metrics)
    return args if look.kind in WITH_ROW else {**args, **look.attributes}


def _metric_texts(metrics: Mapping[str, MetricValue]) -> dict[str, str]:
    return {key: v if type(v) is str else _exact(v) for key, v in metrics.items()}


def _exact(value: MetricValue) -> str:
    """As known traces have it ("1.000000") where that reads back exactly, else JSON."""
    if type(value) is float and abs(value) < _MOST_DIGITS and float(f"{value:.6f}") == value:
        return f"{value:.6f}"
    return json.dumps(value, separators=(",", ":"))


def _shown(value: MetricValue) -> str:
    return f"{value:.6f}" if type(value) is float else str(value)


class Counter(NamedTuple):
    """One metric over time."""

    name: str
    samples: list[tuple[float, float]]  # (nanoseconds after the base time, sum up to then)


def count_metrics(trace: Trace, kinds: Mapping[str, MetricKind]) -> list[Counter]:
    """One counter a metric, in the order in which they first appear.

    Lists and labels have none, nor have metrics with a single sample: there is nothing to draw.
    A span's metrics count from its end on. A property does not add up: it shows its values.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    spans = span_table(trace.spans)
    has_metrics = array("B", [bool(look.metrics) for look in spans.looks])
    for at in compress(range(len(spans)), take(has_metrics, spans.look)):
        end_ns = spans.start_ns[at] + spans.duration_ns[at]
        for name, value in spans.looks[spans.look[at]].metrics.items():
            if isinstance(value, (int, float)):
                found.setdefault(name, []).append((end_ns, value))
    counters = []
    for name, samples in found.items():
        if len(samples) < 2:
            continue
        samples.sort(key=lambda sample: sample[0])
        if kinds.get(name) is not MetricKind.PROPERTY:
            sums = accumulate(value for _, value in samples)
            samples = [(time_ns, total) for (time_ns, _), total in zip(samples, sums, strict=True)]
        counters.append(Counter(name, samples))
    return counters
