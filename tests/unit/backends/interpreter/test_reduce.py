# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

pytestmark = pytest.mark.matrix


@triton.jit
def largest(a, b):
    return tl.maximum(a, b)


@triton.jit
def rows(x, dst, ROWS: tl.constexpr, COLS: tl.constexpr, KIND: tl.constexpr):
    r, c = tl.arange(0, ROWS), tl.arange(0, COLS)
    v = tl.load(x + r[:, None] * COLS + c[None, :])
    if KIND == "sum":
        result = tl.sum(v, axis=1)
    elif KIND == "max":
        result = tl.max(v, axis=1)
    elif KIND == "method":
        result = v.sum(1)
    elif KIND == "argmax":
        result = tl.argmax(v, axis=1).to(tl.float32)
    else:
        result = tl.reduce(v, 1, largest)
    tl.store(dst + r, result)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("sum", [6, 22]), ("max", [3, 7]), ("method", [6, 22]), ("argmax", [3, 3]), ("own", [3, 7])],
)
def test_reductions_are_right_and_count_one_flop_per_combination(
    sink: Any, kind: str, expected: list[float]
) -> None:
    x, dst = np.arange(8, dtype=np.float32).reshape(2, 4), np.zeros(2, np.float32)
    rows[(1,)](x, dst, 2, 4, kind)
    assert dst.tolist() == expected
    assert sink.metrics["counted_flops"] == 2 * 3


def test_a_maximum_of_nothing_but_nan_warns_nobody(sink: Any) -> None:
    x, dst = np.full((2, 4), np.nan, np.float32), np.zeros(2, np.float32)
    rows[(1,)](x, dst, 2, 4, "max")
    assert np.isnan(dst).all()


def test_scans_are_right_and_counted(sink: Any) -> None:
    @triton.jit
    def running(x, dst, COLS: tl.constexpr):
        c = tl.arange(0, COLS)
        tl.store(dst + c, tl.cumsum(tl.load(x + c), axis=0))

    x, dst = np.ones(8, np.float32), np.zeros(8, np.float32)
    running[(1,)](x, dst, COLS=8)
    assert dst.tolist() == list(range(1, 9))
    assert sink.metrics["counted_flops"] == 7


def test_integer_sums_are_no_flops(sink: Any) -> None:
    rows[(1,)](np.ones((2, 4), np.int32), np.zeros(2, np.int32), 2, 4, "sum")
    assert sink.metrics["counted_flops"] == 0
