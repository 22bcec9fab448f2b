"""Kernels that record, on the fake driver: compiled and launched by Triton, read by the recorder,
booked into sessions of both kinds, alone and beside CUPTI.
"""

# LoadedKernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import json
import threading
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl

import proton
import proton.language as pl
from proton import _native
from proton._triton import launch as _triton_launch
from proton.backends.instrumentation.loaded_kernels import ProbeCost
from proton.errors import UsageError
from proton.files.detect import open_profile
from proton.inkernel.compiler.compile_hook import read_records
from proton.model.trace import LaneKind
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in
from tests.support.recorded_softmax import ROWS, WARPS, launch_softmax, read, softmax

torch = pytest.importorskip("torch")


@triton.jit
def copy(x_ptr, y_ptr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def named_twice(x_ptr, B: tl.constexpr):
    at = tl.arange(0, B)
    pl.value("step", B)
    with pl.scope("step"):
        tl.store(x_ptr + at, tl.load(x_ptr + at) + 1)


def node(root: dict[str, Any], path: str) -> dict[str, Any]:
    for name in path.split("/"):
        root = next(each for each in root["children"] if each["frame"]["name"] == name)
    return root


def test_a_scope_is_timed_though_a_value_before_it_has_its_name(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation")
    named_twice[(1,)](torch.zeros(64), B=64, num_warps=WARPS)
    proton.finalize(session)
    _, (entry,) = read()
    (step,) = entry["regions"]
    assert (step["name"], step["kind"], step["count"]) == ("step", "scope", WARPS)
    assert step["cycles"] == (200 - 20) * WARPS


def test_regions_stand_below_their_kernel_in_the_scope_of_the_launch(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation")
    with proton.scope("layer"):
        for _ in range(3):
            launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    devices = json.loads(Path("run.hatchet").read_bytes())[1]
    assert devices["CUDA"]["0"]["num_sms"] == 132
    assert root["proton"]["losses"] == {}
    assert root["proton"]["warnings"] == []
    kernel = node(root, "layer/softmax")
    assert kernel["metrics"]["count"] == 3
    assert kernel["metrics"]["time (ns)"] == 3 * 20_000
    load = node(root, "layer/softmax/load")["metrics"]
    warps = 3 * ROWS * WARPS
    assert load["cycles"] == (200 - 20) * warps
    assert load["normalized_cycles"] == pytest.approx(3 * (200 - 20))
    assert load["nanoseconds (ns)"] == pytest.approx((200 - 20) * warps / 1.5)
    assert entry["context"] == ["layer"]
    assert (entry["launches"], entry["recorded_warps"]) == (3, warps)
    assert entry["clock_ghz"] == pytest.approx(1.5)
    assert (entry["record_cycles"], entry["error_cycles"]) == (20.0, 1.0)
    assert [each["name"] for each in entry["regions"]] == ["load", "reduce"]
    region = entry["regions"][0]
    assert region["count"] == warps
    assert region["p10"] == region["p50"] == region["p90"] == region["min"] == 180
    assert region["file"].endswith("recorded_softmax.py")
    content = Path(region["file"]).read_bytes()
    assert entry["files"][region["file"]] == {
        "sha256": sha256(content).hexdigest(),
        "size": len(content),
    }
    assert region["line"] > 0
    assert entry["ctas"]["count"] == entry["ctas"]["sms"] == ROWS
    assert entry["ctas"]["waves"] == 1.0
    assert entry["losses"] == {}


def test_kernels_without_records_are_left_alone(launches: Any, fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="instrumentation")
    x = torch.zeros(64)
    with proton.scope("layer"):
        copy[(1,)](x, x, B=64)
    proton.finalize(session)
    root, entries = read()
    assert entries == []
    assert fake_driver.counter("cuMemAlloc_v2") == 0
    (warning,) = root["proton"]["warnings"]
    assert "no kernel with records was launched: mode 'default' found nothing" in warning


def test_afterwards_the_plain_kernel_runs_again(launches: Any, fake_driver: FakeDriver) -> None:
    from triton.runtime import _allocation

    launch_softmax()
    of_graphs = _native.InKernel.stats()["pool_bytes"]  # which keep theirs
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    launched = _native.InKernel.stats()["launches"]
    proton.finalize(session)
    launch_softmax()
    assert _native.InKernel.stats()["launches"] == launched
    assert _native.InKernel.stats()["pool_bytes"] == of_graphs
    assert fake_driver.counter("cuMemAlloc_v2") == fake_driver.counter("cuMemFree_v2")
    assert fake_driver.counter("cuEventCreate") == fake_driver.counter("cuEventDestroy_v2")
    kept: Any = next(
        each for each in _triton_launch.loaded_kernels() if read_records(each.metadata)
    )
    kept[(ROWS, 1, 1)](0, 0, 64)  # which the program may launch by itself
    assert not isinstance(_allocation._profile_allocator.get(), _allocation.NullAllocator)


def test_beside_cupti_the_kernel_has_cuptis_time_and_no_copies_of_ours(launches: Any) -> None:
    session = proton.start("run", backend="cupti")
    proton.start("run", backend="instrumentation")
    with proton.scope("layer"):
        launch_softmax()
        launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    assert root["proton"]["losses"] == {}
    (layer,) = root["children"]
    (kernel,) = layer["children"]
    assert kernel["metrics"]["count"] == 2
    assert [each["frame"]["name"] for each in kernel["children"]] == ["load", "reduce"]
    assert entry["launches"] == 2


def trace_beside_cupti() -> tuple[list[dict[str, Any]], dict[str, Any], float]:
    """Regions of the warps of a launch, its kernel, and the host's microseconds around both."""
    session = proton.start("run", backend="cupti", data="trace")
    proton.start("run", backend="instrumentation", data="trace")
    begin_ns = time.monotonic_ns()
    launch_softmax()
    proton.deactivate(session, flushing=True)
    around_us = (time.monotonic_ns() - begin_ns) / 1000
    proton.finalize(session)
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    warps = [each for each in events if str(each.get("tid")).startswith("warp ")]
    return warps, next(each for each in events if each.get("cat") == "kernel"), around_us


def test_a_trace_has_a_lane_for_every_warp(launches: Any) -> None:
    warps, kernel, _ = trace_beside_cupti()
    assert len(warps) == 2 * ROWS * WARPS
    assert {each["pid"] for each in warps} == {f"softmax Core{n} CTA{n}" for n in range(ROWS)}
    assert {each["name"] for each in warps} == {"load", "reduce"}
    assert warps[0]["args"]["call_stack"] == ["ROOT", "softmax", "load"]
    assert warps[0]["args"]["Frequency (MHz)"] == 1500
    assert kernel["name"] == "softmax"
    trace = trace_in(open_profile("run.chrome_trace"))
    assert sum(lane.kind is LaneKind.WARP for lane in trace.lanes) == ROWS * WARPS


def test_warps_of_a_trace_lie_beside_their_kernel_as_closely_as_the_host_could_look(
    launches: Any,
) -> None:
    warps, kernel, around_us = trace_beside_cupti()
    # The device's clock is known from when the host gave the buffer away and saw the launch ended.
    # Both spans lie between these moments, which a busy machine moves apart: beyond 5 ms warps are
    # not moved into the run (tests/unit/test_native_recorded.py).
    first = min(each["ts"] for each in warps) - kernel["ts"]
    last = max(each["ts"] + each["dur"] for each in warps) - kernel["ts"] - kernel["dur"]
    assert abs(first) <= around_us
    assert abs(last) <= around_us


def test_with_time_shift_regions_on_a_timeline_are_as_long_as_their_sums(launches: Any) -> None:
    lengths = []
    for mode in ("default", "default:optimizations=time_shift"):
        session = proton.start("run", backend="instrumentation", data="trace", mode=mode)
        launch_softmax()
        proton.finalize(session)
        events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
        warps = [each for each in events if str(each.get("tid")).startswith("warp ")]
        lengths.append(max(each["dur"] * 1500 for each in warps))  # in cycles
    assert lengths == pytest.approx([200, 180], abs=2)


def test_launch_metadata_names_the_kernel_that_recorded(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation", hook="triton")
    softmax.launch_metadata = lambda grid, metadata, args: {"name": f"softmax_{args['n']}"}
    try:
        launch_softmax()
    finally:
        softmax.launch_metadata = None
    proton.finalize(session)
    root, (entry,) = read()
    assert entry["kernel"] == "softmax_64"
    assert node(root, "softmax_64/load")["metrics"]["cycles"] > 0


def test_a_graph_is_read_at_each_flush_and_counts_its_last_replay(
    launches: Any, fake_driver: FakeDriver
) -> None:
    stream = fake_driver.stream()
    session = proton.start("run", backend="instrumentation")
    fake_driver.calls.fake_capture_begin(stream)
    launches.stream = stream
    with proton.scope("captured"):
        launch_softmax()
    graph = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    proton.deactivate(session, flushing=True)  # nothing was replayed
    proton.activate(session)
    fake_driver.replay(graph)
    fake_driver.replay(graph)
    proton.deactivate(session, flushing=True)
    proton.activate(session)
    fake_driver.replay(graph)
    proton.finalize(session)
    root, (entry,) = read()
    assert entry["context"] == ["<captured_at>", "captured"]
    assert (entry["launches"], entry["recorded_warps"]) == (2, 2 * ROWS * WARPS)
    assert (entry["replays"], entry["losses"]) == (3, {"unread_replays": 1})
    assert node(root, "<captured_at>/captured/softmax/load")["metrics"]["cycles"] > 0
    fake_driver.replay(graph)  # its buffer is still there


def test_threads_launch_at_the_same_time_in_scopes_of_their_own(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation")
    launch_softmax()

    def work(name: str) -> None:
        with proton.scope(name):
            for _ in range(20):
                launch_softmax()

    threads = [threading.Thread(target=work, args=(f"thread{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    proton.finalize(session)
    _, entries = read()
    found = {tuple(each["context"]): each["launches"] for each in entries}
    expected: dict[tuple[str, ...], int] = {(f"thread{n}",): 20 for n in range(4)}
    assert found == expected | {(): 1}


def test_no_launch_is_lost_while_another_thread_measures_the_cost_of_records(
    launches: Any, monkeypatch: Any
) -> None:
    """Threads that launch a kernel which one of them has just loaded once went on unread."""
    kernels = launches.path.kernels
    arrived: set[int] = set()
    all_arrived = threading.Event()

    def noting(original: Any) -> Any:
        def call(*given: Any) -> Any:
            arrived.add(threading.get_ident())
            if len(arrived) == 4:
                all_arrived.set()
            return original(*given)

        return call

    def measure(records: Any) -> ProbeCost:
        assert all_arrived.wait(timeout=20), arrived
        return ProbeCost(20.0, 20.0, 1.0)

    monkeypatch.setattr(kernels, "find", noting(kernels.find))
    monkeypatch.setattr(kernels, "on_load", noting(kernels.on_load))
    monkeypatch.setattr(kernels, "_cost_of", measure)
    session = proton.start("run", backend="instrumentation")
    x = torch.zeros(ROWS, 64)
    softmax.warmup(x, torch.empty_like(x), 64, B=64, num_warps=WARPS, grid=(ROWS,))

    def work(name: str) -> None:
        with proton.scope(name):
            for _ in range(10):
                launch_softmax()

    threads = [threading.Thread(target=work, args=(f"thread{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    proton.finalize(session)
    root, entries = read()
    found = {each["context"][0]: 0 for each in entries}
    for each in entries:  # threads that load a kernel at the same time each have their own
        found[each["context"][0]] += each["launches"]
    assert found == {f"thread{n}": 10 for n in range(4)}
    assert root["proton"]["losses"] == {}


def test_launches_of_which_nobody_says_what_they_are_of_are_counted_as_lost(
    launches: Any, monkeypatch: Any
) -> None:
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    monkeypatch.setattr(launches.path.kernels, "find", lambda *given: None)
    launch_softmax()
    launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    assert entry["launches"] == 1
    assert root["proton"]["losses"] == {"dropped_buffers": 2}
    (warning,) = root["proton"]["warnings"]
    assert "not known which kernel" in warning


def test_phases_have_their_own_launches(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation")
    assert session is not None
    launch_softmax()
    proton.data.advance_phase(session)
    launch_softmax()
    launch_softmax()
    proton.finalize(session)
    (first,) = read("run.part_0.hatchet")[1]
    (second,) = read("run.part_1.hatchet")[1]
    assert (first["launches"], second["launches"]) == (1, 2)


def test_two_sessions_get_the_same_launch_each_in_its_own_context(launches: Any) -> None:
    shadow = proton.start("shadow", backend="instrumentation")
    python = proton.start("python", backend="instrumentation", context="python")
    with proton.scope("layer"):
        launch_softmax()
    proton.finalize(shadow)
    proton.finalize(python)
    assert read("shadow.hatchet")[1][0]["context"] == ["layer"]
    frames = read("python.hatchet")[1][0]["context"]
    assert any("launch_softmax" in frame for frame in frames), frames


def test_a_buffer_that_there_is_no_memory_for_is_counted_and_the_launch_goes_on(
    launches: Any, fake_driver: FakeDriver
) -> None:
    session = proton.start("run", backend="instrumentation")
    fake_driver.fail("cuMemAlloc_v2", 2, times=1)
    x = torch.zeros(ROWS, 64)
    for _ in range(2):  # larger than what launches of other tests may have left in the pool
        softmax[(16 * ROWS,)](x, torch.empty_like(x), 64, B=64, num_warps=WARPS)
    proton.finalize(session)
    root, (entry,) = read()
    assert entry["launches"] == 1
    assert entry["losses"]["dropped_buffers"] == 1
    assert "no memory for the records of a launch" in root["proton"]["warnings"][0]


def test_a_context_that_is_gone_loses_its_records_and_nothing_else(
    launches: Any, fake_driver: FakeDriver
) -> None:
    session = proton.start("run", backend="instrumentation")
    fake_driver.fail("cuMemcpyDtoHAsync_v2", 709, times=1)
    launch_softmax()
    proton.deactivate(session, flushing=True)
    proton.activate(session)
    launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    assert (entry["launches"], entry["losses"]) == (1, {"dropped_buffers": 1})
    assert root["proton"]["losses"] == {"dropped_buffers": 1}
    assert "context is destroyed" in root["proton"]["warnings"][0]


def test_a_kernel_that_does_not_end_is_waited_for_no_longer_than_the_limit(
    launches: Any, fake_driver: FakeDriver, monkeypatch: Any
) -> None:
    from proton.runtime.sessions import find

    session = proton.start("run", backend="instrumentation")
    assert session is not None
    find(session).flush_limit_s = 0.2
    fake_driver.option("hold", 1)
    with proton.scope("layer"):
        launch_softmax()
    proton.finalize(session)
    fake_driver.option("hold", 0)
    root, entries = read()
    assert entries == []
    assert root["proton"]["losses"] == {"flush_timeout": 1}


def test_modes_that_differ_cannot_record_at_the_same_time(launches: Any) -> None:
    session = proton.start("one", backend="instrumentation", mode="default")
    with pytest.raises(UsageError, match="'ops'"):
        proton.start("two", backend="instrumentation", mode="ops")
    launch_softmax()
    proton.finalize(session)
    assert read("one.hatchet")[1][0]["launches"] == 1


def test_a_launch_of_no_cta_is_none(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation")
    launch_softmax()
    x = torch.zeros(ROWS, 64)
    softmax[(0,)](x, x, 64, B=64, num_warps=WARPS)
    proton.finalize(session)
    root, (entry,) = read()
    assert (entry["launches"], entry["losses"]) == (1, {})
    assert root["proton"]["warnings"] == []


def test_what_counts_replays_is_in_no_profile(launches: Any, fake_driver: FakeDriver) -> None:
    stream = fake_driver.stream()
    session = proton.start("run", backend="instrumentation")
    fake_driver.calls.fake_capture_begin(stream)
    launches.stream = stream
    launch_softmax()
    graph = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    fake_driver.replay(graph)
    proton.finalize(session)
    session = proton.start("later", backend="cupti")  # which did not see it being captured
    launches.stream = None
    fake_driver.replay(graph)
    fake_driver.replay(graph)
    proton.finalize(session)
    root, *_ = json.loads(Path("later.hatchet").read_bytes())
    found: dict[str, int] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        waiting += each["children"]
        found[each["frame"]["name"]] = each["metrics"].get("count", 0)
    assert found.pop("softmax") == 2
    assert not [name for name in found if name.startswith("proton_")], found
