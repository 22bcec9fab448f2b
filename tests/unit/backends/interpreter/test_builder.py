# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.errors import KernelError

pytestmark = pytest.mark.matrix


@triton.jit
def elementwise(x, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if KIND == "add":
        v = v + 1.0
    elif KIND == "exp":
        v = tl.exp(v)
    elif KIND == "fma":
        v = tl.fma(v, v, v)
    elif KIND == "compare":
        v = tl.where(v > 0, v, 0.0)
    elif KIND == "integer":
        v = (i * 3 + 1).to(tl.float32)
    elif KIND == "maximum":
        v = tl.maximum(v, 0.5)
    tl.store(x + i, v)


@pytest.mark.parametrize(
    ("kind", "flops"),
    [("add", 16), ("exp", 16), ("fma", 32), ("compare", 0), ("integer", 0), ("maximum", 16)],
)
def test_float_arithmetic_is_counted_per_element(sink: Any, kind: str, flops: int) -> None:
    elementwise[(1,)](np.ones(16, np.float32), BLOCK=16, KIND=kind)
    assert sink.metrics["counted_flops"] == flops


@triton.jit
def scaled(x, a, b, HALF: tl.constexpr, KIND: tl.constexpr):
    if KIND == "scalars":
        v = a * b + a
    elif KIND == "constants":
        v = HALF * 2.0 + 1.0
    elif KIND == "integers":
        v = 7 * tl.program_id(0)
    elif KIND == "power":
        v = tl.exp(a)
    tl.store(x, v)


@pytest.mark.parametrize(
    ("kind", "flops", "result"),
    [("scalars", 2, 8.0), ("constants", 0, 2.0), ("integers", 0, 0.0), ("power", 1, np.exp(2.0))],
)
def test_float_arithmetic_on_scalar_arguments_is_counted(
    sink: Any, kind: str, flops: int, result: float
) -> None:
    x = np.ones(1, np.float32)
    scaled[(1,)](x, 2.0, np.float64(3.0), HALF=0.5, KIND=kind)
    assert sink.metrics["counted_flops"] == flops
    assert x[0] == pytest.approx(result)


@triton.jit
def scale_half(x, y, factor, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * factor)


def test_a_float_argument_is_of_32_bits_as_in_compiled_kernels(sink: Any) -> None:
    x, y = np.full(4, 60_000, np.float16), np.zeros(4, np.float32)
    scale_half[(1,)](x, y, 3.0, BLOCK=4)
    assert y.tolist() == [180_000.0] * 4  # too large for 16 bits
    scale_half[(1,)](x, y, 1e300, BLOCK=4)
    assert np.isinf(y).all()


@triton.jit
def dot(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))


def test_a_dot_is_two_m_n_k_flops(sink: Any) -> None:
    a, b = np.ones((16, 64), np.float32), np.ones((64, 32), np.float32)
    c = np.zeros((16, 32), np.float32)
    dot[(1,)](a, b, c, 16, 32, 64)
    assert (c == 64).all()
    assert sink.metrics["counted_flops"] == 2 * 16 * 32 * 64


def _bfloat16(values: Any) -> Any:
    return triton.reinterpret((values.view(np.uint32) >> 16).astype(np.uint16), tl.bfloat16)


def test_a_bfloat16_dot_multiplies_values_and_not_bit_patterns(sink: Any) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-8, 8, (16, 16)).astype(np.float32)
    b = rng.integers(-8, 8, (16, 16)).astype(np.float32)
    c = np.zeros((16, 16), np.float32)
    dot[(1,)](_bfloat16(a), _bfloat16(b), c, 16, 16, 16)
    assert np.array_equal(c, a @ b)


@triton.jit
def bfloat16_arithmetic(x, y, dst, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v, w = tl.load(x + i), tl.load(y + i)
    tl.store(dst + i, tl.where(v > w, v * w, v + w).to(tl.float32))


def test_bfloat16_arithmetic_and_comparison_are_computed_on_values(sink: Any) -> None:
    x, y = np.array([2.0, -3.0], np.float32), np.array([0.5, 8.0], np.float32)
    dst = np.zeros(2, np.float32)
    bfloat16_arithmetic[(1,)](_bfloat16(x), _bfloat16(y), dst, BLOCK=2)
    assert dst.tolist() == [1.0, 5.0]


def test_arithmetic_on_fp8_is_refused_by_name(sink: Any) -> None:
    bits = triton.reinterpret(np.zeros(2, np.uint8), tl.float8e4nv)
    with pytest.raises(KernelError, match=r"of fp8e4nv is not computed by the interpreter"):
        bfloat16_arithmetic[(1,)](bits, bits, np.zeros(2, np.float32), BLOCK=2)


def test_an_arithmetic_shift_leaves_its_operand_unsigned(sink: Any) -> None:
    @triton.jit
    def shift(x, dst):
        v = tl.load(x)
        w = v.to(tl.int32, bitcast=True) >> 4
        tl.store(dst, v)
        tl.store(dst + 1, w.to(tl.uint32, bitcast=True))

    x, dst = np.array([0xF0000000], np.uint32), np.zeros(2, np.uint32)
    shift[(1,)](x, dst)
    assert dst.tolist() == [0xF0000000, 0xFF000000]


def test_minimum_and_maximum_skip_nan_as_a_gpu_does(sink: Any) -> None:
    x = np.array([np.nan, 1.0], np.float32)
    elementwise[(1,)](x, BLOCK=2, KIND="maximum")
    assert x.tolist() == [0.5, 1.0]


def test_programs_lanes_and_masked_lanes_are_counted(sink: Any) -> None:
    @triton.jit
    def fill(x, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + i, 1.0, mask=i < n)

    fill[(2, 1, 1)](np.zeros(20, np.float32), 20, BLOCK=16)
    counted = {name: sink.metrics[name] for name in ("programs", "lanes", "masked_lanes")}
    assert counted == {"programs": 2, "lanes": 32, "masked_lanes": 12}
