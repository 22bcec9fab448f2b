# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import math
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

from proton.errors import KernelError

pytestmark = pytest.mark.matrix


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tanh", math.tanh(0.5)),
        ("asin", math.asin(0.5)),
        ("exp10", math.sqrt(10)),
        ("erf", math.erf(0.5)),
        ("fast_expf", math.exp(0.5)),
        ("rsqrt", math.sqrt(2)),
        ("round", 1.0),
        ("lgamma", math.lgamma(0.5)),
    ],
)
@pytest.mark.parametrize("library", [libdevice, cuda_libdevice])
def test_functions_of_the_library_are_computed(
    sink: Any, library: Any, name: str, expected: float
) -> None:
    x = np.full(4, 0.5, np.float32)

    @triton.jit
    def apply_one(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, getattr(library, name)(tl.load(x + i)))

    apply_one[(1,)](x, BLOCK=4)
    assert np.allclose(x, expected, rtol=1e-6)
    assert sink.metrics["counted_flops"] == 4


def test_functions_of_two_operands_broadcast(sink: Any) -> None:
    @triton.jit
    def power(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, libdevice.pow(tl.load(x + i), tl.load(x)))

    x = np.array([2, 3], np.float32)
    power[(1,)](x, BLOCK=2)
    assert x.tolist() == [4, 9]


def test_a_test_for_nan_gives_truth_values(sink: Any) -> None:
    @triton.jit
    def replace_nan(x, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + i)
        tl.store(x + i, tl.where(libdevice.isnan(v), 0.0, v))

    x = np.array([np.nan, 3], np.float32)
    replace_nan[(1,)](x, BLOCK=2)
    assert x.tolist() == [0, 3]


def test_a_function_without_an_entry_is_refused_by_name(sink: Any) -> None:
    @triton.jit
    def bessel(x):
        tl.store(x, libdevice.j0(tl.load(x)))

    with pytest.raises(KernelError, match="__nv_j0f is not computed by the interpreter"):
        bessel[(1,)](np.ones(1, np.float32))
