"""Triton kernels of the GPU tests; in a file of their own, as Triton reads their source."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import triton
import triton.language as tl


def describe(grid: tuple[int, ...], metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    """Launch metadata: a name that tells the size, and what there is to do."""
    return {"name": f"scale_{args['n']}", "flops32": float(args["n"]), "bytes": 8 * args["n"]}


def describe_tokens(grid: tuple[int, ...], metadata: Any, args: dict[str, Any]) -> dict[str, Any]:
    """Launch metadata whose numbers are still on the GPU."""
    tokens = args["tokens_ptr"]
    return {"name": "counted", "flops32": tokens, "tokens": tokens, "launches": 1}


@triton.jit(launch_metadata=describe_tokens)
def count_tokens(tokens_ptr):
    tl.store(tokens_ptr, tl.load(tokens_ptr) + 1)


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


@triton.jit(launch_metadata=describe)
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)


CONFIGS = [
    triton.Config({"BLOCK": 128}, num_warps=1),
    triton.Config({"BLOCK": 256}, num_warps=2),
    triton.Config({"BLOCK": 1024}, num_warps=4),
]


@triton.autotune(CONFIGS, key=["n"])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 3.0, mask=mask)
