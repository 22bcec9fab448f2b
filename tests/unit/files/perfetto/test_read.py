"""Reading Perfetto traces, ours and others'."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.perfetto.read import is_perfetto, read_perfetto
from proton.files.read import read_profile
from proton.model.profile import TraceProfile
from proton.model.trace import LaneKind, SpanKind
from tests.support.perfetto import protos

DATA = Path(__file__).parents[3] / "data"
OURS = (DATA / "proton_trace.pftrace").read_bytes()


def foreign() -> Any:
    """A trace as another program may write it: names in full, absolute times, no tables."""
    trace = protos().Trace()
    packet = trace.packet.add(trusted_packet_sequence_id=9)
    packet.clock_snapshot.clocks.add(clock_id=6, timestamp=1_000)
    packet.clock_snapshot.clocks.add(clock_id=1, timestamp=5_000_000)
    packet = trace.packet.add(trusted_packet_sequence_id=9)
    packet.track_descriptor.uuid = 1
    packet.track_descriptor.process.pid = 77
    packet.track_descriptor.process.process_name = "server"
    packet = trace.packet.add(trusted_packet_sequence_id=9)
    packet.track_descriptor.uuid = 2
    packet.track_descriptor.parent_uuid = 1
    packet.track_descriptor.thread.pid = 77
    packet.track_descriptor.thread.tid = 78
    packet.track_descriptor.thread.thread_name = "worker"
    for time, kind, name in [(1_100, 1, "outer"), (1_200, 1, "inner"), (1_300, 2, ""),
                             (1_350, 3, "mark"), (1_400, 2, "")]:  # fmt: skip
        packet = trace.packet.add(trusted_packet_sequence_id=9, timestamp=time)
        packet.track_event.type = kind
        packet.track_event.track_uuid = 2
        if name:
            packet.track_event.name = name
    return trace


def refusal(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        read_perfetto(data, "run.pftrace")
    return str(caught.value)


def test_our_own_recording_has_its_lanes_paths_and_summary() -> None:
    file = read_perfetto(OURS, "run.pftrace")
    assert {lane.name for lane in file.trace.lanes} == {"CPU Thread 0", "Interpreter Stream 0"}
    kernels = [span for span in file.trace.spans if span.kind is SpanKind.KERNEL]
    assert [span.path for span in kernels] == [
        ("step_0", "warm", "add_100"),
        ("step_1", "warm", "add_100"),
    ]
    assert kernels[0].metrics["bytes"] == 1200
    assert len(file.trace.flows) == 2
    assert file.summary["session"] == "proton_trace"
    assert file.warnings == ()


def test_the_content_says_that_it_is_a_trace() -> None:
    assert is_perfetto(OURS)
    assert isinstance(read_profile(OURS, "run"), TraceProfile)
    for other in (b"", b"\n", b"\n{}", b"\n[{}]\n", b"\n\x05ab", b"{}", b"\x92\x03"):
        assert not is_perfetto(other)


def test_a_foreign_trace_gives_its_slices() -> None:
    file = read_perfetto(foreign().SerializeToString(), "other.pftrace")
    assert file.summary is None
    assert [(s.name, s.start_ns, s.duration_ns) for s in file.trace.spans] == [
        ("outer", 0.0, 300.0),
        ("inner", 100.0, 100.0),
        ("mark", 250.0, 0.0),
    ]
    (lane,) = file.trace.lanes
    assert (lane.name, lane.kind) == ("server worker", LaneKind.HOST)
    assert file.trace.base_time_ns == 5_000_100


def test_what_is_not_read_is_counted() -> None:
    trace = foreign()
    trace.packet.add(trusted_packet_sequence_id=9, timestamp=1).track_event.type = 2
    trace.packet.add(trusted_packet_sequence_id=9).trace_uuid.msb = 4
    begin = trace.packet.add(trusted_packet_sequence_id=9, timestamp=2_000)
    begin.track_event.type = 1
    lost = trace.packet.add(trusted_packet_sequence_id=9, timestamp=5, timestamp_clock_id=64)
    lost.track_event.type = 1
    assert read_perfetto(trace.SerializeToString(), "t").warnings == (
        "1 not read: begins without an end",
        "1 not read: ends without a begin",
        "1 not read: events on an unknown clock",
        "1 not read: packets of other kinds",
    )


def test_files_of_two_processes_can_be_joined() -> None:
    trace = read_perfetto(OURS, "one").trace
    joined = read_perfetto(OURS + foreign().SerializeToString(), "both")
    assert len(joined.trace.spans) == len(trace.spans) + 3
    assert joined.trace.base_time_ns == trace.base_time_ns


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0a\x05abc", "run.pftrace: truncated: the file ends at byte 5, inside a packet"),
        (b"\x10\x05", "run.pftrace: packet 0 is no packet of a trace"),
        (b"\x0a\x06\x92\x03\x03abc", "run.pftrace: a compressed packet is damaged"),
        (b"\x0a\x02\x58\x01", "run.pftrace: packet 0 has a number where a message belongs"),
    ],
)
def test_damage_is_named(data: bytes, message: str) -> None:
    assert refusal(data).startswith(message)


def test_a_block_that_is_cut_off_is_refused() -> None:
    block = zlib.compress(b"\x0a\x00" * 100)[:-5]
    data = b"\x92\x03" + bytes([len(block)]) + block
    assert "is cut off" in refusal(b"\x0a" + bytes([len(data)]) + data)


def test_annotations_nested_without_end_are_refused() -> None:
    value = b""
    for _ in range(5000):
        size = len(value)
        value = b"\x5a" + _varint(size) + value
    event = b"\x48\x01\x22" + _varint(len(value)) + value
    packet = b"\x5a" + _varint(len(event)) + event
    assert "nested too deep" in refusal(b"\x0a" + _varint(len(packet)) + packet)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


@pytest.mark.parametrize("kept", [8, 300, -1])
def test_a_file_of_ours_that_was_cut_says_so(kept: int) -> None:
    data = (DATA / "proton_trace.pftrace").read_bytes()
    size = len(data[:kept])
    with pytest.raises(FormatError, match=f"truncated: the file ends at byte {size}, inside a pac"):
        read_profile(data[:kept], "x")
    with pytest.raises(FormatError, match=f"ends at byte {len(data) + size}, inside a packet"):
        read_profile(data + data[:kept], "x")
