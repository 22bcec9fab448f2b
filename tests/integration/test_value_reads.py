"""The kernel that reads metric values on a GPU: a row `<metric>` that no viewer takes for work."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.analysis.device_work import streams_of
from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.trace import SpanKind
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in

pytest.importorskip("torch")

from tests.support.device_tensors import launch_with, metrics_of, on_gpu

pytestmark = pytest.mark.usefixtures("tmp_cwd")

STATE = "__proton_launch_metadata"


def replay_layer(driver: FakeDriver, stream: list[int], times: int) -> None:
    """A graph of a scope with a metric and a launch with one, replayed in the scope `run`."""
    value = on_gpu(4.0)
    stream[0] = driver.stream()
    driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer", {"x": value}):
        launch_with(driver, "matmul", {"flops": value, "bytes": value}, stream[0])
    executable = driver.instantiate(driver.calls.fake_capture_end(stream[0]))
    with proton.scope("run"):
        for _ in range(times):
            driver.replay(executable)
    proton.finalize()


def test_replayed_reads_are_counted_without_a_time_below_the_metadata_frame(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    proton.start("run", backend="cupti", hook="triton")
    replay_layer(fake_driver, stream, 3)
    found = metrics_of(profile_of("run.hatchet"))
    layer = "run/<captured_at>/layer"
    assert found[f"{layer}/{STATE}/<metric>"] == {"count": 3}
    assert found[f"{layer}/{STATE}/matmul/<metric>"] == {"count": 6}
    assert found[layer] == {"x": 12.0}
    assert found[f"{layer}/matmul"]["count"] == 3


@pytest.mark.usefixtures("stream")
def test_reads_outside_graphs_stand_in_the_row_of_other_work_for_metrics(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    proton.start("run", backend="cupti", hook="triton")
    with proton.scope("s", {"x": on_gpu(1.0)}):
        with proton.metadata_state("matmul"):
            fake_driver.launch("helper")
        launch_with(fake_driver, "matmul", {"flops": on_gpu(2.0)})
    proton.finalize()
    profile = profile_of("run.hatchet")
    found = metrics_of(profile)
    assert found[f"s/{STATE}/<metric>"] == {"count": 1}
    assert found[f"s/{STATE}/matmul/<metric>"] == {"count": 1}
    (scope,) = profile.root["children"]
    names = [child["frame"]["name"] for child in scope["children"]]
    assert names.count(STATE) == 1


def test_each_phase_counts_its_own_reads(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    session = proton.start("run", backend="cupti")
    for step in range(2):
        for _ in range(step + 1):
            with proton.scope("a", {"x": on_gpu(1)}):
                pass
        proton.data.advance_phase(session)
    proton.finalize()
    for phase in range(2):
        found = metrics_of(profile_of(f"run.part_{phase}.hatchet"))
        assert found[f"a/{STATE}/<metric>"] == {"count": phase + 1}


def test_viewers_leave_reads_out_of_sums_and_lists(
    fake_driver: FakeDriver, stream: list[int]
) -> None:
    proton.start("run", backend="cupti", hook="triton")
    replay_layer(fake_driver, stream, 3)
    shown = prepare(open_profile(Path("run.hatchet")))
    assert not {STATE, "<metric>"} & {frame.name for frame in shown.tree.frames}
    assert [own["count"] for own in shown.tree.own if own.get("count")] == [3]
    assert "<metric>" not in open_profile(Path("run.hatchet")).table()


@pytest.mark.parametrize("file", ["run.chrome_trace", "run.pftrace"])
def test_traces_have_a_moment_for_each_replayed_read_that_is_no_work(
    fake_driver: FakeDriver, stream: list[int], file: str
) -> None:
    proton.start(file, backend="cupti", data="trace", hook="triton")
    with proton.scope("eager", {"x": on_gpu(1.0)}):  # nothing tells when this one is read
        pass
    replay_layer(fake_driver, stream, 2)
    profile = open_profile(Path(file))
    trace = trace_in(profile)
    reads = [span for span in trace.spans if span.name == "<metric>"]
    layer = ("run", "<captured_at>", "layer", STATE)
    assert sorted(span.path for span in reads) == sorted(
        [(*layer, "<metric>")] * 2 + [(*layer, "matmul", "<metric>")] * 4
    )
    assert {span.duration_ns for span in reads} == {0}
    assert {span.kind for span in reads} == {SpanKind.METRIC}
    assert sum(span.kind is SpanKind.KERNEL for span in trace.spans) == 2
    shown = prepare(profile)
    assert "<metric>" not in {frame.name for frame in shown.tree.frames}
    assert not any("device_time (ns)" in own for own in shown.tree.own)
    without = [span for span in trace.spans if span.kind is not SpanKind.METRIC]
    (busy,) = streams_of(trace)
    (program,) = streams_of(replace(trace, spans=without, flows=()))
    assert len(busy.work.span) == len(program.work.span)


def test_chrome_traces_name_reads_as_known_ones_do(
    fake_driver: FakeDriver, stream: list[int]
) -> None:
    proton.start("run", backend="cupti", data="trace", hook="triton")
    replay_layer(fake_driver, stream, 1)
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    reads = [event for event in kernels if event["name"] == "<metric>"]
    above = [event["args"]["call_stack"][-2] for event in reads]
    assert sorted(above) == [STATE, "matmul", "matmul"]
    assert {event["dur"] for event in reads} == {0}
    assert {event["tid"] for event in reads} == {event["tid"] for event in kernels}
