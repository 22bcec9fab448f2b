from __future__ import annotations

import pytest

from proton.analysis.device_work import blocking_copies, streams_of
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace


def lanes(*names: str) -> list[Lane]:
    return [
        Lane(name, name, LaneKind.GRAPH if "Graph: " in name else LaneKind.DEVICE) for name in names
    ]


def span(lane: int, start: float, end: float, kind: SpanKind = SpanKind.KERNEL) -> Span:
    return Span("it", kind, lane, start, end - start)


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("GPU Stream 7", "GPU"),
        ("GPU 1 Stream 7", "GPU 1"),
        ("Interpreter Stream 0", "Interpreter"),
        ("rank 3 GPU Stream 7", "rank 3 GPU"),
        ("Graph: Stream 7", "GPU"),
        ("Graph: GPU 1 Stream 7", "GPU 1"),
        ("rank 3 Graph: Stream 7", "rank 3 GPU"),
        ("somebody's gpu row", "somebody's gpu row"),
    ],
)
def test_the_device_of_a_stream_is_in_the_name_of_its_lane(name: str, device: str) -> None:
    (stream,) = streams_of(Trace(lanes(name), [span(0, 0, 1, SpanKind.GRAPH)]))
    assert stream.device == device


def test_replays_on_a_graph_lane_are_work_of_the_stream_of_that_number() -> None:
    trace = Trace(
        lanes("Graph: Stream 7", "GPU Stream 7"), [span(0, 5, 6, SpanKind.GRAPH), span(1, 0, 1)]
    )
    (stream,) = streams_of(trace)
    assert stream.lane == 1
    assert list(stream.work.span) == [1, 0]


def test_a_stream_known_by_replays_alone_has_the_graph_lane() -> None:
    (stream,) = streams_of(Trace(lanes("Graph: Stream 7"), [span(0, 5, 6, SpanKind.GRAPH)]))
    assert stream.lane == 0


def test_copy_calls_block_if_they_return_after_their_copy() -> None:
    host = Lane("h", "CPU Thread 0", LaneKind.HOST)
    spans = [
        span(0, 0, 10, SpanKind.SCOPE),
        span(1, 5, 9, SpanKind.COPY),
        span(0, 20, 22, SpanKind.SCOPE),
        span(1, 25, 29, SpanKind.COPY),
        span(0, 30, 50, SpanKind.SCOPE),
        span(1, 35, 40),
    ]
    trace = Trace([host, *lanes("GPU Stream 7")], spans, [Flow(0, 1), Flow(2, 3), Flow(4, 5)])
    found = blocking_copies(trace)
    assert list(found[0].span) == [0]
