"""Sessions beside another holder of CUPTI, on the fake driver: Triton kernels timed with events."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proton
from proton.errors import ProtonWarning
from tests.native.fake_cuda.driver import FakeDriver

triton = pytest.importorskip("triton")


def launch(driver: FakeDriver, name: str, **metadata: Any) -> None:
    """A launch as Triton makes it: its hooks round the driver's call."""
    data = {"name": name, "stream": 0, "function": None, **metadata}
    lazy = SimpleNamespace(data=data, get=lambda: data)
    runtime = triton.knobs.runtime
    runtime.launch_enter_hook(lazy)
    driver.launch(name)
    runtime.launch_exit_hook(lazy)


def paths(file: str) -> dict[str, int]:
    """Path of each kernel -> how often it ran."""
    found = {}
    pending = [("", json.loads(Path(file).read_bytes())[0])]
    while pending:
        above, node = pending.pop()
        for child in node["children"]:
            path = above + child["frame"]["name"]
            if "count" in child["metrics"]:
                found[path] = child["metrics"]["count"]
            pending.append((path + "/", child))
    return found


@pytest.fixture
def held(fake_driver: FakeDriver, tmp_cwd: Path) -> Any:
    fake_driver.launch("warm")  # a context is current
    fake_driver.hold("Kineto")
    yield fake_driver
    fake_driver.hold(None)


def test_kernels_are_booked_where_they_were_launched(held: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", hook="triton")
    for step in range(3):
        with proton.scope(f"step{step}"):
            launch(held, "matmul", flops=4.0)
    held.launch("torch_kernel")  # nobody hears of it
    proton.finalize(session)
    assert paths("run.hatchet") == {f"step{step}/matmul": 1 for step in range(3)}
    root, devices = json.loads(Path("run.hatchet").read_bytes())
    assert root["children"][0]["children"][0]["metrics"]["flops"] == 4.0
    (warning,) = root["proton"]["warnings"]
    assert "another tool holds CUPTI: Kineto" in warning
    assert "timed with CUDA events" in warning
    assert devices["CUDA"]["0"]["num_sms"] == 132
    assert root["proton"]["losses"] == {}
    assert held.counter("cuEventCreate") == held.counter("cuEventDestroy_v2")
    assert held.counter("cuCtxSynchronize") == held.counter("cuStreamSynchronize") == 0


def test_launches_while_a_graph_is_captured_are_counted(held: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    stream = held.stream()
    held.calls.fake_capture_begin(stream)
    launch(held, "captured", stream=stream)
    held.calls.fake_capture_end(stream)
    launch(held, "seen")
    proton.finalize(session)
    assert paths("run.hatchet") == {"seen": 1}
    assert json.loads(Path("run.hatchet").read_bytes())[0]["proton"]["losses"] == {
        "captured_launch": 1
    }


def test_an_activated_session_takes_cupti_when_it_is_free(held: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", hook="triton")
    with proton.scope("held"):
        launch(held, "matmul", flops=4.0)
        held.launch("torch_kernel")
    proton.deactivate(session)
    proton.activate(session)  # the other tool is still there
    with proton.scope("held"):
        launch(held, "matmul", flops=4.0)
    proton.deactivate(session)
    held.hold(None)
    proton.activate(session)
    with proton.scope("free"):
        launch(held, "matmul", flops=4.0)
        held.launch("torch_kernel")
    proton.finalize(session)
    assert paths("run.hatchet") == {"held/matmul": 2, "free/matmul": 1, "free/torch_kernel": 1}
    header = json.loads(Path("run.hatchet").read_bytes())[0]["proton"]
    assert header["losses"] == {}
    assert ["timed with CUDA events" in text for text in header["warnings"]] == [True, False]
    assert "CUPTI was free when the session was activated again" in header["warnings"][1]
    assert held.counter("cuEventCreate") == held.counter("cuEventDestroy_v2")
    assert held.counter("is_subscribed") == 0
    assert held.violations == []


def test_a_launch_under_way_over_the_change_is_booked_once(held: FakeDriver) -> None:
    held.option("hold", 1)
    session = proton.start("run", backend="cupti")
    launch(held, "slow")
    proton.deactivate(session)
    held.hold(None)
    proton.activate(session)
    held.launch("later")
    held.option("hold", 0)
    proton.finalize(session)
    assert paths("run.hatchet") == {"slow": 1, "later": 1}


def test_an_empty_session_beside_another_tool_says_who_held_cupti(held: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    held.launch("torch_kernel")
    with pytest.warns(ProtonWarning, match="no kernel was recorded .*holds CUPTI: Kineto"):
        proton.finalize(session)


def test_a_trace_has_the_kernels_on_their_stream(held: FakeDriver) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    launch(held, "a")
    launch(held, "b")
    proton.finalize(session)
    events = json.loads(Path("run.chrome_trace").read_bytes())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert [event["name"] for event in kernels] == ["a", "b"]
    assert kernels[0]["ts"] <= kernels[1]["ts"]
