"""Which row of a chrome trace is which lane: ids, names and kinds.

Rows have a process and a thread id. Those of our own and of Triton's traces say by their numbers
what they are; others by the names that the trace gives them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from proton.model.span_table import flow_table, numbered_flows
from proton.model.trace import Flow, Lane, LaneKind, Span, Trace

GRAPH_BASE = 100_000
STREAM_BASE = 200_000
SM_BASE = 300_000
PROCESS_NAME = "Trace"
_SM = re.compile(r"GPU (\d+ )?SM \d+").fullmatch
_RANK = re.compile(r"rank \d+ ").match
_STREAM = re.compile(r"(?i)\b(gpu|stream|interpreter)\b").search


class Row(NamedTuple):
    """The ids of a row; Triton's in-kernel traces have texts in place of numbers."""

    pid: int | str
    tid: int | str


class LaneNames:
    """What the metadata events of a trace say about its rows."""

    def __init__(self) -> None:
        self.processes: dict[int | str, str] = {}
        self.threads: dict[Row, str] = {}
        self.sorts: dict[Row, int] = {}

    def lane(self, row: Row, *, has_kernels: bool) -> Lane:
        """The lane that stands for `row`; an unnamed one with kernels is a stream."""
        name = self.threads.get(row)
        process = self.processes.get(row.pid, PROCESS_NAME)
        if name is None:
            name = default_name(row, process)
            if has_kernels and row.pid == 0 and type(row.tid) is int and row.tid < GRAPH_BASE:
                name = f"GPU Stream {row.tid}"  # Triton 3.6: the stream is the thread
        elif process != PROCESS_NAME:
            name = f"{process} {name}"
        return Lane(json.dumps(row), name, _kind(row, name), self.sorts.get(row, 0))


def default_name(row: Row, process: str = PROCESS_NAME) -> str:
    """The name of a row that the trace does not name."""
    if row.pid != 0 or type(row.tid) is not int:
        return f"{row.pid if process == PROCESS_NAME else process} {row.tid}"
    if SM_BASE <= row.tid < SM_BASE + STREAM_BASE - GRAPH_BASE:
        return f"GPU SM {row.tid - SM_BASE}"
    if row.tid >= STREAM_BASE:
        return f"GPU Stream {row.tid - STREAM_BASE}"
    if row.tid >= GRAPH_BASE:
        return f"Graph: Stream {row.tid - GRAPH_BASE}"
    return f"CPU Thread {row.tid}"


def _kind(row: Row, name: str) -> LaneKind:
    if type(row.tid) is str and row.tid.startswith("warp "):
        return LaneKind.WARP
    if prefix := _RANK(name):  # merged traces say whose lane it is
        name = name[prefix.end() :]
    if name.startswith("Graph: "):
        return LaneKind.GRAPH
    if _SM(name):
        return LaneKind.SM
    return LaneKind.DEVICE if _STREAM(name) else LaneKind.HOST


def rows_of(lanes: list[Lane]) -> list[Row]:
    """A row for every lane: the one it was read from, or a free one of its kind."""
    bases = {
        LaneKind.GRAPH: GRAPH_BASE,
        LaneKind.DEVICE: STREAM_BASE,
        LaneKind.SM: SM_BASE,
    }
    found = [row_of_key(lane.key) for lane in lanes]
    taken = set(found)
    rows = []
    for lane, row in zip(lanes, found, strict=True):
        number = bases.get(lane.kind, 0)
        while row is None:
            tid = f"warp {number}" if lane.kind is LaneKind.WARP else number
            if (free := Row(0, tid)) not in taken:
                row = free
                taken.add(row)
            number += 1
        rows.append(row)
    return rows


def row_of_key(key: str) -> Row | None:
    """The row that a lane was read from, or None."""
    try:
        ids = json.loads(key)
    except ValueError:
        return None
    if type(ids) is list and len(ids) == 2 and all(type(part) in (int, str) for part in ids):
        return Row(*ids)
    return None


def in_order(
    lanes: Sequence[Lane],
    spans: Sequence[Span],
    flows: Sequence[Flow] = (),
    base_time_ns: int | None = None,
) -> Trace:
    """A trace with spans by start, the longer first, then by lane; lanes as spans first use them.

    What is equal in all of that stays in the order given.
    """
    keys = [lane.key for lane in lanes]
    order = sorted(
        range(len(spans)),
        key=lambda at: (spans[at].start_ns, -spans[at].duration_ns, keys[spans[at].lane]),
    )
    place = [0] * len(order)
    moved: dict[int, int] = {}
    sorted_spans = []
    for new, old in enumerate(order):
        place[old] = new
        span = spans[old]
        lane = moved.setdefault(span.lane, len(moved))
        sorted_spans.append(span if lane == span.lane else span._replace(lane=lane))
    table = flow_table(flows)
    ids = table.ids or [0] * len(table)
    sorted_flows = numbered_flows(
        [
            (place[a], place[b], number)
            for a, b, number in zip(table.source, table.target, ids, strict=True)
        ]
    )
    return Trace([lanes[lane] for lane in moved], sorted_spans, sorted_flows, base_time_ns)
