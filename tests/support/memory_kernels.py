"""Kernels whose accesses to memory are known, and how they are compiled with counters in them."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import triton
import triton.language as tl
from triton.compiler import ASTSource

from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia


@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(z_ptr + at, x + y, mask=mask)


@triton.jit
def gather(x_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    """Lane i reads one number `i * stride` numbers behind the first."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at * stride))


@triton.jit
def through(address_ptr, y_ptr, stride, BLOCK: tl.constexpr):
    """As `gather`, but the address is a number in memory: no argument leads there."""
    x_ptr = tl.load(address_ptr).to(tl.pointer_type(tl.float32))
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at * stride))


@triton.jit
def rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Program i reads i + 1 blocks, all programs the same ones, and adds up with atomics."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0) + 1):
        total += tl.load(x_ptr + row * BLOCK + at)
    tl.atomic_add(y_ptr + at, total)


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, N: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr
):
    """One head of attention for each program of the second axis, by pointers."""
    head = tl.program_id(1) * N * D
    at_m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at_n, at_d = tl.arange(0, BLOCK), tl.arange(0, D)
    q = tl.load(q_ptr + head + at_m[:, None] * D + at_d[None, :])
    highest = tl.full((BLOCK,), -float("inf"), tl.float32)
    weight = tl.zeros((BLOCK,), tl.float32)
    total = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, N, BLOCK):
        k = tl.load(k_ptr + head + (start + at_n)[None, :] * D + at_d[:, None])
        scores = tl.dot(q, k) * scale
        higher = tl.maximum(highest, tl.max(scores, 1))
        chances = tl.exp2(scores - higher[:, None])
        less = tl.exp2(highest - higher)
        weight = weight * less + tl.sum(chances, 1)
        v = tl.load(v_ptr + head + (start + at_n)[:, None] * D + at_d[None, :])
        total = tl.dot(chances.to(tl.float16), v, total * less[:, None])
        highest = higher
    out = total / weight[:, None]
    tl.store(out_ptr + head + at_m[:, None] * D + at_d[None, :], out.to(tl.float16))


@triton.jit
def by_descriptor(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    from_rows = tl.make_tensor_descriptor(x_ptr, [n, BLOCK], [BLOCK, 1], [16, BLOCK])
    to_rows = tl.make_tensor_descriptor(y_ptr, [n, BLOCK], [BLOCK, 1], [16, BLOCK])
    row = tl.program_id(0) * 16
    to_rows.store([row, 0], from_rows.load([row, 0]) + 1)


KERNELS = ("add", "gather", "through", "rows", "attention")


def lowered(first: Sequence[Any], vendor: str, **allocation: Any) -> tuple[Any, ...]:
    """The passes that take a kernel all the way, `first` before them."""
    last = LowerToNvidia() if vendor == "cuda" else LowerToAmd()
    return (*first, LowerRecordsCircular(), AllocateGlobal(**allocation), last)


def source(name: str) -> Any:
    """What to compile for one of the kernels above."""
    aligned = [["tt.divisibility", 16]]
    kernel = globals()[name]
    kinds = {"attention": "*fp16"}
    signature = {}
    for parameter in kernel.arg_names:
        is_constant = parameter.isupper()
        number = "fp32" if parameter == "scale" else "i32"
        pointer = kinds.get(name, "*fp32") if parameter.endswith("_ptr") else number
        pointer = "*i64" if parameter == "address_ptr" else pointer
        signature[parameter] = "constexpr" if is_constant else pointer
    constants = {"N": 1024, "D": 64, "BLOCK": 64} if name == "attention" else {"BLOCK": 256}
    pointers = {(at,): aligned for at, each in enumerate(kernel.arg_names) if each.endswith("_ptr")}
    return ASTSource(kernel, signature, constants, pointers)
