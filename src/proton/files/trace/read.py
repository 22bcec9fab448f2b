"""Chrome traces: plain objects -> trace.

Reads our own traces, those of Triton's profiler (of GPU activity and from inside kernels), and of
anyone else's the complete, paired, instant, flow and naming events; what it leaves out it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_text, short
from proton.files.encoding.schema import PROTON_KEY, ROOT_NAME
from proton.files.trace.events import (
    EventError,
    FlowEnds,
    attributes_of,
    kind_at,
    kind_of,
    metrics_of,
    pair_key,
    plain_of,
    row_of,
    time_of,
)
from proton.files.trace.lanes import LaneNames, Row
from proton.files.trace.tables import TABLES_KEY, has_row, read_rows
from proton.files.trace.tables import Row as TableRow
from proton.model.metric import EMPTY, Metrics
from proton.model.span_table import Look
from proton.model.trace import Span, SpanKind, Trace

EVENTS = "traceEvents"
ATTRIBUTES_NOT_READ = "launch attributes not read: somebody changed the events"
BASE_TIME = "baseTimeNanoseconds"
_NO_ROW = TableRow()
_LAST_PLACE = 2**63 - 1  # of rows: writers have signed numbers


class TraceFile(NamedTuple):
    """A trace, its `proton` object (None in files that are not ours), and what was left out."""

    trace: Trace
    summary: Any
    warnings: tuple[str, ...]


class _Event(NamedTuple):
    """A span before its lane and base time are known."""

    name: str
    kind: SpanKind
    row: Row
    start_us: float
    duration_us: float
    path: tuple[str, ...]
    metrics: Metrics
    attributes: Metrics


def is_trace(value: Any) -> bool:
    """Whether a parsed JSON file is meant as a chrome trace."""
    if type(value) is dict:
        return EVENTS in value
    return type(value) is list and bool(value) and type(value[0]) is dict and "ph" in value[0]


def read_trace(value: Any, source: str) -> TraceFile:
    """The trace in a parsed JSON file.

    Raises:
        FormatError: An event is not as the format says; the message has its number.
    """
    events = value[EVENTS] if type(value) is dict else value
    base = value.get(BASE_TIME) if type(value) is dict else None
    if type(events) is not list:
        raise FormatError(f"{source}: {EVENTS} must be a list, not {short(events)}")
    if base is not None and not is_integer(base):
        raise FormatError(f"{source}: {BASE_TIME} must be an integer, not {short(base)}")
    summary = value.get(PROTON_KEY) if type(value) is dict else None
    tables = summary.get(TABLES_KEY) if type(summary) is dict else None
    rows = None if tables is None else read_rows(tables, events, source)
    reader = TraceReader(is_ours=type(value) is dict and PROTON_KEY in value, rows=rows)
    for number, event in enumerate(events):
        try:
            reader.add(event)
        except EventError as fault:
            raise FormatError(f"{source}: event {number} {fault}") from None
    trace = reader.trace(base)
    if trace.base_time_ns is not None and not is_integer(trace.base_time_ns):
        raise FormatError(f"{source}: times are beyond what 64 bits of nanoseconds hold")
    warnings = reader.warnings()
    if tables is not None and rows is None:
        warnings = (*warnings, ATTRIBUTES_NOT_READ)
    return TraceFile(trace, summary, warnings)


class TraceReader:
    """Takes events one by one and puts the trace together."""

    def __init__(self, *, is_ours: bool, rows: Iterator[TableRow] | None = None) -> None:
        self.is_ours = is_ours
        self._rows = rows
        self.names = LaneNames()
        self._events: list[_Event] = []
        self.flows = FlowEnds()
        self._open: dict[object, list[_Event]] = {}
        self.skipped: Counter[str] = Counter()
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}  # call stack -> path

    def add(self, event: Any) -> None:
        """Take one event of the file."""
        if type(event) is not dict:
            raise EventError(f"must be an object, not {short(event)}")
        phase = event.get("ph")
        if phase == "X":
            self._bind(event, len(self._events))
            self._take(self._event(event, time_of(event, "dur", 0)))
        elif phase in ("B", "b"):
            self._open.setdefault(pair_key(event), []).append(self._event(event, 0))
        elif phase in ("E", "e"):
            self._end(event)
        elif phase in ("i", "I", "R"):
            self._take(self._event(event, 0))
        elif phase in ("s", "t", "f"):
            identity = (plain_of(event, "cat"), plain_of(event, "id"))
            self.flows.add(identity, phase == "s", row_of(event), time_of(event, "ts"))
        elif phase == "M":
            self.name(event)
        elif phase == "C" and self.is_ours:
            pass  # counters repeat what the spans carry
        elif type(phase) is str:
            self.skip(phase, 1)
        else:
            raise EventError(f"has a phase that is not text but {short(phase)}")

    def _event(self, event: dict[str, Any], duration_us: float) -> _Event:
        table = next(self._rows) if self._rows is not None and has_row(event) else _NO_ROW
        row, look = self.look(event, table)
        return _Event(
            look.name,
            look.kind,
            row,
            time_of(event, "ts"),
            duration_us,
            look.path,
            look.metrics,
            look.attributes,
        )

    def skip(self, phase: str, count: int) -> None:
        """Count events of a phase that is not read."""
        self.skipped[f"phase {short(phase)}"] += count

    def look(self, event: dict[str, Any], table: TableRow = _NO_ROW) -> tuple[Row, Look]:
        """Where an event stands, and all that it and `table` say but its time."""
        name = event.get("name", "")
        if not is_text(name):
            raise EventError(f"has a name that is not text but {short(name)}")
        row = row_of(event)
        args = event.get("args")
        if type(args) is not dict:
            args = {}
        attributes = table.attributes
        if attributes is EMPTY and self.is_ours:
            attributes = attributes_of(args)
        kind = kind_of(event.get("cat"), attributes)
        if type(row.tid) is str and row.tid.startswith("warp "):
            kind = SpanKind.SCOPE  # inside a kernel; the category is the kernel's name
        path = self.path(args.get("call_stack"))
        if table.name is not None:
            name, path = self.renamed(path, table.name)
        else:
            name, kind, path = self.named(name, kind, path)
        return row, Look(name, kind, path, metrics_of(args), attributes)

    def named(
        self, name: str, kind: SpanKind, path: tuple[str, ...]
    ) -> tuple[str, SpanKind, tuple[str, ...]]:
        """The name, kind and path of an event of that name with that call stack."""
        if path and (kind is SpanKind.METRIC or self.is_ours):
            return (
                path[-1],
                kind_at(kind, path),
                path,
            )  # the event's own tells values as well, or is short
        if path and path[-1] != name:
            path = (*path, name)
        return name, kind_at(kind, path), path

    def renamed(self, path: tuple[str, ...], name: str) -> tuple[str, tuple[str, ...]]:
        """The name and path of a launch that the tables name."""
        return name, self.path([*path[:-1], name]) if path else ()

    def _bind(self, event: dict[str, Any], span: int) -> None:
        """Take the end of an arrow that stands on its span."""
        if (identity := plain_of(event, "bind_id")) is None:
            return
        for key, is_source in (("flow_out", True), ("flow_in", False)):
            if event.get(key) is True:
                self.flows.bind(("bind_id", identity), is_source, span)

    def path(self, stack: Any) -> tuple[str, ...]:
        """The path that a call stack is.

        Raises:
            EventError: It is not a list of names.
        """
        if stack is None:
            return ()
        try:
            known = self._paths.get(tuple(stack)) if type(stack) is list else None
        except TypeError:
            known = None
        if known is not None:
            return known
        if type(stack) is not list or not all(map(is_text, stack)):
            raise EventError("has a call_stack that is not a list of names")
        path = tuple(stack[1:] if stack[:1] == [ROOT_NAME] else stack)
        self._paths[tuple(stack)] = path
        return path

    def _take(self, event: _Event) -> None:
        if event.duration_us < 0:
            self.skipped["negative duration"] += 1
            event = event._replace(duration_us=0)
        self.flows.see(event.row, event.start_us, event.duration_us, len(self._events))
        self._events.append(event)

    def _end(self, event: dict[str, Any]) -> None:
        begun = self._open.get(pair_key(event))
        if not begun:
            self.skipped["end without a begin"] += 1
            return
        start = begun.pop()
        self._take(start._replace(duration_us=time_of(event, "ts") - start.start_us))

    def name(self, event: dict[str, Any]) -> None:
        """Take an event that names a process or a thread."""
        args = event.get("args")
        what = event.get("name")
        if type(args) is not dict:
            return
        row = row_of(event)
        if what == "thread_name" and is_text(args.get("name")):
            self.names.threads[row] = args["name"]
        elif what == "process_name" and is_text(args.get("name")):
            self.names.processes[row.pid] = args["name"]
        elif what == "thread_sort_index" and is_integer(place := args.get("sort_index")):
            self.names.sorts[row] = min(place, _LAST_PLACE)

    def trace(self, base: int | None) -> Trace:
        """The trace, once every event was taken."""
        first_us = min((event.start_us for event in self._events), default=0)
        shift_us = int(first_us) if first_us > 1e12 else 0  # absolute times lose digits in ns
        rows: dict[Row, int] = {}
        spans = [
            Span(
                event.name,
                event.kind,
                rows.setdefault(event.row, len(rows)),
                _to_ns(event.start_us - shift_us),
                _to_ns(event.duration_us),
                event.path,
                event.metrics,
                event.attributes,
            )
            for event in self._events
        ]
        busy = {event.row for event in self._events if event.kind is SpanKind.KERNEL}
        lanes = [self.names.lane(row, has_kernels=row in busy) for row in rows]
        if shift_us:
            base = (base or 0) + shift_us * 1000
        return Trace(lanes, spans, self.flows.flows(), base)

    def warnings(self) -> tuple[str, ...]:
        """One line for each sort of event that is not in the trace as the file has it."""
        unclosed = sum(map(len, self._open.values()))
        if unclosed:
            self.skipped["begin without an end"] += unclosed
        if self.flows.unbound:
            self.skipped["flow without both ends"] += self.flows.unbound
        return tuple(f"{n} events not read: {what}" for what, n in sorted(self.skipped.items()))


def _to_ns(time_us: float) -> float:
    # Rounded, so that writing and reading again gives the same number: to a picosecond, or to
    # whole nanoseconds where a double holds no more.
    time_ns = time_us * 1000
    return float(round(time_ns, 3) if abs(time_ns) < 2**40 else round(time_ns))
