"""A kernel with two regions, launched on the fake driver, and what its profile says of it."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import triton
import triton.language as tl

import proton.language as pl

ROWS, WARPS = 6, 4


@triton.jit
def softmax(x_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    with pl.scope("load"):
        x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    with pl.scope("reduce"):
        x = tl.exp(x - tl.max(x, 0))
        total = tl.sum(x, 0)
    tl.store(y_ptr + row * n + at, x / total, mask=at < n)


def launch_softmax() -> None:
    import torch  # not in every environment; modules of tests skip themselves

    x = torch.zeros(ROWS, 64)
    softmax[(ROWS,)](x, torch.empty_like(x), 64, B=64, num_warps=WARPS)


def read(path: str = "run.hatchet") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The root of a profile and what its kernels recorded."""
    root = json.loads(Path(path).read_bytes())[0]
    return root, root["proton"].get("in_kernel", [])
