from __future__ import annotations

from pathlib import Path

import pytest

from proton.analysis.idle_time import GapCause, wall_shares
from proton.files.read import read_profile
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.profiles import trace_in

DATA = Path(__file__).resolve().parents[2] / "data"
LANES = [
    Lane("h", "CPU Thread 0", LaneKind.HOST),
    Lane("s7", "GPU Stream 7", LaneKind.DEVICE),
    Lane("s9", "GPU Stream 9", LaneKind.DEVICE),
    Lane("d1", "GPU 1 Stream 7", LaneKind.DEVICE),
]


def span(lane: int, start: float, end: float, kind: SpanKind = SpanKind.KERNEL) -> Span:
    return Span("it", kind, lane, start, end - start)


def trace_of(*spans: Span, flows: tuple[Flow, ...] = ()) -> Trace:
    return Trace(LANES, spans, flows)


def test_busy_idle_and_outside_add_up_to_the_wall() -> None:
    shares = wall_shares(
        trace_of(
            span(0, 0, 100, SpanKind.SCOPE),
            span(1, 10, 30),
            span(0, 40, 45, SpanKind.SCOPE),
            span(1, 50, 80),
            flows=(Flow(2, 3),),
        )
    )
    assert shares is not None
    assert shares.wall_ns == 100
    assert shares.busy == pytest.approx(0.5)
    assert shares.outside == pytest.approx(0.3)
    assert shares.idle == {
        GapCause.HOST: pytest.approx(0.1),
        GapCause.LAUNCH: pytest.approx(0.1),
    }
    assert shares.launch_bound == pytest.approx(0.2)


def test_two_streams_at_once_are_busy_once_and_overlap() -> None:
    shares = wall_shares(trace_of(span(1, 0, 60), span(2, 40, 100), span(2, 45, 50)))
    assert shares is not None
    assert shares.busy == pytest.approx(1.0)
    assert shares.overlap == pytest.approx(0.2)


def test_a_stream_that_waits_while_another_works_is_no_idle_device() -> None:
    shares = wall_shares(trace_of(span(1, 0, 10), span(2, 10, 90), span(1, 90, 100)))
    assert shares is not None
    assert shares.idle == {}


def test_shares_of_several_devices_are_their_mean() -> None:
    shares = wall_shares(trace_of(span(1, 0, 100), span(3, 0, 50)))
    assert shares is not None
    assert shares.devices == 2
    assert shares.busy == pytest.approx(0.75)
    assert shares.outside == pytest.approx(0.25)


def test_launch_bound_is_missing_where_nobody_recorded_launches() -> None:
    shares = wall_shares(trace_of(span(1, 0, 10), span(1, 90, 100)))
    assert shares is not None
    assert shares.launch_bound is None
    assert shares.idle == {GapCause.UNKNOWN: pytest.approx(0.8)}


def test_a_trace_without_work_of_a_device_has_no_shares() -> None:
    assert wall_shares(trace_of(span(0, 0, 10, SpanKind.SCOPE))) is None
    assert wall_shares(trace_of()) is None


@pytest.mark.parametrize("path", sorted(DATA.glob("*.chrome_trace")), ids=lambda path: path.name)
def test_shares_of_every_recording_add_up(path: Path) -> None:
    shares = wall_shares(trace_in(read_profile(path.read_bytes(), str(path))))
    if shares is None:
        assert path.name in ("empty.chrome_trace", "triton36_inkernel_trace.chrome_trace")
        return
    total = shares.busy + sum(shares.idle.values()) + shares.outside
    assert total == pytest.approx(1.0)
    assert 0 <= shares.overlap <= shares.busy
