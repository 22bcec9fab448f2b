"""Metric values that are device tensors, read by Proton's kernel on the fake driver."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native, _torch
from proton.errors import MetricTypeError
from proton.files.detect import open_profile
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in

torch = pytest.importorskip("torch")

from tests.support.device_tensors import OnGpu, launch_with, metrics_of, on_gpu  # noqa: E402

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def kernel_names(profile: Any) -> set[str]:
    timed = (path for path, own in metrics_of(profile).items() if "time (ns)" in own)
    return {path.rpartition("/")[2] for path in timed}


DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


@pytest.mark.usefixtures("stream")
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_and_lists_of_every_type(
    fake_driver: FakeDriver, profile_of: Any, dtype: str
) -> None:
    kind = getattr(torch, dtype)
    proton.start("run", backend="cupti")
    with proton.scope("a", {"x": on_gpu(3, kind), "v": on_gpu([1, 0, 100], kind)}):
        fake_driver.launch("k")
    with proton.scope("a", {"x": on_gpu(4, kind), "v": on_gpu([1, 2, 3], kind)}):
        pass
    proton.finalize()
    profile = profile_of("run.hatchet")
    own = metrics_of(profile)["a"]
    assert own == {"x": 7, "v": [2, 2, 103]}
    assert isinstance(own["x"], float if kind.is_floating_point else int)
    assert kernel_names(profile) == {"k"}
    assert profile.losses == {}


@pytest.mark.usefixtures("stream")
def test_bools_strides_and_unsigned_numbers(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    grid = torch.arange(12, dtype=torch.int32).reshape(3, 4)
    given = {
        "bool": on_gpu(True),
        "column": grid[:, 1].as_subclass(OnGpu),
        "grid": grid.as_subclass(OnGpu),
        "repeated": torch.tensor([2.5]).expand(3).as_subclass(OnGpu),
        "negative": on_gpu(-5, torch.int8),
        "unsigned": on_gpu(65535, torch.uint16),
    }
    with proton.scope("a", given):
        pass
    proton.finalize()
    assert metrics_of(profile_of("run.hatchet"))["a"] == {
        "bool": 1,
        "column": [1, 5, 9],
        "grid": list(range(12)),
        "repeated": [2.5, 2.5, 2.5],
        "negative": -5,
        "unsigned": 65535,
    }


@pytest.mark.usefixtures("stream")
def test_names_decide_the_type_and_the_kind(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    for step in range(3):
        given = {
            "flops": on_gpu(step),
            "bytes": on_gpu(step + 0.0),
            "lr (pty)": on_gpu(step),
            "own (exc)": on_gpu(1),
        }
        with proton.scope("a", given):
            pass
    proton.finalize()
    own = metrics_of(profile_of("run.hatchet"))["a"]
    assert own == {"flops": 3.0, "bytes": 3, "lr": 2, "own": 3}
    assert isinstance(own["flops"], float)
    assert isinstance(own["bytes"], int)


@pytest.mark.usefixtures("stream")
def test_values_are_those_at_the_call(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    value = on_gpu(1.0)
    with proton.scope("at_exit", {"x": value}):
        value.fill_(2.0)
    value.fill_(50.0)
    proton.enter_scope("at_entry", metrics={"x": value})
    value.fill_(7.0)
    proton.exit_scope("at_entry", metrics={"y": value})
    with proton.cpu_timed_scope("timed", {"x": value}):
        pass
    proton.finalize()
    found = metrics_of(profile_of("run.hatchet"))
    assert found["at_exit"] == {"x": 2.0}
    assert found["at_entry"] == {"x": 50.0, "y": 7.0}
    assert found["timed"]["x"] == 7.0
    assert "cpu_time (ns)" in found["timed"]


@pytest.mark.usefixtures("stream")
def test_tensors_and_plain_numbers_of_one_metric_add_up(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    proton.start("run", backend="cupti")
    for value in (1.5, on_gpu(2.0), 3.0):
        with proton.scope("a", {"x": value}):
            pass
    with (
        pytest.raises(ValueError, match=r"metric 'x' of 'a' changed its type from float to int"),
        proton.scope("a", {"x": on_gpu(1)}),
    ):
        pass
    with (
        pytest.raises(ValueError, match=r"from float to list of 2 floats"),
        proton.scope("a", {"x": on_gpu([1.0, 2.0])}),
    ):
        pass
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert metrics_of(profile)["a"] == {"x": 6.5}


@pytest.mark.usefixtures("stream")
def test_a_tensor_of_one_element_is_a_number(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti", hook="triton")
    column = torch.arange(6.0).reshape(3, 2)[1:2, 1:]
    given = {"gpu": on_gpu([8.0]), "view": column.as_subclass(OnGpu), "cpu": torch.ones(1, 1)}
    with proton.scope("a", given):
        launch_with(fake_driver, "matmul", {"flops": on_gpu([[4.0]])})
    proton.finalize()
    found = metrics_of(profile_of("run.hatchet"))
    assert found["a"] == {"gpu": 8.0, "view": 3.0, "cpu": 1.0}
    assert found["a/matmul"]["flops"] == 4.0


def test_a_captured_value_counts_at_every_replay_with_the_value_of_then(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    proton.start("run", backend="cupti")
    value, vector = on_gpu(100.0), on_gpu([1, 1])
    stream[0] = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer", {"x": value, "v": vector, "plain": 2}):
        fake_driver.launch("k", 4, stream[0])
    with proton.scope("no_kernel", {"x": value}):
        pass
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream[0]))
    for step in range(5):
        value.fill_(float(step))
        vector[1] = step
        with proton.scope("even" if step % 2 == 0 else "odd"):
            fake_driver.replay(executable)
    proton.finalize()
    profile = profile_of("run.hatchet")
    found = metrics_of(profile)
    assert found["even/<captured_at>/layer"] == {"x": 6.0, "v": [3, 6], "plain": 6}
    assert found["odd/<captured_at>/layer"] == {"x": 4.0, "v": [2, 4], "plain": 4}
    assert found["even/<captured_at>/no_kernel"] == {"x": 6.0}
    assert "layer" not in found
    assert "no_kernel" not in found
    assert kernel_names(profile) == {"k"}
    assert profile.losses == {}


def test_captured_values_go_to_the_phases_and_sessions_of_the_replay(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    first = proton.start("first", backend="cupti")
    value = on_gpu(1)
    stream[0] = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer", {"x": value}):
        fake_driver.launch("k", 4, stream[0])
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream[0]))
    fake_driver.replay(executable)
    second = proton.start("second", backend="cupti")
    value.fill_(10)
    fake_driver.replay(executable)
    proton.data.advance_phase(first)
    value.fill_(100)
    fake_driver.replay(executable)
    proton.deactivate(first)
    value.fill_(1000)
    fake_driver.replay(executable)
    proton.deactivate(second)
    value.fill_(5)
    fake_driver.replay(executable)  # nobody's
    proton.activate()
    value.fill_(10000)
    fake_driver.replay(executable)
    proton.finalize()
    path = "<captured_at>/layer"
    assert metrics_of(profile_of("first.part_0.hatchet"))[path] == {"x": 11}
    assert metrics_of(profile_of("first.part_1.hatchet"))[path] == {"x": 10100}
    assert metrics_of(profile_of("second.hatchet"))[path] == {"x": 11110}


@pytest.mark.usefixtures("stream")
def test_values_belong_to_the_phase_of_the_call(fake_driver: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")
    frames = proton.start("frames", backend="cupti", context="python")
    for step in range(3):
        with proton.scope("a", {"x": on_gpu(step + 1)}):
            pass
        proton.data.advance_phase(session)
    proton.finalize()
    for phase in range(3):
        own = metrics_of(profile_of(f"run.part_{phase}.hatchet"))["a"]
        assert own == {"x": phase + 1}
    assert {"x": 6} in metrics_of(profile_of("frames.hatchet")).values()
    assert frames != session


@pytest.mark.usefixtures("stream")
def test_launch_metadata_reaches_its_kernel(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti", hook="triton")
    proton.start("without", backend="cupti")
    for step in range(4):
        with proton.scope("s"):
            given = {"flops": on_gpu(step), "tokens": on_gpu([step, 1]), "plain": 1}
            launch_with(fake_driver, "matmul", given)
    _native.enter_op("matmul", {"flops": on_gpu(1000)})  # a launch that failed
    _native.exit_op()
    proton.finalize()
    profile = profile_of("run.hatchet")
    own = metrics_of(profile)["s/matmul"]
    assert own["flops"] == 6.0
    assert own["tokens"] == [6, 4]
    assert (own["plain"], own["count"]) == (4, 4)
    assert profile.losses == {}
    assert "flops" not in metrics_of(profile_of("without.hatchet"))["s/raw"]


def test_captured_launch_metadata_reaches_its_kernel(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    proton.start("run", backend="cupti", hook="triton")
    value = on_gpu(0)
    stream[0] = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer"):
        launch_with(fake_driver, "matmul", {"bytes": value}, stream[0])
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream[0]))
    with proton.scope("run"):
        for step in range(5):
            value.fill_(10**step)
            fake_driver.replay(executable)
    proton.finalize()
    profile = profile_of("run.hatchet")
    own = metrics_of(profile)["run/<captured_at>/layer/matmul"]
    assert (own["bytes"], own["count"]) == (11111, 5)
    assert kernel_names(profile) == {"matmul"}


def test_graph_level_keeps_the_sum(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    proton.start("run", backend="cupti", mode="graphs=graph")
    value = on_gpu(1)
    stream[0] = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer", {"x": value}):
        fake_driver.launch("k", 4, stream[0])
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream[0]))
    for step in range(3):
        value.fill_(10**step)
        fake_driver.replay(executable)
    proton.finalize()
    assert metrics_of(profile_of("run.hatchet"))["<captured_at>/layer"] == {"x": 111}


def test_traces_carry_every_value(fake_driver: FakeDriver, stream: list[int]) -> None:
    proton.start("run", backend="cupti", data="trace", hook="triton")
    value = on_gpu(1.0)
    for step in range(3):
        value.fill_(step + 0.5)
        with proton.scope("eager", {"x": value}):
            launch_with(fake_driver, "matmul", {"y": value})
    stream[0] = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream[0])
    with proton.scope("layer", {"z": value}):
        launch_with(fake_driver, "inner", {"w": value}, stream[0])
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream[0]))
    for step in range(2):
        value.fill_(step + 7.0)
        fake_driver.replay(executable)
    proton.finalize()
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    shown = [
        (event["args"]["call_stack"][-1], key, float(number))
        for event in events
        if event["ph"] == "X"
        for key, number in event.get("args", {}).get("metrics", {}).items()
    ]
    assert sorted(shown) == [
        ("eager", "x", 0.5),
        ("eager", "x", 1.5),
        ("eager", "x", 2.5),
        ("inner", "w", 7.0),
        ("inner", "w", 8.0),
        ("layer", "z", 7.0),
        ("layer", "z", 8.0),
        ("matmul", "y", 0.5),
        ("matmul", "y", 1.5),
        ("matmul", "y", 2.5),
    ]
    assert not any("proton_read" in event["name"] for event in events)
    names = [span.name for span in trace_in(open_profile(Path("run.chrome_trace"))).spans]
    assert names.count("launch matmul") == 3
    assert names.count("cuLaunchKernel") == 1  # the one that was captured: ours is not shown


@pytest.mark.usefixtures("stream")
def test_threads_give_values_at_the_same_time(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    values = [on_gpu(number) for number in range(8)]

    def work(number: int) -> None:
        for _ in range(200):
            with proton.scope(f"t{number}", {"x": values[number]}):
                fake_driver.launch("k", 1)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    proton.finalize()
    profile = profile_of("run.hatchet")
    found = metrics_of(profile)
    assert {number: found[f"t{number}"]["x"] for number in range(8)} == {
        number: 200 * number for number in range(8)
    }
    assert profile.losses == {}


@pytest.mark.usefixtures("stream")
def test_values_that_are_no_numbers_are_counted(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    for value in (float("nan"), 1.0, float("inf")):
        with proton.scope("a", {"x": on_gpu(value)}):
            pass
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert metrics_of(profile)["a"] == {"x": 1.0}
    assert profile.losses == {"bad_metric": 2}


@pytest.mark.usefixtures("stream")
def test_what_cannot_be_read_is_refused_with_a_remedy(fake_driver: FakeDriver) -> None:
    proton.start("run", backend="cupti")
    refused = [
        (torch.zeros(2, 3).t().as_subclass(OnGpu), r"give real numbers that lie in order"),
        (on_gpu(1j), r"of type torch.complex64"),
        (on_gpu([]), r"no element; leave it out"),
        (torch.zeros(5000).as_subclass(OnGpu), r"a list of 5000 numbers; give from 1 to 4096"),
    ]
    for value, text in refused:
        with pytest.raises(MetricTypeError, match=text), proton.scope("a", {"x": value}):
            pass
    fake_driver.fail("cuModuleLoadData", 222)
    fake_driver.fail("cuLaunchKernel", 719)
    with (
        pytest.raises(MetricTypeError, match=r"cu\w+ failed: .*give value.cpu\(\)"),
        proton.scope("a", {"x": on_gpu(1)}),
    ):
        pass
    fake_driver.clear()
    assert _native.Cupti.stats()["values"] == 0
    proton.finalize()


@pytest.mark.usefixtures("stream")
def test_without_a_session_of_a_gpu_a_device_tensor_is_refused() -> None:
    proton.start("run", backend="interpreter")
    with (
        pytest.raises(MetricTypeError, match=r"only an active session of backend 'cupti'"),
        proton.scope("a", {"x": on_gpu(1)}),
    ):
        pass
    proton.finalize()


def test_destroyed_graphs_and_ended_sessions_leave_no_values_behind(
    fake_driver: FakeDriver, profile_of: Any, stream: list[int]
) -> None:
    session = proton.start("run", backend="cupti")
    value = on_gpu(1)
    stream[0] = fake_driver.stream()
    for _ in range(20):
        fake_driver.calls.fake_capture_begin(stream[0])
        with proton.scope("layer", {"x": value}):
            fake_driver.launch("k", 4, stream[0])
        graph = fake_driver.calls.fake_capture_end(stream[0])
        executable = fake_driver.instantiate(graph)
        fake_driver.replay(executable)
        fake_driver.calls.fake_graph_exec_destroy(executable)
        fake_driver.calls.fake_graph_destroy(graph)
    proton.deactivate(session, flushing=True)
    assert _native.Cupti.stats()["values"] == 0
    proton.activate(session)
    proton.finalize(session)
    assert metrics_of(profile_of("run.hatchet"))["<captured_at>/layer"] == {"x": 20}


@pytest.mark.usefixtures("stream")
def test_a_reset_device_is_read_again(fake_driver: FakeDriver, profile_of: Any) -> None:
    proton.start("run", backend="cupti")
    for _ in range(3):
        with proton.scope("a", {"x": on_gpu(2)}):
            fake_driver.launch("k")
        fake_driver.calls.fake_device_reset(0)
    proton.finalize()
    profile = profile_of("run.hatchet")
    assert metrics_of(profile)["a"] == {"x": 6}
    assert profile.losses == {}


@pytest.mark.usefixtures("stream")
def test_the_buffer_may_be_small(
    fake_driver: FakeDriver, profile_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_PROFILE_METRIC_BUFFER_SIZE", "1")
    proton.start("run", backend="cupti")
    context = fake_driver.calls.fake_context_create(0)  # one that has no buffer yet
    ones = on_gpu([1] * 1000)
    for _ in range(100):  # six times as much as it holds
        with proton.scope("a", {"x": ones}):
            pass
    proton.finalize()
    fake_driver.calls.fake_context_destroy(context)
    profile = profile_of("run.hatchet")
    assert metrics_of(profile)["a"] == {"x": [100] * 1000}
    assert profile.losses == {}


@pytest.mark.usefixtures("stream")
def test_devices_are_read_in_their_own_contexts(fake_driver: FakeDriver, profile_of: Any) -> None:
    fake_driver.option("device_count", 2)
    proton.start("run", backend="cupti")
    other = on_gpu(40)
    other.device_index = 1
    with proton.scope("a", {"x": on_gpu(2)}), proton.scope("b", {"x": other}):
        fake_driver.launch("k")
    proton.finalize()
    found = metrics_of(profile_of("run.hatchet"))
    assert found["a"] == {"x": 2}
    assert found["a/b"] == {"x": 40}


class OnSecondGpu(OnGpu):
    device_index = 1


def test_values_are_read_on_the_device_that_has_them(
    fake_driver: FakeDriver, profile_of: Any, monkeypatch: pytest.MonkeyPatch, stream: list[int]
) -> None:
    fake_driver.option("device_count", 2)
    contexts = [fake_driver.calls.fake_context_create(device) for device in (1, 0)]
    streams = [stream[0], 0]
    monkeypatch.setattr(_torch, "current_stream", lambda device: streams[device])
    session = proton.start("run", backend="cupti", hook="triton")
    second = torch.tensor(5.0).as_subclass(OnSecondGpu)
    with proton.scope("a", {"x": on_gpu(3.0), "y": second}):
        launch_with(fake_driver, "op", {"flops": on_gpu(4.0)})
    proton.finalize(session)
    for context in contexts:
        fake_driver.calls.fake_context_destroy(context)
    profile = profile_of("run.hatchet")
    assert profile.losses == {}
    found = metrics_of(profile)
    assert found["a"] == {"x": 3.0, "y": 5.0}
    assert found["a/op"]["flops"] == 4.0
