"""Perfetto traces through the core: the same as without it, and no object for each span."""

from __future__ import annotations

import tracemalloc
import zlib
from pathlib import Path

import pytest

from proton import _core
from proton.files.perfetto.blocks import unpack
from proton.files.perfetto.columns import read_columns
from proton.files.perfetto.read import read_perfetto
from proton.files.perfetto.write import to_perfetto
from proton.files.trace.read import TraceFile
from proton.model.metric import Metrics
from proton.model.profile import TraceProfile
from proton.model.span_table import SpanTable
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.perfetto import protos

DATA = Path(__file__).parents[3] / "data"
RECORDINGS = sorted(DATA.rglob("*.pftrace"))
LANES = [
    Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST),
    Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE),
]


def without_core(data: bytes, monkeypatch: pytest.MonkeyPatch) -> TraceFile:
    with monkeypatch.context() as patch:
        patch.setattr(_core, "packet_scanner", lambda: None)
        return read_perfetto(data, "run.pftrace")


def made(spans: list[Span], flows: list[Flow], base_time_ns: int | None = 10**18) -> bytes:
    trace = Trace(LANES, spans, flows, base_time_ns)
    return to_perfetto(TraceProfile("run.pftrace", trace=trace), trace)


def steps(count: int) -> bytes:
    """Scopes with a kernel each that they launch, a metric now and then."""
    spans, flows = [], []
    for at in range(count):
        path = (f"step_{at % 7}", "k")
        spans.append(Span("k", SpanKind.SCOPE, 0, at * 100.0, 60.0, path))
        metrics: Metrics = {"flops": at % 3} if at % 5 == 0 else {}
        attributes: Metrics = {"grid": (at % 2 + 1, 1, 1), "note": "é"}
        times = at * 100.0 + 5, 90.0 if at % 2 else 0.0
        spans.append(Span("k", SpanKind.KERNEL, 1, *times, path, metrics, attributes))
        flows.append(Flow(2 * at, 2 * at + 1))
    spans.append(Span("alone", SpanKind.OTHER, 0, count * 100.0, 1.0))
    return made(spans, flows)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_recordings_read_the_same_with_and_without_the_core(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = path.read_bytes()
    assert read_columns(data, "run.pftrace") == without_core(data, monkeypatch)


@pytest.mark.parametrize("base_time_ns", [None, 10**18])
def test_made_up_traces_read_the_same_with_and_without_the_core(
    base_time_ns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for data in (steps(40), made([Span("a", SpanKind.SCOPE, 0, 5.0, 1.0)], [], base_time_ns)):
        found = read_columns(data, "run.pftrace")
        assert found is not None
        assert found == without_core(data, monkeypatch)


def test_files_that_were_joined_read_the_same_with_and_without_the_core(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = steps(3) + made([Span("a", SpanKind.SCOPE, 0, 7.0, 1.0)], [], 10**18 + 9000)
    assert read_columns(data, "run.pftrace") == without_core(data, monkeypatch)


def test_spans_are_columns() -> None:
    assert isinstance(read_perfetto(steps(3), "run.pftrace").trace.spans, SpanTable)


def test_a_span_takes_no_more_memory_than_its_columns() -> None:
    data = steps(20_000)
    read_perfetto(data, "run.pftrace")  # what is made once
    tracemalloc.start()
    try:
        file = read_perfetto(data, "run.pftrace")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak / len(file.trace.spans) < 150  # bytes; with an object for each they are 700


def test_events_that_name_their_track_are_left_to_the_long_way() -> None:
    trace = protos().Trace()
    packet = trace.packet.add(trusted_packet_sequence_id=9, timestamp=5)
    packet.track_event.type = 3
    packet.track_event.track_uuid = 2
    packet.track_event.name = "mark"
    data = trace.SerializeToString()
    assert read_columns(data, "run.pftrace") is None
    assert [span.name for span in read_perfetto(data, "run.pftrace").trace.spans] == ["mark"]


def test_texts_that_change_their_meaning_are_left_to_the_long_way() -> None:
    trace = protos().Trace()
    for time, name in ((5, "one"), (6, "two")):
        packet = trace.packet.add(trusted_packet_sequence_id=9, timestamp=time)
        packet.interned_data.event_names.add(iid=1, name=name)
        packet.track_event.type = 3
        packet.track_event.name_iid = 1
    data = trace.SerializeToString()
    assert read_columns(data, "run.pftrace") is None
    names = [span.name for span in read_perfetto(data, "run.pftrace").trace.spans]
    assert names == ["one", "two"]


def test_damaged_traces_are_left_to_the_long_way_which_says_what_is_wrong() -> None:
    for data in (RECORDINGS[0].read_bytes()[:-3], b"\x0a\x7fabc"):
        assert read_columns(data, "run.pftrace") is None


def test_without_the_core_nothing_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "packet_scanner", lambda: None)
    assert read_columns(steps(1), "run.pftrace") is None


def test_a_block_unpacks_to_its_packets() -> None:
    assert unpack(zlib.compress(b"packets"), "run.pftrace") == b"packets"
