# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter import events

pytestmark = pytest.mark.matrix


class Operations(events.Client):
    def __init__(self) -> None:
        self.seen: list[events.Operation] = []

    def on_operation(self, operation: events.Operation) -> None:
        self.seen.append(operation)

    def one(self, name: str) -> events.Operation:
        """The only operation of this name."""
        (found,) = (operation for operation in self.seen if operation.name == name)
        return found

    def names(self) -> list[str]:
        return [operation.name for operation in self.seen]


@pytest.fixture
def operations(sink: Any) -> Iterator[Operations]:
    client = Operations()
    events.subscribe(client)
    yield client
    events.unsubscribe(client)


@triton.jit
def halve(v):
    return v * 0.5  # the helper's line


@triton.jit
def work(x, dst, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < 3, other=0.0)
    w = halve(v)
    tl.store(dst, tl.sum(w, axis=0))


def test_arithmetic_has_operands_shapes_types_and_values(operations: Operations) -> None:
    work[(1,)](np.array([2, 4, 6, 8], np.float32), np.zeros(1, np.float32), BLOCK=4)
    multiply = operations.one("fmul")
    assert [value.type_name for value in multiply.operands] == ["fp32", "fp32"]
    assert multiply.result is not None
    assert multiply.result.shape == (4,)
    assert multiply.result.data.tolist() == [1, 2, 3, 0]


def test_the_location_is_the_innermost_user_line(operations: Operations) -> None:
    work[(1,)](np.ones(4, np.float32), np.zeros(1, np.float32), BLOCK=4)
    location = operations.one("fmul").location
    assert (location.file, location.function) == (__file__, "halve")
    assert operations.one("load").location.function == "work"


def test_a_reduction_is_one_operation_with_its_axis(operations: Operations) -> None:
    work[(1,)](np.ones(4, np.float32), np.zeros(1, np.float32), BLOCK=4)
    reduction = operations.one("reduce")
    assert (reduction.axis, reduction.operands[0].shape) == (0, (4,))
    assert reduction.result is not None
    assert reduction.result.data.item() == 1.5
    assert "fadd" not in operations.names()


def test_a_load_has_its_values_and_its_access(operations: Operations) -> None:
    x = np.array([2, 4, 6, 8], np.float32)
    work[(1,)](x, np.zeros(1, np.float32), BLOCK=4)
    load = operations.one("load")
    assert load.result is not None
    assert load.result.data.tolist() == [2, 4, 6, 0]
    assert load.access is not None
    assert load.access.argument is not None
    assert (load.access.argument.name, load.access.argument.value is x) == ("x", True)
    assert load.access.offsets().tolist() == [0, 4, 8, 12]
    assert load.access.mask.tolist() == [True, True, True, False]


def test_a_store_brings_the_values_it_stores(operations: Operations) -> None:
    work[(1,)](np.full(4, 2, np.float32), np.zeros(1, np.float32), BLOCK=4)
    access = operations.one("store").access
    assert access is not None
    assert access.stored is not None
    assert access.stored.data.item() == 3


def test_a_dot_has_its_shapes(operations: Operations) -> None:
    @triton.jit
    def multiply(x, N: tl.constexpr):
        i = tl.arange(0, N)
        v = tl.load(x + i[:, None] * N + i[None, :])
        tl.store(x + i[:, None] * N + i[None, :], tl.dot(v, v))

    multiply[(1,)](np.eye(16, dtype=np.float32), N=16)
    dot = operations.one("dot")
    assert [value.shape for value in dot.operands[:2]] == [(16, 16), (16, 16)]


def test_atomics_are_accesses(operations: Operations) -> None:
    @triton.jit
    def count(x):
        tl.atomic_add(x, 1)
        tl.atomic_cas(x, 1, 2)

    count[(1,)](np.zeros(1, np.int32))
    assert operations.one("atomic_rmw").access is not None
    swap = operations.one("atomic_cas")
    assert swap.access is not None
    assert swap.access.mask.tolist() == [True]


def test_an_operation_made_of_others_is_reported_once(operations: Operations) -> None:
    @triton.jit
    def divide(x):
        tl.store(x, tl.load(x) // 2)

    divide[(1,)](np.full(1, 9, np.int32))
    assert [name for name in operations.names() if "div" in name] == ["sdiv"]


def test_a_pointer_from_memory_finds_its_argument_by_address(operations: Operations) -> None:
    @triton.jit
    def follow(table, x):
        tl.store(tl.load(table).to(tl.pointer_type(tl.float32)), 1.0)

    x = np.zeros(1, np.float32)
    follow[(1,)](np.array([x.ctypes.data], np.int64), x)
    access = operations.one("store").access
    assert access is not None
    assert access.argument is not None
    assert access.argument.name == "x"
