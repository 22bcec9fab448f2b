"""Perfetto's own engine opens our traces and sees what is in them."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.files.detect import open_profile
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.trace_processor import TraceProcessor

DATA = Path(__file__).parents[1] / "data"

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture(scope="module")
def engine() -> Iterator[TraceProcessor]:
    """Perfetto's engine, started once."""
    with TraceProcessor() as started:
        yield started


@pytest.mark.parametrize(
    "path", sorted([*DATA.glob("*.pftrace"), *DATA.glob("*.chrome_trace")]), ids=lambda p: p.name
)
def test_every_recorded_trace_opens_without_a_complaint(engine: TraceProcessor, path: Path) -> None:
    engine.load(path)
    assert engine.problems() == []
    slices = engine.query("select count(*) as n from slice")[0]["n"]
    assert slices > 0 or path.stem == "empty"


def record(driver: FakeDriver, output_format: str) -> dict[str, int]:
    """A trace of two threads, two streams and a graph; the system's ids of the threads."""
    session = proton.start("run", backend="cupti", data="trace")
    ids = {"main": threading.get_native_id()}

    def work() -> None:
        ids["worker"] = threading.get_native_id()
        stream = driver.stream()
        with proton.scope("worker"):
            driver.launch("on_worker", 5000, stream)

    thread = threading.Thread(target=work)
    with proton.scope("before", {"flops": 1.0}):
        pass
    with proton.scope("outer"), proton.scope("inner", {"flops": 3.0}):
        driver.launch("first", 7000)
        thread.start()
        thread.join()
        driver.launch("second", 9000)
    stream = driver.stream()
    driver.calls.fake_capture_begin(stream)
    with proton.scope("captured"):
        driver.launch("in_graph", 4000, stream)
    executable = driver.instantiate(driver.calls.fake_capture_end(stream))
    with proton.scope("replay"):
        for _ in range(3):
            driver.replay(executable, stream)
    proton.finalize(session, output_format=output_format)
    return ids


@pytest.fixture
def recorded(engine: TraceProcessor, fake_driver: FakeDriver) -> Any:
    """A recorded trace in Perfetto's engine, and what is known about it."""
    before = time.time_ns()
    ids = record(fake_driver, "perfetto")
    engine.load(Path("run.pftrace"))
    assert engine.problems() == []
    return engine, ids, (before, time.time_ns())


def test_processes_and_threads_have_the_ids_of_the_system(recorded: Any) -> None:
    opened, ids, _ = recorded
    rows = opened.query(
        "select distinct slice.name, tid, pid, is_main_thread from slice "
        "join thread_track on slice.track_id = thread_track.id "
        "join thread using (utid) join process using (upid) "
        "where slice.name in ('outer', 'worker')"
    )
    found = {row["name"]: (row["pid"], row["tid"], row["is_main_thread"]) for row in rows}
    is_main = ids["main"] == os.getpid()  # not where a test runner has a thread for tests
    assert found == {
        "outer": (os.getpid(), ids["main"], int(is_main)),
        "worker": (os.getpid(), ids["worker"], 0),
    }


def test_kernels_stand_on_rows_of_their_streams_with_their_times(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select slice.name, dur, track.name as row from slice "
        "join process_track as track on slice.track_id = track.id "
        "where category = 'kernel' order by slice.name, ts"
    )
    times = [(row["name"], row["dur"]) for row in rows]
    kernels = [("first", 7000), *[("in_graph", 4000)] * 3, ("on_worker", 5000), ("second", 9000)]
    assert times == kernels
    streams = {row["name"]: row["row"] for row in rows}
    assert streams["first"] == streams["second"]
    assert len(set(streams.values())) == 3
    assert all(name.startswith("GPU Stream ") for name in streams.values())


def test_replays_stand_on_a_row_of_graphs_with_their_captured_scopes(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select slice.name, parent.name as parent, slice.dur, track.name as row from slice "
        "left join slice as parent on slice.parent_id = parent.id "
        "join process_track as track on slice.track_id = track.id "
        "where track.name glob 'Graph: Stream *' order by slice.ts, slice.depth"
    )
    assert len({row["row"] for row in rows}) == 1
    assert [(row["parent"], row["name"], row["dur"]) for row in rows] == [
        (None, "<captured_at>", 4000),
        ("<captured_at>", "captured", 4000),
    ] * 3


def test_scopes_nest_and_launches_stand_in_them(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select slice.name, parent.name as parent from slice "
        "left join slice as parent on slice.parent_id = parent.id "
        "join thread_track on slice.track_id = thread_track.id"
    )
    found = {(row["parent"], row["name"]) for row in rows}
    inner = next(name for parent, name in found if parent == "outer")
    assert inner.startswith("inner")
    assert {(None, "outer"), (inner, "launch first"), ("worker", "launch on_worker")} <= found
    assert ("replay", "launch <graph>") in found


def test_arrows_lead_from_launches_to_their_kernels(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select source.name as source, target.name as target, target.ts >= source.ts as is_later "
        "from flow join slice as source on slice_out = source.id "
        "join slice as target on slice_in = target.id order by target"
    )
    assert [(row["source"], row["target"]) for row in rows] == [
        ("launch first", "first"),
        *[("launch <graph>", "in_graph")] * 3,
        ("launch on_worker", "on_worker"),
        ("launch second", "second"),
    ]
    assert all(row["is_later"] for row in rows)


def test_metrics_are_counters(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select value from counter join process_counter_track as track "
        "on counter.track_id = track.id where track.name = 'flops' order by ts"
    )
    assert [row["value"] for row in rows] == [1.0, 4.0]


def test_where_kernels_were_launched_and_how_is_in_their_arguments(recorded: Any) -> None:
    opened, _, _ = recorded
    rows = opened.query(
        "select key, display_value as value from slice join args using (arg_set_id) "
        "where slice.name = 'first' and category = 'kernel'"
    )
    found = {row["key"].removeprefix("debug."): row["value"] for row in rows}
    assert found["call_stack"] == "outer > inner > first"
    assert found["grid"] == "1x1x1"


def test_times_are_unix_times(recorded: Any) -> None:
    opened, _, (before, after) = recorded
    row = opened.query("select min(ts) as first, max(ts + dur) as last from slice")[0]
    assert before <= row["first"] < row["last"] <= after + 1_000_000  # GPU work ends a bit later


def test_a_chrome_trace_of_the_same_run_has_the_same_slices(
    engine: TraceProcessor, fake_driver: FakeDriver
) -> None:
    counts = []
    for output_format, suffix in (("perfetto", "pftrace"), ("chrome_trace", "chrome_trace")):
        record(fake_driver, output_format)
        engine.load(Path(f"run.{suffix}"))
        assert engine.problems() == []
        rows = engine.query("select name, category from slice where name != 'proton'")
        # a chrome trace writes metrics behind the name: "inner: <flops, 3.000000>", and calls
        # launches after the function alone
        named = [row for row in rows if row["category"] != "launch"]
        names = Counter(row["name"].partition(":")[0] for row in named)
        counts.append((names, len(rows) - len(named)))
        assert engine.query("select count(*) as n from flow")[0]["n"] == 6
    assert counts[0] == counts[1]


def test_a_kernel_before_its_launch_tells_how_far_the_clocks_are_apart(
    fake_driver: FakeDriver,
) -> None:
    fake_driver.option("gpu_skew_ns", -8_000_000)
    record(fake_driver, "perfetto")
    device = open_profile(Path("run.pftrace")).devices[0]
    assert device.clock_residual_ns is not None
    assert 7_000_000 < device.clock_residual_ns <= 8_000_000


def test_traces_of_two_processes_can_be_joined(
    engine: TraceProcessor, run_python: Any, tmp_path: Path
) -> None:
    parts = []
    for rank in range(2):
        done = run_python(
            """
            import sys
            import proton

            session = proton.start(sys.argv[1], data="trace", backend="interpreter")
            with proton.scope(f"scope of {sys.argv[1]}"):
                pass
            proton.finalize(session, output_format="perfetto")
            """,
            f"rank{rank}",
        )
        assert done.returncode == 0, done.stderr
        parts.append((tmp_path / f"rank{rank}.pftrace").read_bytes())
    joined = tmp_path / "all.pftrace"
    joined.write_bytes(b"".join(parts))
    engine.load(joined)
    assert engine.problems() == []
    rows = engine.query(
        "select slice.name, process.name as process, dur >= 0 as is_closed from slice "
        "join thread_track on slice.track_id = thread_track.id "
        "join thread using (utid) join process using (upid) order by 1"
    )
    assert [(row["name"], row["process"], row["is_closed"]) for row in rows] == [
        ("scope of rank0", "rank0", 1),
        ("scope of rank1", "rank1", 1),
    ]
