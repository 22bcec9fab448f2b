"""A journal -> Profile: the open phase of a session whose process did not write it itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from proton.errors import FormatError
from proton.files.journal.format import JournalContent, is_alive, unpack
from proton.files.trace.lanes import in_order
from proton.model.origins import merge_origins
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import Flow, LaneKind, Span, Trace

ReadProfile = Callable[[bytes, str], Profile]


def read_journal(data: bytes, source: str, read: ReadProfile) -> Profile:
    """The profile that a journal holds, with a warning of what it is; `read` reads its chunks.

    Raises:
        FormatError: not a single chunk of it is whole.
    """
    content = unpack(data)
    if not content.chunks:
        raise FormatError(f"{source}: nothing to recover: {_why_nothing(content, len(data))}")
    parts = [read(chunk, source) for chunk in content.chunks]
    profile = parts[-1]
    if isinstance(profile, TraceProfile):
        # the last chunk says what is known of the recording as a whole
        profile = replace(
            profile,
            trace=join_traces([part.trace for part in parts if isinstance(part, TraceProfile)]),
            metric_kinds={name: kind for part in parts for name, kind in part.metric_kinds.items()},
            origins=merge_origins(part.origins for part in parts),  # each in the first that had it
        )
    texts = [describe(content.facts, profile.header.end_time_ns)]
    if content.lost_bytes:
        texts.append(
            f"the journal is damaged after {len(data) - content.lost_bytes} bytes: the last "
            f"{content.lost_bytes} could not be read"
        )
    return replace(profile, source=source, warnings=(*profile.warnings, *texts))


def _why_nothing(content: JournalContent, size: int) -> str:
    if not content.facts:
        return f"the journal is torn in its first chunk ({size} bytes)"
    pid = content.facts.get("pid")
    if content.lost_bytes:
        return f"the journal of process {pid} is torn in its first chunk of data"
    return f"process {pid} had not recorded anything yet"


def describe(facts: Mapping[str, Any], end_time_ns: int | None) -> str:
    """What to say of a recording that is known up to a point in time, by its journal's facts."""
    until = time_text(end_time_ns)
    pid = facts.get("pid")
    if is_alive(facts):
        return f"a profile in the making: process {pid} is still running; data up to {until}"
    return f"recovered: process {pid} was killed; data up to {until}"


def time_text(unix_ns: int | None) -> str:
    """A point in time for people."""
    if unix_ns is None:
        return "an unknown time"
    seconds = unix_ns / 1e9
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


def join_traces(traces: Sequence[Trace]) -> Trace:
    """The chunks of one trace as one.

    A span of a host lane may stand in several: a scope that was open at the time, a launch whose
    kernel came later. The last one has all of it.
    """
    base = next((each.base_time_ns for each in traces if each.base_time_ns is not None), None)
    lanes = {lane.key: lane for trace in traces for lane in trace.lanes}
    numbers = {key: number for number, key in enumerate(lanes)}
    spans: list[Span] = []
    flows: list[Flow] = []
    known: dict[tuple[int, tuple[str, ...], float], int] = {}
    for trace in traces:
        shift_ns = 0 if trace.base_time_ns is None or base is None else trace.base_time_ns - base
        here: list[int] = []
        new: dict[tuple[int, tuple[str, ...], float], int] = {}
        for span in trace.spans:
            lane = trace.lanes[span.lane]
            moved = span._replace(lane=numbers[lane.key], start_ns=span.start_ns + shift_ns)
            at = len(spans)
            if lane.kind is LaneKind.HOST:
                # a launch gets its kernel's name only when that is known
                key = (moved.lane, moved.path[:-1], moved.start_ns)
                at = known.get(key, at)
                new[key] = at
            if at == len(spans):
                spans.append(moved)
            else:
                spans[at] = moved
            here.append(at)
        known.update(new)
        flows += [Flow(here[flow.source], here[flow.target]) for flow in trace.flows]
    return in_order(list(lanes.values()), spans, flows, base)
