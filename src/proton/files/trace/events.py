"""The events of a chrome trace: their fields, checked, and which spans an arrow connects."""

from __future__ import annotations

import json
from bisect import bisect_right
from typing import Any, NamedTuple

from proton.files.encoding.checks import is_integer, is_number, is_text, read_attributes, short
from proton.files.trace.lanes import Row
from proton.model.frame import METADATA_SCOPE, VALUE_READ
from proton.model.metric import DEVICE_ID, DEVICE_TYPE, EMPTY, Metrics, MetricValue
from proton.model.span_table import FlowTable, numbered_flows
from proton.model.trace import SpanKind

_MAX_TIME_US = 1e16  # 300 years
_KNOWN_ARGUMENTS = {"call_stack", "scope_id", "metrics"}
_KINDS = {kind.value: kind for kind in SpanKind}


class EventError(ValueError):
    """What is wrong with an event, as the end of a sentence."""


def row_of(event: dict[str, Any]) -> Row:
    """The row the event stands on; process and thread 0 where it does not say."""
    return Row(_id(event, "pid"), _id(event, "tid"))


def _id(event: dict[str, Any], key: str) -> int | str:
    value: object = event.get(key, 0)
    if is_integer(value) or is_text(value):
        return value
    raise EventError(f"has a {key} that is neither integer nor text but {short(value)}")


def plain_of(event: dict[str, Any], key: str) -> object:
    """The field if it is an integer or text, else None."""
    value = event.get(key)
    return value if is_integer(value) or is_text(value) else None


def kind_of(category: object, attributes: Metrics = EMPTY) -> SpanKind:
    """The kind of span that a category stands for.

    Files of Proton 0.1 had launches among scopes; the attribute `function` tells them.
    """
    kind = _KINDS.get(category, SpanKind.OTHER) if type(category) is str else SpanKind.OTHER
    return SpanKind.LAUNCH if kind is SpanKind.SCOPE and "function" in attributes else kind


def kind_at(kind: SpanKind, path: tuple[str, ...]) -> SpanKind:
    """The kind of a span of a path: a kernel that only read a metric's value is no work."""
    is_read = kind is SpanKind.KERNEL and path[-1:] == (VALUE_READ,) and METADATA_SCOPE in path
    return SpanKind.METRIC if is_read else kind


def pair_key(event: dict[str, Any]) -> object:
    """What a begin and its end have in common."""
    if event["ph"] in "BE":
        return row_of(event)
    return tuple(plain_of(event, key) for key in ("pid", "cat", "id", "name"))


def time_of(event: dict[str, Any], key: str, default: float | None = None) -> float:
    """The field as a time in microseconds."""
    value: object = event.get(key, default)
    if is_number(value) and -_MAX_TIME_US <= value <= _MAX_TIME_US:
        return value
    raise EventError(f"has a {key} that is not a time in microseconds but {short(value)}")


def metrics_of(args: dict[str, Any]) -> Metrics:
    """The metrics among the arguments of an event."""
    found = args.get("metrics")
    if found is None or found == {}:
        return EMPTY
    if type(found) is not dict:
        raise EventError(f"has metrics that are not an object but {short(found)}")
    return {name: _metric(name, value) for name, value in found.items()}


def attributes_of(args: dict[str, Any]) -> Metrics:
    """The launch attributes among the arguments of an event that we wrote."""
    if args.keys() <= _KNOWN_ARGUMENTS:
        return EMPTY
    found = {name: value for name, value in args.items() if name not in _KNOWN_ARGUMENTS}
    return read_attributes(found)


def _metric(name: object, value: object) -> MetricValue:
    """Scopes have their numbers as texts, kernels as numbers."""
    if not is_text(name) or not name:
        raise EventError(f"has a metric whose name is {short(name)}")
    if is_text(value):
        if name in (DEVICE_ID, DEVICE_TYPE):
            return str(value)
        try:
            parsed = json.loads(value, parse_constant=str)
        except (ValueError, RecursionError):
            return str(value)
        if not is_number(parsed) and type(parsed) is not list:
            return str(value)
        value = parsed
    if type(value) is list and all(map(is_number, value)):
        return tuple(value)
    if is_number(value):
        return value
    raise EventError(f"has a metric {short(name)} that is not a number but {short(value)}")


_NO_ROW = Row(0, 0)


class _End(NamedTuple):
    """One end: on which row and when, and the span it followed in the file, if that fits."""

    row: Row
    time_us: float
    span: int | None


class _Seen(NamedTuple):
    """A span that ends may lie in. Sorts by start."""

    start_us: float
    end_us: float
    span: int


def _number_in(identity: object) -> int:
    """The id of a flow where it is a number; else 0."""
    number = identity[-1] if isinstance(identity, tuple) else identity
    return number if type(number) is int else 0


class FlowEnds:
    """Collects the ends of flows and the spans they may belong to, in the order of the file."""

    def __init__(self) -> None:
        self._sources: dict[object, list[_End]] = {}
        self._targets: dict[object, list[_End]] = {}
        self._rows: dict[Row, list[_Seen]] = {}
        self.unbound = 0  # ends that no span or no other end was found for

    def see(self, row: Row, start_us: float, duration_us: float, span: int) -> None:
        """Note a span."""
        self._rows.setdefault(row, []).append(_Seen(start_us, start_us + duration_us, span))

    def add(self, identity: object, is_source: bool, row: Row, time_us: float) -> None:
        """Note an end. Written right behind its span and at its start, it surely belongs to it."""
        seen = self._rows.get(row)
        span = seen[-1].span if seen and seen[-1].start_us == time_us else None
        self._note(identity, is_source, _End(row, time_us, span))

    def bind(self, identity: object, is_source: bool, span: int) -> None:
        """Note an end that stands on its span."""
        self._note(identity, is_source, _End(_NO_ROW, 0.0, span))

    def _note(self, identity: object, is_source: bool, end: _End) -> None:
        ends = self._sources if is_source else self._targets
        ends.setdefault(identity, []).append(end)

    def flows(self) -> FlowTable:
        """The flows whose both ends lie in a span, in the order of the spans."""
        for spans in self._rows.values():
            spans.sort()
        found: list[tuple[int, int, int]] = []
        self.unbound = 0
        for identity, sources in self._sources.items():
            targets = self._targets.pop(identity, [])
            if len(sources) == 1 and targets:
                sources = sources * len(targets)
            self.unbound += abs(len(sources) - len(targets))
            for source, target in zip(sources, targets, strict=False):
                ends = self._span_at(source), self._span_at(target)
                if ends[0] is None or ends[1] is None:
                    self.unbound += 2
                else:
                    found.append((ends[0], ends[1], _number_in(identity)))
        self.unbound += sum(map(len, self._targets.values()))
        return numbered_flows(found)

    def _span_at(self, end: _End) -> int | None:
        """The innermost span around the end, else None."""
        if end.span is not None:
            return end.span
        spans = self._rows.get(end.row, [])
        position = bisect_right(spans, end.time_us, key=lambda seen: seen.start_us)
        # Spans nest, so few of those that start before can have ended: but a hostile file's may.
        for seen in reversed(spans[max(0, position - 64) : position]):
            if seen.end_us >= end.time_us:
                return seen.span
        return None
