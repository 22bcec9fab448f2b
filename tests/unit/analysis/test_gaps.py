from __future__ import annotations

import random

import pytest

from proton import _core
from proton.analysis.idle_time import CAUSES, GapCause, find_idle
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace

HOST = Lane("h", "CPU Thread 0", LaneKind.HOST)
STREAM = Lane("s7", "GPU Stream 7", LaneKind.DEVICE)
OTHER = Lane("s9", "GPU Stream 9", LaneKind.DEVICE)
FAR = Lane("d1", "GPU 1 Stream 9", LaneKind.DEVICE)
GRAPH = Lane("g7", "Graph: Stream 7", LaneKind.GRAPH)
Part = tuple[float, float, GapCause]


def span(lane: int, start: float, end: float, kind: SpanKind = SpanKind.KERNEL) -> Span:
    return Span("it", kind, lane, start, end - start)


def call(start: float, end: float) -> Span:
    return span(0, start, end, SpanKind.SCOPE)


def parts(trace: Trace, lane: int) -> list[Part]:
    """The gaps of a lane as (start, end, cause)."""
    gaps = find_idle(trace).lanes[lane]
    columns = zip(gaps.start_ns, gaps.end_ns, gaps.cause, strict=True)
    return [(start, end, CAUSES[cause]) for start, end, cause in columns]


def test_before_the_launch_call_the_host_is_the_cause_and_after_it_the_launch() -> None:
    spans = [call(0, 5), span(1, 10, 20), call(60, 66), span(1, 70, 80)]
    trace = Trace([HOST, STREAM], spans, [Flow(0, 1), Flow(2, 3)])
    assert parts(trace, 1) == [(20, 60, GapCause.HOST), (60, 70, GapCause.LAUNCH)]


def test_work_that_was_queued_in_time_waits_for_the_device_alone() -> None:
    spans = [call(0, 5), span(1, 10, 20), call(6, 9), span(1, 22, 30)]
    trace = Trace([HOST, STREAM], spans, [Flow(0, 1), Flow(2, 3)])
    assert parts(trace, 1) == [(20, 22, GapCause.LAUNCH)]


def test_launched_work_waits_for_the_copy_of_another_stream_that_ended_last() -> None:
    spans = [
        span(1, 10, 20),
        call(5, 9),
        span(1, 92, 99),
        span(2, 15, 90, SpanKind.COPY),
        span(2, 0, 12),
    ]
    trace = Trace([HOST, STREAM, OTHER], spans, [Flow(1, 2)])
    assert parts(trace, 1) == [(20, 90, GapCause.COPY), (90, 92, GapCause.LAUNCH)]


def test_launched_work_waits_for_kernels_of_other_streams_but_not_of_other_devices() -> None:
    def trace(other: Lane) -> Trace:
        spans = [span(1, 10, 20), call(5, 9), span(1, 92, 99), span(2, 15, 90)]
        return Trace([HOST, STREAM, other], spans, [Flow(1, 2)])

    assert parts(trace(OTHER), 1)[0] == (20, 90, GapCause.STREAM)
    assert parts(trace(FAR), 1) == [(20, 92, GapCause.LAUNCH)]


def test_a_host_that_sits_in_a_copy_call_until_the_copy_is_done_waits_for_it() -> None:
    spans = [
        span(1, 10, 20),
        call(30, 61),
        span(2, 35, 60, SpanKind.COPY),
        call(70, 72),
        span(1, 75, 80),
    ]
    trace = Trace([HOST, STREAM, OTHER], spans, [Flow(1, 2), Flow(3, 4)])
    assert parts(trace, 1) == [
        (20, 30, GapCause.HOST),
        (30, 61, GapCause.COPY),
        (61, 70, GapCause.HOST),
        (70, 75, GapCause.LAUNCH),
    ]


def test_a_copy_call_that_returns_at_once_is_the_host_being_busy() -> None:
    spans = [
        span(1, 10, 20),
        call(30, 33),
        span(2, 35, 60, SpanKind.COPY),
        call(70, 72),
        span(1, 75, 80),
    ]
    trace = Trace([HOST, STREAM, OTHER], spans, [Flow(1, 2), Flow(3, 4)])
    assert parts(trace, 1) == [(20, 70, GapCause.HOST), (70, 75, GapCause.LAUNCH)]


def test_without_a_launch_the_cause_is_not_known() -> None:
    trace = Trace([HOST, STREAM], [span(1, 0, 10), span(1, 15, 20)])
    assert parts(trace, 1) == [(10, 15, GapCause.UNKNOWN)]


def test_a_replay_timed_as_a_whole_fills_the_gap_of_its_stream() -> None:
    spans = [span(1, 0, 10), span(2, 12, 18, SpanKind.GRAPH), span(1, 20, 30)]
    trace = Trace([HOST, STREAM, GRAPH], spans)
    assert parts(trace, 1) == [(10, 12, GapCause.UNKNOWN), (18, 20, GapCause.UNKNOWN)]


def test_a_scope_on_a_graph_lane_is_no_work() -> None:
    spans = [span(1, 0, 10), span(2, 0, 18, SpanKind.SCOPE), span(1, 20, 30)]
    assert parts(Trace([HOST, STREAM, GRAPH], spans), 1) == [(10, 20, GapCause.UNKNOWN)]


def test_kernels_that_overlap_or_come_out_of_order_leave_no_gap() -> None:
    trace = Trace([HOST, STREAM], [span(1, 20, 30), span(1, 0, 25), span(1, 5, 8)])
    assert parts(trace, 1) == []


def test_sums_are_by_cause_and_leave_out_what_did_not_occur() -> None:
    spans = [call(0, 5), span(1, 10, 20), call(60, 66), span(1, 70, 80)]
    trace = Trace([HOST, STREAM], spans, [Flow(0, 1), Flow(2, 3)])
    assert find_idle(trace).lanes[1].sums_ns() == {GapCause.HOST: 40, GapCause.LAUNCH: 10}


def test_a_device_is_idle_only_where_all_its_streams_are() -> None:
    spans = [span(1, 0, 10), span(1, 50, 60), span(2, 5, 40), span(3, 0, 20), span(3, 21, 30)]
    found = find_idle(Trace([HOST, STREAM, OTHER, FAR], spans)).devices
    assert {device: [*gaps.start_ns, *gaps.end_ns] for device, gaps in found.items()} == {
        "GPU": [40, 50],
        "GPU 1": [20, 21],
    }


def test_gaps_are_the_same_with_and_without_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(20):
        trace = random_trace(random.Random(seed))
        found = find_idle(trace)
        with monkeypatch.context() as patch:
            patch.setattr(_core, "columns", lambda: None)
            assert find_idle(trace) == found
        assert any(gaps.cause for gaps in found.lanes.values())


def random_trace(chance: random.Random) -> Trace:
    """Work of three streams, some of it launched by calls that overlap and copies that block."""
    spans: list[Span] = []
    flows: list[Flow] = []
    for _ in range(300):
        start = chance.randrange(2000)
        kind = chance.choice((SpanKind.KERNEL, SpanKind.COPY))
        if chance.random() < 0.8:
            flows.append(Flow(len(spans), len(spans) + 1))
            spans.append(call(start, start + chance.choice((1, 3, 40))))
        begun = start + chance.randrange(20)
        spans.append(span(chance.randrange(1, 4), begun, begun + chance.randrange(9), kind))
    return Trace([HOST, STREAM, OTHER, FAR], spans, flows)
