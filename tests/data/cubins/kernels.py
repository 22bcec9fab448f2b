"""The kernels behind the cubins of this folder. Tests name its lines by what stands on them."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, a + b, mask=mask)


@triton.jit
def softmax(x, out, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf"))
    shifted = values - tl.max(values, axis=0)
    powers = tl.exp(shifted)
    total = tl.sum(powers, axis=0)
    tl.store(out + row * stride + columns, powers / total, mask=columns < n)


@triton.jit
def tile(start, stride, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    return start + index[:, None] * stride + index[None, :]


@triton.jit
def load_tile(start, stride, BLOCK: tl.constexpr):
    return tl.load(tile(start, stride, BLOCK))


@triton.jit
def matmul(a, b, out, n, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        left = load_tile(a + row * n + k, n, BLOCK)
        right = load_tile(b + k * n + column, n, BLOCK)
        total = tl.dot(left, right, total)
    tl.store(tile(out + row * n + column, n, BLOCK), total)


# At the end, because lines count.
# mypy: disable-error-code="no-untyped-def"
