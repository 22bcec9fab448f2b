"""A kernel in a file that is longer than a screen, for `sampled.hatchet`.

C = A @ B
  A  of M x K
  B  of K x N
  C  of M x N
all of them 16-bit floats in rows. M, N and K are multiples of the tile.
"""

from typing import Any

import triton
import triton.language as tl

TILES = [
    triton.Config({"BM": 128, "BN": 128, "BK": 64}, num_warps=8, num_stages=3),
    triton.Config({"BM": 128, "BN": 64, "BK": 64}, num_warps=4, num_stages=4),
    triton.Config({"BM": 64, "BN": 64, "BK": 64}, num_warps=4, num_stages=4),
]


def grid(meta: Any) -> tuple[int, int]:
    """One program a tile of C."""
    return (
        triton.cdiv(meta["M"], meta["BM"]),
        triton.cdiv(meta["N"], meta["BN"]),
    )


@triton.jit
def pointers(base: Any, rows: Any, columns: Any, width: Any) -> Any:
    return base + rows[:, None] * width + columns[None, :]


@triton.jit
def matmul(
    a: Any,
    b: Any,
    c: Any,
    M: Any,
    N: Any,
    K: Any,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
) -> None:
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = pointers(a, m, k, K)
    pb = pointers(b, k, n, N)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        x = tl.load(pa)
        y = tl.load(pb)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * N
    tl.store(pointers(c, m, n, N), acc.to(tl.float16))


def run(a: Any, b: Any, c: Any) -> None:
    """C = A @ B with the first of the tiles."""
    rows, inner = a.shape
    columns = b.shape[1]
    tile = TILES[0]
    meta = {"M": rows, "N": columns, **tile.kwargs}
    matmul[grid(meta)](a, b, c, rows, columns, inner, **tile.kwargs)
