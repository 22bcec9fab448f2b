# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import os
import threading
import warnings
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter import InterpreterBackend
from proton.errors import UsageError

pytestmark = pytest.mark.matrix


@triton.jit
def twice(v):
    return v + v


@triton.jit
def four_times(v):
    return twice(twice(v))


@triton.jit
def scale(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, four_times(tl.load(x + i)))


def test_a_kernel_decorated_before_calls_jitted_functions(sink: Any) -> None:
    x = np.ones(8, np.float32)
    scale[(1,)](x, BLOCK=8)
    assert (x == 4).all()


def test_a_kernel_decorated_during_the_session_runs(sink: Any) -> None:
    @triton.jit
    def fill(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 3.0)

    x = np.zeros(4, np.float32)
    fill[(1,)](x, BLOCK=4)
    assert x.sum() == 12
    assert type(fill) is triton.JITFunction


def test_a_kernel_decorated_for_interpretation_runs(
    sink: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    @triton.jit
    def helper(v):
        return v + 1.0

    @triton.jit
    def fill(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), helper(tl.sum(tl.load(x + tl.arange(0, BLOCK)), 0)))

    x = np.ones(4, np.float32)
    fill[(1,)](x, BLOCK=4)
    assert (x == 5).all()
    assert sink.launches[0].name == "fill"


def test_heuristics_are_applied(sink: Any) -> None:
    @triton.heuristics({"BLOCK": lambda args: args["n"]})
    @triton.jit
    def fill(x, n, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    x = np.zeros(16, np.float32)
    fill[(1,)](x, 16)
    assert x.sum() == 16


def test_a_jitted_function_passed_as_an_argument_is_called(sink: Any) -> None:
    @triton.jit
    def apply(x, function: tl.constexpr):
        tl.store(x, function(tl.load(x)))

    x = np.ones(1, np.float32)
    apply[(1,)](x, twice)
    assert x[0] == 2


def test_calling_a_jitted_function_outside_of_kernels_fails_as_ever(sink: Any) -> None:
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        twice(1)


def test_pre_run_hooks_are_called(sink: Any) -> None:
    @triton.jit
    def fill(x):
        tl.store(x, 1.0)

    calls: list[int] = []
    fill.add_pre_run_hook(lambda *args, **kwargs: calls.append(len(args)))
    fill[(1,)](np.zeros(1, np.float32))
    assert calls == [1]


def test_a_gluon_kernel_is_refused_by_name(sink: Any) -> None:
    from triton.experimental import gluon

    @gluon.jit
    def kernel(x):
        pass

    with pytest.raises(UsageError, match="kernel 'kernel' is written in Gluon"):
        kernel[(1,)](np.zeros(1, np.float32))


def test_launches_of_several_threads_all_run_and_count_right(sink: Any) -> None:
    arrays = [np.ones(8, np.float32) for _ in range(8)]

    def launch(x: Any) -> None:
        for _ in range(3):
            scale[(1,)](x, BLOCK=8)

    threads = [threading.Thread(target=launch, args=(x,)) for x in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all((x == 64).all() for x in arrays)
    assert [launch.metrics["counted_flops"] for launch in sink.launches] == [16] * 24


def test_a_child_forked_while_another_thread_is_in_a_kernel_can_launch(sink: Any) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        go_on.wait(60)

    @triton.jit
    def slow(x):
        wait()

    thread = threading.Thread(target=lambda: slow[(1,)](np.ones(1, np.float32)))
    thread.start()
    inside.wait(60)
    child = _fork()
    if child == 0:
        x = np.ones(8, np.float32)
        scale[(1,)](x, BLOCK=8)
        os._exit(0 if (x == 4).all() else 1)
    go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def _fork() -> int:
    with warnings.catch_warnings():  # from Python 3.12 on: forking with threads is risky
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def test_after_the_session_a_kernel_asks_for_a_driver_again(new_sink: Any) -> None:
    backend = InterpreterBackend("")
    backend.start(new_sink())
    scale[(1,)](np.ones(8, np.float32), BLOCK=8)
    backend.stop()
    if _has_gpu():
        pytest.skip("this machine has a GPU driver")
    with pytest.raises(RuntimeError, match="0 active drivers"):
        scale[(1,)](np.ones(8, np.float32), BLOCK=8)


def _has_gpu() -> bool:
    return any(backend.driver.is_active() for backend in triton.backends.backends.values())
