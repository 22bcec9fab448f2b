"""Benchmarks by kernel time: on the fake driver, and where kernels are interpreted."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import proton
from proton import _torch
from proton.errors import BackendUnavailable, UsageError
from proton.runtime import bench
from proton.testing import do_bench, do_bench_cudagraph
from tests.native.fake_cuda.driver import FakeDriver

pytestmark = pytest.mark.usefixtures("tmp_cwd")


@pytest.fixture
def gpu(fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    """The fake driver, with a cache that a kernel and a memset clear."""

    def clear() -> None:
        fake_driver.launch("fill", 5_000_000)
        fake_driver.memset(64, 7_000_000)

    monkeypatch.setattr(bench, "cache_clearer", lambda: clear)
    return fake_driver


def _growing(gpu: FakeDriver) -> Callable[[], None]:
    """What copies, and runs two kernels, of which one takes 1 us longer each time."""
    runs = iter(range(10**6))

    def run() -> None:
        gpu.memcpy(1, 64, 9_000_000)
        gpu.launch("gemm", 100_000)
        gpu.launch("relu", 1_000 * next(runs))

    return run


def _ran(gpu: FakeDriver) -> Callable[[], None]:
    def run() -> None:
        gpu.memcpy(1, 64, 9_000_000)
        gpu.launch("gemm", 100_000)
        gpu.launch("relu", 20_000)

    return run


def test_the_figure_is_kernel_time_without_copies_and_the_clearing_of_the_cache(
    gpu: FakeDriver,
) -> None:
    assert do_bench(_ran(gpu), warmup=1, rep=5) == pytest.approx(0.12)
    assert gpu.counter("is_subscribed") == 0


def test_each_run_is_a_figure_and_they_are_summed_up_as_triton_does(
    gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_wall_ms", lambda work, clock: (work(), 5.0)[1])  # 1 ms a run
    monkeypatch.setattr(bench, "_KEPT_RUNS", 4)  # three times as many
    first = 1 + 5 + 2  # runs before the measured ones: the first, those tried, warm-up
    expected = [0.1 + 0.001 * (first + at) for at in range(11)]

    def ran(**options: Any) -> Any:
        return do_bench(_growing(gpu), warmup=2, rep=11, **options)

    assert ran(return_mode="all") == pytest.approx(expected)
    assert ran() == pytest.approx(expected[5])
    assert ran(return_mode="min") == pytest.approx(expected[0])
    assert ran(return_mode="max") == pytest.approx(expected[-1])
    assert ran(return_mode="median") == pytest.approx(expected[5])
    assert ran(quantiles=[0.25]) == pytest.approx(expected[2] + 0.0005)
    assert ran(quantiles=[0, 0.5, 1]) == pytest.approx([expected[0], expected[5], expected[-1]])


def test_gradients_are_set_to_none_before_each_run(gpu: FakeDriver) -> None:
    tensor = SimpleNamespace(grad=1)
    seen = []

    def run() -> None:
        seen.append(tensor.grad)
        tensor.grad = 1
        gpu.launch("gemm", 1000)

    runs = do_bench(run, warmup=0, rep=0, grad_to_none=[tensor], return_mode="all")
    assert len(runs) == 1  # type: ignore[arg-type]  # a list
    assert seen[-1] is None


def test_an_open_session_goes_on_as_if_nothing_was(gpu: FakeDriver, profile_of: Any) -> None:
    session = proton.start("run", backend="cupti")
    with proton.scope("outside"):
        gpu.launch("before", 10)
        do_bench(_ran(gpu), warmup=0, rep=0)
        gpu.launch("after", 10)
    assert session is not None
    assert proton.data.get(session) is not None
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert {path for path in profile.paths() if "fill" not in path} == {
        "outside",
        *(f"outside/{name}" for name in ("before", "gemm", "relu", "after")),
        *("outside/<memcpy HtoD>", "outside/<memset>"),
    }
    assert profile.losses == {}


def test_what_launches_no_kernel_is_refused(gpu: FakeDriver) -> None:
    with pytest.raises(UsageError, match="launches no kernel that backend 'cupti' can time"):
        do_bench(lambda: gpu.memcpy(1, 64, 9), warmup=0, rep=0)
    assert gpu.counter("is_subscribed") == 0


def test_arguments_that_mean_nothing_are_refused_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="unknown return_mode 'best'; choose one of 'all'"):
        do_bench(pytest.fail, return_mode="best")
    with pytest.raises(UsageError, match=r"quantile 20 is out of range; give numbers from 0 to 1"):
        do_bench_cudagraph(pytest.fail, quantiles=[0.5, 20])


def test_nothing_is_measured_where_proton_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    with pytest.raises(UsageError, match="TRITON_PROTON_DISABLE is set"):
        do_bench(pytest.fail)


def _capturing(gpu: FakeDriver) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """What captures into a graph of the fake driver."""

    def capture(work: Callable[[], None]) -> Callable[[], None]:
        calls = gpu.calls
        calls.fake_capture_begin.argtypes = [ctypes.c_void_p]
        stream = gpu.stream()
        calls.fake_capture_begin(stream)
        gpu.capturing = stream  # type: ignore[attr-defined]
        work()
        graph = int(calls.fake_capture_end(stream))
        gpu.capturing = None  # type: ignore[attr-defined]
        executable = gpu.instantiate(graph)
        return lambda: gpu.replay(executable)

    return capture


def test_a_call_in_a_graph_is_an_equal_part_of_a_replay(
    gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu.capturing = None  # type: ignore[attr-defined]

    def run() -> None:
        stream = gpu.capturing  # type: ignore[attr-defined]
        gpu.launch("gemm", 100_000, stream)
        gpu.launch("relu", 20_000, stream)

    monkeypatch.setattr(bench, "_wall_ms", lambda work, clock: (work(), 5.0)[1])
    monkeypatch.setattr(_torch, "is_imported", lambda: True)
    monkeypatch.setattr(_torch, "side_stream", nullcontext)
    monkeypatch.setattr(_torch, "capture_graph", _capturing(gpu))
    assert do_bench_cudagraph(run, rep=7, return_mode="all") == pytest.approx([0.12] * 10)
    assert do_bench_cudagraph(run, quantiles=[0.5]) == pytest.approx(0.12)


def test_graphs_need_a_gpu_and_torch(gpu: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_torch, "is_imported", lambda: False)
    with pytest.raises(BackendUnavailable, match="torch, which captures the graph, is not import"):
        do_bench_cudagraph(pytest.fail)
    monkeypatch.delenv("PROTON_CUDA_LIBRARY")
    monkeypatch.setattr(
        "proton.backends.default_backend.why_no_gpu", lambda knobs: "no GPU is here"
    )
    with pytest.raises(BackendUnavailable, match="CUDA graphs, and no GPU is here; use do_bench"):
        do_bench_cudagraph(pytest.fail)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A call of an interpreted kernel, on a machine without a GPU."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(
        "proton.backends.default_backend.why_no_gpu", lambda knobs: "no GPU is here"
    )
    import numpy as np
    import triton
    import triton.language as tl

    @triton.jit
    def double(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, tl.load(x + i) * 2)

    numbers = np.ones(64, np.float32)
    return lambda: double[(2,)](numbers, BLOCK=64)


def test_without_a_gpu_interpreted_kernels_are_timed(interpreted: Callable[[], None]) -> None:
    times = do_bench(interpreted, warmup=0, rep=0, return_mode="all")
    assert isinstance(times, list)
    assert len(times) == 1
    assert 0 < times[0] < 60_000


@pytest.mark.parametrize(
    ("is_set", "remedy"), [("", "set TRITON_INTERPRET=1"), ("1", "launch a Triton kernel in it")]
)
def test_without_a_gpu_it_is_said_how_kernels_can_be_timed(
    is_set: str, remedy: str, interpreted: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", is_set)
    with pytest.raises(UsageError, match=rf"no kernel .* \(no GPU is here\); {remedy}"):
        do_bench(lambda: None, warmup=0, rep=0)


def test_cupti_records_no_copies_where_none_are_asked_for(
    fake_driver: FakeDriver, profile_of: Any, tmp_cwd: Path
) -> None:
    session = proton.start("run", backend="cupti", mode="copies=off")
    fake_driver.memcpy(1, 64, 9)
    fake_driver.launch("gemm", 10)
    proton.finalize(session)
    assert profile_of("run.hatchet").paths() == ["gemm"]
