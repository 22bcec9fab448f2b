"""Chrome traces of GPU work keep the shape that readers of Triton's profiler know."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.native.fake_cuda.driver import FakeDriver

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture
def trace(fake_driver: FakeDriver) -> dict[str, Any]:
    """A trace of two threads, two streams and a graph."""
    session = proton.start("run", backend="cupti", data="trace", mode="graphs=graph")

    def work() -> None:
        with proton.scope("worker"):
            fake_driver.launch("on_worker", 5000, fake_driver.stream())

    with proton.scope("outer"), proton.scope("inner", {"flops": 3.0}):
        fake_driver.launch("first", 7000)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    stream = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream)
    fake_driver.launch("in_graph", 4000, stream)
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    with proton.scope("replay"):
        fake_driver.replay(executable, stream)
    proton.finalize(session)
    found: dict[str, Any] = json.loads(Path("run.chrome_trace").read_bytes())
    return found


def events(trace: dict[str, Any], phase: str, **wanted: Any) -> list[dict[str, Any]]:
    """The events of a kind that have these values."""
    found = [event for event in trace["traceEvents"] if event["ph"] == phase]
    return [event for event in found if all(event.get(k) == v for k, v in wanted.items())]


def test_times_are_microseconds_from_a_unix_time(trace: dict[str, Any]) -> None:
    assert trace["displayTimeUnit"] == "us"
    assert abs(trace["baseTimeNanoseconds"] - time.time_ns()) < 60e9
    (kernel,) = events(trace, "X", name="first")
    assert kernel["dur"] == 7.0


def test_lanes_have_the_known_ids_and_names(trace: dict[str, Any]) -> None:
    assert {event["pid"] for event in trace["traceEvents"]} == {0}
    (process,) = events(trace, "M", name="process_name")
    assert process["args"] == {"name": "Trace"}
    names = {
        event["tid"]: event["args"]["name"] for event in events(trace, "M", name="thread_name")
    }
    streams = sorted(tid - 200_000 for tid in names if tid >= 200_000)
    (graph,) = (tid - 100_000 for tid in names if 100_000 <= tid < 200_000)
    assert names == {
        0: "CPU Thread 0",
        1: "CPU Thread 1",
        100_000 + graph: f"Graph: Stream {graph}",
        **{200_000 + stream: f"GPU Stream {stream}" for stream in streams},
    }
    assert len(streams) == 2
    assert events(trace, "X", name="outer")[0]["tid"] == 0  # the first thread, though it ends last


def test_categories_and_arguments_are_the_known_ones(trace: dict[str, Any]) -> None:
    (kernel,) = events(trace, "X", cat="kernel", name="first")
    assert kernel["args"]["call_stack"] == ["ROOT", "outer", "inner", "first"]
    (scope,) = events(trace, "X", cat="scope", name="outer")
    assert scope["args"]["call_stack"] == ["ROOT", "outer"]
    assert type(scope["args"]["scope_id"]) is int
    (metric,) = events(trace, "X", cat="metric")
    assert metric["name"] == "inner: <flops, 3.000000>"
    assert metric["args"]["metrics"] == {"flops": "3.000000"}


def test_every_span_has_its_call_stack_and_every_scope_its_id(trace: dict[str, Any]) -> None:
    for event in events(trace, "X"):
        assert event["args"]["call_stack"][0] == "ROOT"
        if event["cat"] != "metric":
            assert event["args"]["call_stack"][-1] == event["name"]
    ids = [event["args"]["scope_id"] for event in events(trace, "X", cat="scope")]
    assert len(set(ids)) == len(ids) == 3


def test_scopes_are_those_of_the_program_alone(trace: dict[str, Any]) -> None:
    names = {event["name"] for event in events(trace, "X", cat="scope")}
    assert names == {"outer", "worker", "replay"}
    launches = {event["name"] for event in events(trace, "X", cat="launch")}
    assert launches == {"cuLaunchKernel", "cuGraphLaunch"}


def test_a_metric_with_one_sample_draws_no_counter(trace: dict[str, Any]) -> None:
    assert events(trace, "C") == []


def test_an_arrow_leads_from_each_launch_to_its_work(trace: dict[str, Any]) -> None:
    starts = {each["bind_id"]: each for each in events(trace, "X", flow_out=True)}
    ends = {each["bind_id"]: each for each in events(trace, "X", flow_in=True)}
    assert starts.keys() == ends.keys()
    assert len(starts) == 3
    assert {each["cat"] for each in starts.values()} == {"launch"}
    targets = {(each["tid"], each["ts"]) for each in ends.values()}
    graphs = [each for each in events(trace, "X") if each["name"].startswith("<graph ")]
    assert len(graphs) == 1
    work = [*events(trace, "X", cat="kernel"), *graphs]
    assert targets == {(each["tid"], each["ts"]) for each in work}
