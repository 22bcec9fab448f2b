"""Kernels and copies on a real GPU: counted right, timed, and booked where they were launched."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import pytest

import proton

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


def test_kernels_of_torch_are_counted_where_they_were_launched(torch: Any, record: Any) -> None:
    x = torch.ones(1 << 16, device="cuda")

    def work() -> None:
        with proton.scope("outer"):
            for _ in range(7):
                x.add_(1)
            with proton.scope("inner"):
                x.mul_(2)

    recorded = record(work)
    assert recorded.count_under("outer") == 8
    assert recorded.count_under("outer", "inner") == 1
    assert sum(recorded.counts().values()) == 8


def test_times_and_devices_are_those_of_the_gpu(torch: Any, record: Any) -> None:
    a = torch.randn(2048, 2048, device="cuda")
    a @ a
    recorded = record(lambda: a @ a)
    assert 10_000 < recorded.time_ns() < 50_000_000
    (attributes,) = recorded.file.devices["CUDA"].values()
    major, minor = torch.cuda.get_device_capability()
    assert attributes["arch"] == f"{major}{minor}"
    assert attributes["num_sms"] == torch.cuda.get_device_properties(0).multi_processor_count
    assert attributes["clock_rate"] > 100_000
    assert attributes["bus_width"] > 0
    assert recorded.file.losses == {}


def test_the_python_context_names_the_lines_of_the_program(torch: Any, record: Any) -> None:
    x = torch.ones(16, device="cuda")

    def launch_here() -> None:
        x.add_(1)

    recorded = record(launch_here, context="python")
    ((path, metrics),) = recorded.kernels
    assert metrics["count"] == 1
    assert path[-2].startswith(__file__)
    assert path[-2].endswith("@launch_here")


def test_the_backward_pass_belongs_to_the_step_that_called_it(torch: Any, record: Any) -> None:
    model = torch.nn.Linear(64, 64, device="cuda")
    x = torch.ones(8, 64, device="cuda")
    model(x).sum().backward()

    def work() -> None:
        for step in range(3):
            with proton.scope(f"step_{step}"):
                model(x).sum().backward()

    recorded = record(work)
    counts = [recorded.count_under(f"step_{step}") for step in range(3)]
    assert counts[0] == counts[1] == counts[2] > 5
    assert sum(counts) == sum(recorded.counts().values())


def test_threads_keep_their_own_scopes(torch: Any, record: Any) -> None:
    x = [torch.ones(16, device="cuda") for _ in range(4)]

    def worker(index: int) -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), proton.scope(f"thread_{index}"):
            for _ in range(50):
                x[index].add_(1)

    def work() -> None:
        threads = [threading.Thread(target=worker, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    recorded = record(work)
    assert [recorded.count_under(f"thread_{index}") for index in range(4)] == [50] * 4


def test_copies_and_sets_are_seen(torch: Any, record: Any) -> None:
    host = torch.ones(1 << 18).pin_memory()
    device = torch.empty(1 << 18, device="cuda")
    other = torch.empty_like(device)

    def work() -> None:
        with proton.scope("copies"):
            device.copy_(host)
            other.copy_(device)
            host.copy_(device)
            torch.cuda.synchronize()

    recorded = record(work)
    names = {path[-1].lower().replace(" ", "") for path, _ in recorded.copies}
    assert {path[0] for path, _ in recorded.copies} == {"copies"}
    assert sum(metrics["count"] for _, metrics in recorded.copies) == 3, recorded.copies
    for direction in ("htod", "dtod", "dtoh"):
        assert any(direction in name for name in names), names


class Managed:
    """Managed memory of so many floats, for torch and for the host."""

    def __init__(self, count: int) -> None:
        address = ctypes.c_void_p()
        driver = ctypes.CDLL("libcuda.so.1")
        assert driver.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(4 * count), 1) == 0
        assert address.value is not None
        self.host = (ctypes.c_float * count).from_address(address.value)
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": "<f4",
            "data": (address.value, False),
            "version": 3,
        }


@pytest.mark.parametrize("is_asked", [True, False])
def test_pages_that_migrate_are_seen_where_asked_for(
    torch: Any, record: Any, is_asked: bool
) -> None:
    count = 1 << 20

    def work() -> None:
        managed = Managed(count)  # older memory CUPTI does not watch
        seen = torch.as_tensor(managed, device="cuda")
        for _ in range(2):
            ctypes.memset(managed.host, 0, 4 * count)  # to the host
            with proton.scope("touch"):
                seen.add_(1)  # and to the device
            torch.cuda.synchronize()

    recorded = record(work, mode="unified_memory=on" if is_asked else "")
    moved = {path: metrics for path, metrics in recorded.copies if "unified" in path[-1]}
    if not is_asked:
        assert moved == {}
        return
    assert not recorded.file.header.get("warnings")
    assert set(moved) >= {("<unified memory HtoD>",), ("<unified memory DtoH>",)}, recorded.copies
    assert moved["<unified memory HtoD>",]["bytes"] >= 4 * count, moved
    assert recorded.count_under("touch") == 2


def test_a_program_that_uses_no_gpu_gets_no_context(run_python: Any) -> None:
    done = run_python(
        """
        import proton, torch
        session = proton.start("run", backend="cupti")
        with proton.scope("host"):
            pass
        proton.finalize(session)
        print(torch._C._cuda_hasPrimaryContext(0))
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"


def test_the_backward_pass_has_the_python_frames_of_the_code_that_called_it(
    torch: Any, record: Any
) -> None:
    model = torch.nn.Linear(64, 64, device="cuda")
    x = torch.ones(8, 64, device="cuda")
    model(x).sum().backward()

    def first() -> None:
        model(x).sum().backward()

    def second() -> None:
        loss = model(x).sum()
        loss.backward(torch.ones_like(loss))  # nothing is launched between here and the engine

    def work() -> None:
        with proton.scope("never shown"):
            for _ in range(3):
                first()
                second()

    recorded = record(work, context="python")
    counts = {"first": 0, "second": 0}
    for path, metrics in recorded.kernels:
        functions = [name.rpartition("@")[2] for name in path]
        assert "never shown" not in functions, path
        callers = [name for name in counts if name in functions]
        assert len(callers) == 1, f"neither first nor second launched {path}"
        if "backward" in functions:
            counts[callers[0]] += metrics["count"]
    # sum's expand may be a view: at least the weight's and the bias' gradients, and what adds them
    assert counts["first"] >= 3 * 3, recorded.kernels
    assert counts["second"] >= 3 * 3, recorded.kernels
