"""The Triton kernel of tests/gpu/test_in_kernel_view.py."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

import proton.language as pl


@triton.jit
def viewed_softmax(x_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    with pl.scope("read"):
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    with pl.scope("sum up"):
        x = tl.exp(x - tl.max(x, 0))
        total = tl.sum(x, 0)
    tl.store(y_ptr + row * n + at, x / total, mask=at < n)
