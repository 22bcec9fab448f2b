# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.errors import KernelError, UsageError

pytestmark = pytest.mark.matrix


@triton.jit
def mark(x):
    size_y, size_z = tl.num_programs(1), tl.num_programs(2)
    i = (tl.program_id(0) * size_y + tl.program_id(1)) * size_z + tl.program_id(2)
    tl.atomic_add(x + i, 1.0)


@pytest.mark.parametrize(
    "grid", [(24,), (6, 4), (2, 3, 4), [24], lambda meta: (24,), (np.int64(24),)]
)
def test_every_program_of_the_grid_runs_once(sink: Any, grid: Any) -> None:
    x = np.zeros(24, np.float32)
    mark[grid](x)
    assert (x == 1).all()
    assert sink.metrics["programs"] == 24


def test_a_grid_function_gets_the_arguments_by_name(sink: Any) -> None:
    seen: dict[str, Any] = {}

    @triton.jit
    def fill(x, n, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    def grid(meta: dict[str, Any]) -> tuple[int]:
        seen.update(meta)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    fill[grid](np.zeros(8, np.float32), 8, BLOCK=8)
    assert (seen["n"], seen["BLOCK"]) == (8, 8)


@pytest.mark.parametrize("grid", [4, (1, 1, 1, 1), (), "ab", (-1,)])
def test_a_grid_that_is_none_is_refused(sink: Any, grid: Any) -> None:
    with pytest.raises(UsageError, match=r"grid of kernel 'mark' is .* one to three sizes"):
        mark[grid](np.zeros(1, np.float32))


def test_an_empty_grid_runs_nothing_and_is_no_event(sink: Any) -> None:
    mark[(0,)](np.zeros(1, np.float32))
    assert sink.launches == []


def test_warmup_runs_nothing(sink: Any) -> None:
    x = np.zeros(1, np.float32)
    assert mark.warmup(x, grid=(1,)) is None
    assert x[0] == 0
    assert sink.launches == []


def test_run_launches(sink: Any) -> None:
    x = np.zeros(1, np.float32)
    mark.run(x, grid=(1,), warmup=False)
    assert x[0] == 1


@pytest.fixture
def launch_hooks() -> Iterator[list[tuple[str, Any]]]:
    """What Triton's launch hooks were called with."""
    seen: list[tuple[str, Any]] = []

    def enter(metadata: Any) -> None:
        seen.append(("enter", metadata))

    def leave(metadata: Any) -> None:
        seen.append(("leave", metadata))

    runtime = triton.knobs.runtime
    runtime.launch_enter_hook.add(enter)
    runtime.launch_exit_hook.add(leave)
    yield seen
    runtime.launch_enter_hook.remove(enter)
    runtime.launch_exit_hook.remove(leave)


def _describe(grid: Any, metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    size = args["x"].element_size() * args["x"].numel()
    return {"name": f"{metadata.name}_{grid}_{metadata.num_warps}", "bytes": size}


@triton.jit(launch_metadata=_describe)
def described(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def test_launch_hooks_get_what_launch_metadata_says(sink: Any, launch_hooks: Any) -> None:
    described[(1, 1)](np.zeros(8, np.float32), BLOCK=8, num_warps=2)
    (before, metadata), (after, same) = launch_hooks
    assert (before, after, metadata is same) == ("enter", "leave", True)
    values = metadata.get()
    assert (values["name"], values["bytes"]) == ("described_(1, 1)_2", 32)


def test_the_exit_hook_is_called_when_the_kernel_fails(sink: Any, launch_hooks: Any) -> None:
    with pytest.raises(KernelError):
        mark[(1,)](None)
    assert [name for name, _ in launch_hooks] == ["enter", "leave"]


def test_assertions_are_on(sink: Any) -> None:
    @triton.jit
    def check(x):
        tl.device_assert(tl.load(x) > 0, "x must be positive")

    check[(1,)](np.ones(1, np.float32))
    with pytest.raises(KernelError, match="AssertionError: x must be positive") as caught:
        check[(1,)](np.zeros(1, np.float32))
    assert isinstance(caught.value.__cause__, AssertionError)


def test_integer_overflow_wraps_and_is_an_error_only_when_debugging(sink: Any) -> None:
    @triton.jit
    def overflow(x):
        tl.store(x, tl.load(x) + 1)

    x = np.array([2**31 - 1], np.int32)
    overflow[(1,)](x)
    assert x[0] == -(2**31)
    with pytest.raises(KernelError, match="overflow"):
        overflow[(1,)](np.array([2**31 - 1], np.int32), debug=True)


def test_what_masked_lanes_compute_warns_nobody(sink: Any) -> None:
    @triton.jit
    def divide(x, y, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        a = tl.load(x + i, mask=i < n, other=0.0)
        tl.store(y + i, tl.log(a / a), mask=i < n)
        tl.store(y + i, 1 // tl.where(i < n, 1, 0), mask=i < n)

    y = np.zeros(4, np.float32)
    divide[(1,)](np.ones(4, np.float32), y, 4, BLOCK=16)
    assert y.tolist() == [1, 1, 1, 1]


def test_printing_from_kernels_goes_to_stdout(sink: Any, capsys: Any) -> None:
    @triton.jit
    def talk(x, SIZE: tl.constexpr):
        tl.static_assert(SIZE == 2)
        tl.static_print("static", SIZE)
        tl.device_print("value", tl.load(x))
        print("plain", SIZE)

    talk[(1,)](np.ones(1, np.float32), SIZE=2)
    assert capsys.readouterr().out == "static 2\n(0, 0, 0)  value:  [1.]\nplain 2\n"


def test_an_interrupt_passes_through_and_leaves_the_language_alone(sink: Any) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    @triton.jit
    def stop(x):
        interrupt()

    load = tl.load
    with pytest.raises(KeyboardInterrupt):
        stop[(1,)](np.ones(1, np.float32))
    assert tl.load is load
    x = np.zeros(1, np.float32)
    mark[(1,)](x)
    assert x[0] == 1


def test_a_kernel_may_launch_another_through_host_code(sink: Any) -> None:
    inner = np.zeros(1, np.float32)

    def host() -> None:
        mark[(1,)](inner)

    @triton.jit
    def outer(x):
        host()
        tl.store(x, 5.0)

    x = np.zeros(1, np.float32)
    outer[(2,)](x)
    assert (inner[0], x[0]) == (2, 5)
    assert [launch.name for launch in sink.launches] == ["mark", "mark", "outer"]
    assert sink.metrics["programs"] == 2
