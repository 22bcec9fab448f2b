"""Profiles an autotuned Triton matmul: scopes named by shape, kernels renamed by launch metadata.

Run it (`python examples/matmul.py` or `proton --hook triton examples/matmul.py`), then look at it:
`proton-viewer -m time/ms,gflop/s matmul.hatchet`. Without a GPU, Triton's interpreter runs it.
"""

import os
from types import ModuleType
from typing import Any

import numpy as np
import triton
import triton.language as tl

import proton

SHAPES = [(128, 128, 128), (256, 256, 256), (128, 256, 512)]
BLOCKS = [(32, 32, 64, 4, 4), (64, 64, 32, 4, 3), (64, 64, 64, 8, 3)]
CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in BLOCKS
]


def describe(grid: tuple[int, ...], metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    """Launch metadata: what this launch is called, and what it has to do."""
    (x, y, z), (m, n, k) = (*grid, 1), (args["M"], args["N"], args["K"])
    size = args["a_ptr"].element_size()
    return {
        "name": f"matmul_<grid:{x}x{y}x{z}>_<cluster:{metadata.num_ctas}x1x1>"
        f"_<warps:{metadata.num_warps}>_<shared:{metadata.shared}>_<stages:{metadata.num_stages}>",
        f"flops{8 * size}": 2.0 * m * n * k,
        "bytes": size * (m * k + n * k + m * n),
    }


@triton.autotune(CONFIGS, key=["M", "N", "K"])
@triton.jit(launch_metadata=describe)
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        ks = start + inner
        a_mask = (rows[:, None] < M) & (ks[None, :] < K)
        b_mask = (ks[:, None] < K) & (cols[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + ks[:, None] * N + cols[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    c_mask = (rows[:, None] < M) & (cols[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + cols[None, :], total.to(c_ptr.dtype.element_ty), c_mask)


def grid(args: dict[str, Any]) -> tuple[int, int]:
    return triton.cdiv(args["M"], args["BLOCK_M"]), triton.cdiv(args["N"], args["BLOCK_N"])


def main(torch: ModuleType | None) -> None:
    rng = np.random.default_rng(0)
    for m, n, k in SHAPES:
        operands = [rng.standard_normal(shape).astype(np.float16) for shape in ((m, k), (k, n))]
        expected = operands[0].astype(np.float32) @ operands[1].astype(np.float32)
        values = [*operands, np.empty((m, n), np.float16)]
        a, b, c = values if torch is None else (torch.tensor(v, device="cuda") for v in values)
        with proton.scope(f"matmul_{m}_{n}_{k}"), proton.scope("triton"):
            matmul_kernel[grid](a, b, c, m, n, k)
        result = c if torch is None else c.cpu().numpy()
        assert np.allclose(result, expected, rtol=1e-2, atol=1e-1), f"wrong at {m}x{n}x{k}"


if __name__ == "__main__":
    torch = __import__("torch") if os.path.exists("/dev/nvidia0") else None
    proton.start("matmul", backend="cupti" if torch else "interpreter", hook="triton")
    main(torch)
    proton.finalize()
