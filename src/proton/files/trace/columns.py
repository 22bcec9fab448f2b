"""Chrome traces through the native core: bytes -> trace in columns, no object for each event.

The core takes times and ids out of the events, and call stacks apart; what remains is the same few
texts again and again, of which the reader of `read.py` reads each once. What the core does not know
that reader takes whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proton import _core
from proton.errors import FormatError
from proton.files.encoding.checks import is_integer
from proton.files.encoding.decode_json import decode_json
from proton.files.encoding.schema import PROTON_KEY
from proton.files.trace.events import EventError, plain_of, row_of
from proton.files.trace.lanes import Row
from proton.files.trace.read import ATTRIBUTES_NOT_READ, BASE_TIME, TraceFile, TraceReader
from proton.files.trace.tables import TABLES_KEY, ReadTables, has_row, read_tables
from proton.model.columns import NONE, take
from proton.model.span_table import FlowTable, Look, SpanTable
from proton.model.trace import SpanKind, Trace

_HEAD = 1 << 16  # bytes among which the first event begins
_BATCH = 4096  # texts that are parsed at once
_NONE, _SPAN, _SOURCE, _TARGET, _INSTANT = range(5)  # what events are, as the core numbers it
_NO_ROLE = (_NONE, 0, 0)
_ROLES = {"X": _SPAN, "i": _INSTANT, "I": _INSTANT, "R": _INSTANT}
_ENDS = {"s": _SOURCE, "t": _TARGET, "f": _TARGET}
_PAIRED = ("B", "E", "b", "e")
_WITH_ROW, _LAUNCH = 1, 2  # spans that the tables say something of
_OUT, _IN = 1, 2
_HEADS, _ARGUMENTS, _STACKS = range(3)  # parts of events, as the core numbers them
_NO_NUMBER = -1
_NO_LOOK = Look("", SpanKind.OTHER)


class UnknownToCoreError(Exception):
    """The trace has something that the core does not read."""


def read_columns(data: bytes, source: str) -> TraceFile | None:
    """The trace in a file of JSON; None where it is no trace, or takes `read_trace` to read it."""
    if not _is_json_trace(data[:_HEAD]) or (scanner := _core.event_scanner()) is None:
        return None
    return _read(scanner, source) if scanner.scan(data) else None


def read_large(path: str, source: str) -> TraceFile | None:
    """As `read_columns`, of a file that is not held in memory as a whole."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if not _is_json_trace(head) or (scanner := _core.event_scanner()) is None:
        return None
    return _read(scanner, source) if scanner.scan_file(path) else None


def _is_json_trace(head: bytes) -> bool:
    return head.lstrip(b" \t\r\n")[:1] in (b"[", b"{") and b'"ph"' in head


def _read(scanner: Any, source: str) -> TraceFile | None:
    try:
        return _read_known(scanner, source)
    except (UnknownToCoreError, EventError, FormatError):
        return None  # if it is wrong, then reading it the long way says so, and where


def _read_known(scanner: Any, source: str) -> TraceFile:
    outside = decode_json(scanner.outside(), source)
    is_object = type(outside) is dict
    base = outside.get(BASE_TIME) if is_object else None
    if base is not None and not is_integer(base):
        raise UnknownToCoreError
    reader = TraceReader(is_ours=is_object and PROTON_KEY in outside)
    shapes = _Shapes(reader, to_array("I", scanner.counts()), to_array("I", scanner.lasts()))
    shapes.take(scanner, source)
    columns = scanner.bind(shapes.roles)
    if columns is None:
        raise UnknownToCoreError
    if columns["negative"]:
        reader.skipped["negative duration"] += columns["negative"]
    reader.flows.unbound = columns["unbound"]
    rows = list(shapes.rows)
    lanes = [
        reader.names.lane(rows[row], has_kernels=row in shapes.with_kernels)
        for row in columns["rows"]
    ]
    if shift_us := int(columns["shift_us"]):
        base = (base or 0) + shift_us * 1000
        if not is_integer(base):
            raise UnknownToCoreError
    spans, flows = tables_of(shapes.looks, columns)
    warnings = reader.warnings()
    summary = outside.get(PROTON_KEY) if is_object else None
    if (tables := summary.get(TABLES_KEY) if type(summary) is dict else None) is not None:
        found = _with_rows(spans, read_tables(tables, source), shapes.with_row, reader)
        if found is None:
            warnings = (*warnings, ATTRIBUTES_NOT_READ)
        spans = found or spans
    return TraceFile(Trace(lanes, spans, flows, base), summary, warnings)


def _with_rows(
    spans: SpanTable, tables: ReadTables, with_row: array[int], reader: TraceReader
) -> SpanTable | None:
    """The spans with what the tables say of them; None where the tables are of other spans."""
    kinds = take(with_row, spans.look)
    launches = kinds.count(_LAUNCH)
    if launches + kinds.count(_WITH_ROW) != len(tables.attributes_of):
        return None
    if launches != len(tables.names_of):
        return None
    attributes, names = iter(tables.attributes_of), iter(tables.names_of)
    numbers: dict[tuple[int, int, int], int] = {}
    column = array("I")
    for look, kind in zip(spans.look, kinds, strict=True):
        key = (
            look,
            next(attributes) if kind else _NO_NUMBER,
            next(names) if kind == _LAUNCH else _NO_NUMBER,
        )
        column.append(numbers.setdefault(key, len(numbers)))
    looks = []
    for at, attribute, name in numbers:
        shared = spans.looks[at]
        if attribute > 0:
            shared = shared._replace(attributes=tables.attributes[attribute])
        if name >= 0:
            own, path = reader.renamed(shared.path, tables.names[name])
            shared = shared._replace(name=own, path=path)
        looks.append(shared)
    return SpanTable(looks, column, spans.lane, spans.start_ns, spans.duration_ns)


def _arrows(event: dict[str, Any]) -> int:
    """The ends of arrows that stand on an event, as the core numbers them."""
    found = _OUT * (event.get("flow_out") is True) + _IN * (event.get("flow_in") is True)
    if found and plain_of(event, "bind_id") is not None:
        raise UnknownToCoreError  # no whole number
    return found


def _parsed(scanner: Any, part: int, source: str) -> Iterator[Any]:
    """One part of events, of which the core found the texts."""
    at = 0
    while texts := scanner.texts(part, at, _BATCH):
        values = decode_json(b"[" + b",".join(texts) + b"]", source)
        if len(values) != len(texts):
            raise UnknownToCoreError
        yield from values
        at += len(texts)


class _Sort(NamedTuple):
    """Events that differ in their call stack at most."""

    phase: str
    event: dict[str, Any]
    look: Look = _NO_LOOK
    role: tuple[int, int, int] = _NO_ROLE
    with_row: int = 0


class _Shapes:
    """What the events are that the core found to be alike."""

    def __init__(self, reader: TraceReader, counts: array[int], lasts: array[int]) -> None:
        self._reader = reader
        self._counts = counts
        self._lasts = lasts
        self._categories: dict[object, int] = {}
        self.roles: list[tuple[int, int, int]] = []
        self.looks: list[Look] = []
        self.rows: dict[Row, int] = {}
        self.with_kernels: set[int] = set()
        self.with_row = array("B")  # by shape: whether its spans have a row in the tables

    def take(self, scanner: Any, source: str) -> None:
        """Take what the core found, in the order of the file."""
        heads = list(_parsed(scanner, _HEADS, source))
        arguments = list(_parsed(scanner, _ARGUMENTS, source))
        paths = list(map(self._reader.path, _parsed(scanner, _STACKS, source)))
        columns = (to_array("I", column) for column in scanner.shapes())
        sorts: dict[tuple[int, int], _Sort] = {}
        named = self._reader.named
        names = []
        for number, (head, args, stack) in enumerate(zip(*columns, strict=True)):
            if (found := sorts.get((head, args))) is None:
                found = self._sort(heads[head], None if args == NONE else arguments[args])
                sorts[head, args] = found
            phase, event, look, role, with_row = found
            if look is not _NO_LOOK:
                if stack != NONE:
                    name, kind, _, metrics, attributes = look
                    look = Look(*named(name, kind, paths[stack]), metrics, attributes)
            elif phase == "M":
                names.append((self._lasts[number], event))
            elif role is _NO_ROLE and not (phase == "C" and self._reader.is_ours):
                self._reader.skip(phase, self._counts[number])
            self.looks.append(look)
            self.roles.append(role)
            self.with_row.append(with_row)
        for _, event in sorted(names, key=lambda name: name[0]):  # the last of a row counts
            self._reader.name(event)

    def _sort(self, event: dict[str, Any], arguments: dict[str, Any] | None) -> _Sort:
        """What events with this head and these arguments are."""
        if "ts" in event or "dur" in event:
            raise UnknownToCoreError  # no plain number
        if arguments is not None:
            if "args" in event or "call_stack" in arguments:
                raise UnknownToCoreError  # twice
            event = {**event, "args": arguments}
        phase = event.get("ph")
        if type(phase) is not str or phase in _PAIRED:
            raise UnknownToCoreError
        if phase in _ENDS:
            return _Sort(phase, event, role=self._end(event, _ENDS[phase]))
        if phase not in _ROLES:
            return _Sort(phase, event)
        row, look = self._reader.look(event)
        at = self.rows.setdefault(row, len(self.rows))
        if look.kind is SpanKind.KERNEL:
            self.with_kernels.add(at)
        with_row = _WITH_ROW if has_row(event) else 0
        if with_row and event["cat"] == SpanKind.LAUNCH.value:
            with_row = _LAUNCH
        role = (_ROLES[phase], at, _arrows(event) if phase == "X" else 0)
        return _Sort(phase, event, look, role, with_row)

    def _end(self, event: dict[str, Any], kind: int) -> tuple[int, int, int]:
        if "id" in event:
            raise UnknownToCoreError  # no whole number
        row = self.rows.setdefault(row_of(event), len(self.rows))
        category = self._categories.setdefault(plain_of(event, "cat"), len(self._categories))
        return kind, row, category


def tables_of(looks: list[Look], columns: Mapping[str, Any]) -> tuple[SpanTable, FlowTable]:
    """The spans and flows in columns of the core."""
    spans = SpanTable(
        looks,
        to_array("I", columns["shape"]),
        to_array("I", columns["lane"]),
        to_array("d", columns["start_ns"]),
        to_array("d", columns["duration_ns"]),
    )
    flows = FlowTable(
        to_array("I", columns["source"]),
        to_array("I", columns["target"]),
        to_array("Q", columns["flow_id"]),
    )
    return spans, flows


def to_array(letter: str, content: bytes) -> array[Any]:
    """The numbers of the core in `content`."""
    found: array[Any] = array(letter)
    found.frombytes(content)
    return found
