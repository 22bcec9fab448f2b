"""The kernel that `sampled.hatchet` was sampled in."""

from typing import Any

import triton
import triton.language as tl


@triton.jit
def softmax(x: Any, y: Any, n: Any, BLOCK: tl.constexpr) -> None:
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    v = v - tl.max(v, axis=0)
    e = tl.exp(v)
    s = tl.sum(e, axis=0)
    tl.store(y + row * n + i, e / s, mask=i < n)
