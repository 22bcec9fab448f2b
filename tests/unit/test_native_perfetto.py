"""Perfetto traces of the native core, as Perfetto's own classes and as our reader see them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from proton._native import Scope, Session
from proton.files.read import read_profile
from proton.files.trace.lanes import in_order
from proton.model.profile import TraceProfile
from tests.support.native import MakeSession
from tests.support.perfetto import descriptors_of, packets_of, slices_of
from tests.support.profiles import trace_in

HEADER = {"session": "run", "pid": 4321, "command": ["python", "a.py"]}
GPU: dict[str, Any] = {"device_type": "CUDA", "device_id": 0, "lane": 7}


def record(session: Session) -> None:
    with Scope("step", {"tokens": 3}):
        for number in range(3):
            session.on_kernel(
                "matmul", 100 * number, 100 * number + 60, metrics={"flops": 2.5}, **GPU
            )
    with Scope("tail", {"tokens": 4, "loss (pty)": 0.5, "shape": [1, 2]}):
        session.on_kernel("add", 90, 130, device_type="CUDA", device_id=1)


def test_threads_have_the_ids_of_the_system_also_when_they_have_ended(
    make_session: MakeSession,
) -> None:
    session = make_session(data="trace")
    ids = [threading.get_native_id()]

    def work() -> None:
        ids.append(threading.get_native_id())
        with Scope("worker"):
            pass

    with Scope("main"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    session.deactivate()
    tracks = descriptors_of(packets_of(session.serialize("perfetto", 0, HEADER))).values()
    found = {(track.thread.pid, track.thread.tid) for track in tracks if track.HasField("thread")}
    assert found == {(4321, ids[0]), (4321, ids[1])}


def test_slices_are_those_of_the_chrome_trace(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    session.deactivate()
    chrome = json.loads(session.serialize("chrome_trace", 0, HEADER))
    rows = {
        event["tid"]: event["args"]["name"]
        for event in chrome["traceEvents"]
        if event["name"] == "thread_name"
    }
    base = chrome["baseTimeNanoseconds"]
    expected = [
        (
            rows[event["tid"]],
            event["args"]["call_stack"][-1],
            base + round(1000 * event["ts"]),
            round(1000 * event["dur"]),
        )
        for event in chrome["traceEvents"]
        if event["ph"] == "X"
    ]
    packets = packets_of(session.serialize("perfetto", 0, HEADER))
    assert sorted(slices_of(packets)) == sorted(expected)


def test_both_formats_read_back_as_one_trace(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    session.deactivate()
    ours, known = (
        read_profile(session.serialize(output_format, 0, HEADER), "run")
        for output_format in ("perfetto", "chrome_trace")
    )
    assert isinstance(ours, TraceProfile)
    assert isinstance(known, TraceProfile)
    assert ours.trace == in_order(
        known.trace.lanes, known.trace.spans, known.trace.flows, known.trace.base_time_ns
    )
    assert ours.header == known.header
    assert ours.metric_kinds == known.metric_kinds
    assert ours.warnings == known.warnings == ()


def test_tracks_hang_below_the_process_in_the_order_of_the_lanes(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    packets = packets_of(session.serialize("perfetto", 0, HEADER))
    tracks = descriptors_of(packets)
    (process,) = (track for track in tracks.values() if track.HasField("process"))
    assert process.process.pid == 4321
    assert list(process.process.cmdline) == ["python", "a.py"]
    assert process.child_ordering == process.EXPLICIT
    (thread,) = {track.thread.thread_name for track in tracks.values() if track.HasField("thread")}
    assert thread == "CPU Thread 0"
    streams = [track for track in tracks.values() if track.parent_uuid == process.uuid]
    ranked = {track.name: track.sibling_order_rank for track in streams}
    assert ranked["GPU 0 Stream 7"] < ranked["GPU 1 Stream 0"] < ranked["tokens"]


def test_time_is_unix_time(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    first = packets_of(session.serialize("perfetto", 0, HEADER))[0].clock_snapshot
    assert first.primary_trace_clock == 1
    assert {clock.clock_id for clock in first.clocks} == {1, 3}


def test_a_launch_and_its_kernel_share_a_flow(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    events = [p.track_event for p in packets_of(session.serialize("perfetto", 0, HEADER))]
    sources = [flow for event in events for flow in event.flow_ids]
    targets = [flow for event in events for flow in event.terminating_flow_ids]
    assert len(sources) == 4
    assert sorted(sources) == sorted(targets)


def test_metrics_are_counters_and_annotations(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    record(session)
    packets = packets_of(session.serialize("perfetto", 0, HEADER))
    counters = {
        uuid: t.name for uuid, t in descriptors_of(packets).items() if t.HasField("counter")
    }
    assert set(counters.values()) == {"flops", "tokens"}  # one value of `loss` draws nothing
    values: dict[str, list[float]] = {}
    defaults: dict[int, int] = {}
    for packet in packets:
        sequence = packet.trusted_packet_sequence_id
        if packet.HasField("trace_packet_defaults"):
            defaults[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        event = packet.track_event
        if event.type == event.TYPE_COUNTER:
            found = event.counter_value or event.double_counter_value
            values.setdefault(counters[defaults[sequence]], []).append(found)
    assert values["tokens"] == [3, 7]
    assert values["flops"] == [2.5, 5.0, 7.5]


def test_kernels_that_overlap_on_a_stream_keep_their_times(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    for start, end in [(0, 100), (50, 150), (120, 160)]:
        session.on_kernel("k", start, end, **GPU)
    session.deactivate()
    data = session.serialize("perfetto", 0, HEADER)
    kernels = [entry for entry in slices_of(packets_of(data)) if entry[0] == "GPU Stream 7"]
    base = min(start for _, _, start, _ in kernels)
    assert sorted((start - base, size) for _, _, start, size in kernels) == [
        (0, 100),
        (50, 100),
        (120, 40),
    ]
    trace = trace_in(read_profile(data, "run"))
    assert [lane.name for lane in trace.lanes].count("GPU Stream 7") == 1


def test_an_empty_session_is_a_trace_of_nothing(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    trace = trace_in(read_profile(session.serialize("perfetto", 0, HEADER), "run"))
    assert (list(trace.spans), trace.base_time_ns) == ([], None)


def test_a_trace_of_kernels_is_a_tenth_of_the_chrome_trace(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    for number in range(5000):
        with Scope(f"layer {number % 12}"):
            start = 3000 * number + number * number % 977
            session.on_kernel(f"kernel {number % 29}", start, start + 1500 + number % 1021, **GPU)
    compact = session.serialize("perfetto", 0, HEADER)
    assert len(compact) * 10 <= len(session.serialize("chrome_trace", 0, HEADER))


def test_without_zlib_packets_are_written_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "libz.so.1").write_bytes(b"no library")
    program = """
import sys
from proton._native import Session
session = Session(0, context="shadow", data="trace")
session.activate()
session.on_kernel("plain_kernel", 0, 5, device_type="CUDA", device_id=0)
sys.stdout.buffer.write(session.serialize("perfetto", 0, {}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert b"plain_kernel" in done.stdout
    trace = trace_in(read_profile(done.stdout, "run"))
    assert [span.name for span in trace.spans] == ["plain_kernel", "plain_kernel"]
