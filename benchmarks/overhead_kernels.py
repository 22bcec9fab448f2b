"""Triton kernels of `overhead.py`; in a file of their own, as Triton reads their source."""

import triton
import triton.language as tl


@triton.jit
def tiny(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)
