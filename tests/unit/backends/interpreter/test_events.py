# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter import events
from proton.errors import KernelError

pytestmark = pytest.mark.matrix

Subscribe = Callable[[events.Client], None]


@pytest.fixture
def subscribe(sink: Any) -> Iterator[Subscribe]:
    """Subscribes clients for the test."""
    clients: list[events.Client] = []

    def add(client: events.Client) -> None:
        clients.append(client)
        events.subscribe(client)

    yield add
    for client in clients:
        events.unsubscribe(client)


@triton.jit
def shift_left(x, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i + 1)  # one too far for the last lane
    tl.store(dst + i, v, mask=i < n - 1)


class Sanitizer(events.Client):
    """Stops a kernel before it touches memory that is not the argument's."""

    def on_access(self, access: events.Access) -> None:
        bad = ~access.in_bounds()
        if bad.any():
            assert access.argument is not None
            offset = int(access.offsets()[bad][0])
            raise IndexError(
                f"{access.kind} of {access.argument.name} at byte {offset} in program "
                f"{access.program_id} at {access.location}"
            )


def test_a_client_finds_an_out_of_bounds_load_before_it_happens(subscribe: Subscribe) -> None:
    subscribe(Sanitizer())
    dst = np.zeros(16, np.float32)
    with pytest.raises(KernelError) as caught:
        shift_left[(2,)](np.ones(16, np.float32), dst, 16, BLOCK=8)
    line = inspect.getsourcelines(shift_left.fn)[1] + 3
    expected = f"load of x at byte 64 in program (1, 0, 0) at {__file__}:{line}"
    assert str(caught.value.__cause__) == expected
    assert dst.tolist() == [1] * 8 + [0] * 8


class Tiles(events.Client):
    """Keeps which coordinates of which argument each program loads."""

    def __init__(self) -> None:
        self.loaded: dict[tuple[int, int, int], set[tuple[int, ...]]] = {}

    def on_access(self, access: events.Access) -> None:
        if access.kind == "load":
            places = zip(
                *(axis[access.mask].tolist() for axis in access.coordinates()), strict=True
            )
            self.loaded[access.program_id] = set(places)


@triton.jit
def copy_tile(x, dst, rows, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (r[:, None] < rows) & (c[None, :] < cols)
    offsets = r[:, None] * cols + c[None, :]
    tl.store(dst + offsets, tl.load(x + offsets, mask=mask), mask=mask)


def test_a_client_collects_the_tile_coordinates_of_each_program(subscribe: Subscribe) -> None:
    tiles = Tiles()
    subscribe(tiles)
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    copy_tile[(2, 2)](x, np.zeros_like(x), 3, 5, BLOCK=4)
    assert tiles.loaded[0, 0, 0] == {(r, c) for r in range(3) for c in range(4)}
    assert tiles.loaded[0, 1, 0] == {(r, 4) for r in range(3)}
    assert tiles.loaded[1, 0, 0] == set()


class Log(events.Client):
    """Keeps everything."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.operations: list[events.Operation] = []
        self.launch: events.KernelLaunch | None = None
        self.error: BaseException | None = None

    def on_kernel_begin(self, launch: events.KernelLaunch) -> None:
        self.calls.append("begin")
        self.launch = launch

    def on_program_begin(self, program_id: events.ProgramId) -> None:
        self.calls.append(f"program {program_id[0]}")

    def on_operation(self, operation: events.Operation) -> None:
        self.operations.append(operation)

    def on_kernel_end(self, launch: events.KernelLaunch, error: BaseException | None) -> None:
        self.calls.append("end")
        self.error = error


def test_a_client_hears_begin_programs_and_end(subscribe: Subscribe) -> None:
    log = Log()
    subscribe(log)
    x = np.zeros((3, 5), np.float32)
    copy_tile[(2, 1)](x, x, 3, 5, BLOCK=4)
    assert log.calls == ["begin", "program 0", "program 1", "end"]
    assert log.error is None
    assert log.launch is not None
    assert (log.launch.name, log.launch.grid, log.launch.file) == ("copy_tile", (2, 1, 1), __file__)
    assert [argument.name for argument in log.launch.arguments] == ["x", "dst"]
    assert log.launch.scalars == {"rows": 3, "cols": 5, "BLOCK": 4}


def test_the_end_of_a_kernel_that_failed_has_the_error(subscribe: Subscribe) -> None:
    log = Log()
    subscribe(log)
    with pytest.raises(KernelError):
        copy_tile[(1,)](None, None, 1, 1, BLOCK=1)
    assert log.calls[-1] == "end"
    assert log.error is not None


def test_an_unsubscribed_client_hears_nothing(sink: Any) -> None:
    log = Log()
    events.subscribe(log)
    events.unsubscribe(log)
    copy_tile[(1,)](np.zeros(1, np.float32), np.zeros(1, np.float32), 1, 1, BLOCK=1)
    assert log.calls == []


def test_subscribing_twice_is_once(subscribe: Subscribe) -> None:
    log = Log()
    subscribe(log)
    subscribe(log)
    x = np.zeros(1, np.float32)
    copy_tile[(1,)](x, x, 1, 1, BLOCK=1)
    assert log.calls.count("begin") == 1


def test_counts_are_the_same_with_a_client(subscribe: Subscribe, sink: Any) -> None:
    x = np.zeros((3, 5), np.float32)
    copy_tile[(2, 2)](x, x, 3, 5, BLOCK=4)
    subscribe(Log())
    copy_tile[(2, 2)](x, x, 3, 5, BLOCK=4)
    alone, observed = (launch.metrics for launch in sink.launches)
    assert alone == observed


def test_an_access_without_an_argument_has_no_offsets_and_is_not_judged() -> None:
    access = events.Access(
        "load",
        (0, 0, 0),
        events.Location("k.py", 1, "k"),
        None,
        np.array([8], np.uint64),
        np.array([True]),
        4,
        None,
    )
    assert access.in_bounds().all()
    with pytest.raises(ValueError, match="without an argument"):
        access.offsets()
    with pytest.raises(ValueError, match="without an argument"):
        access.coordinates()
