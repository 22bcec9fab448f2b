"""Triton kernels of tests/gpu/test_in_kernel.py, some of them with regions of their own."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

import proton.language as pl


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


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr, BK: tl.constexpr):
    at_m = tl.program_id(0) * B + tl.arange(0, B)
    at_n = tl.program_id(1) * B + tl.arange(0, B)
    at_k = tl.arange(0, BK)
    a_ptrs = a_ptr + at_m[:, None] * K + at_k[None, :]
    b_ptrs = b_ptr + at_k[:, None] * N + at_n[None, :]
    total = tl.zeros((B, B), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += BK
        b_ptrs += BK * N
    tl.store(c_ptr + at_m[:, None] * N + at_n[None, :], total.to(tl.float16))


@triton.jit
def squares(x_ptr, y_ptr, n, B: tl.constexpr):
    total = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, n, B):
        x = tl.load(x_ptr + tl.program_id(0) * n + start + tl.arange(0, B))
        total += x * x
    tl.store(y_ptr + tl.program_id(0), tl.sum(total))


@triton.jit
def steps(x_ptr, turns):
    x = tl.load(x_ptr + tl.program_id(0))
    for _ in range(turns):
        with pl.scope("step"):
            x = x * 1.5 + 2.0
    tl.store(x_ptr + tl.program_id(0), x)


@triton.autotune([triton.Config({"B": 256}), triton.Config({"B": 1024})], key=["n"])
@triton.jit
def tuned(x_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    with pl.scope("all"):
        x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, x + 1.0, mask=at < n)


@triton.jit
def floats(x_ptr, h_ptr, b_ptr, d_ptr, y_ptr):
    at = tl.program_id(0)
    x = tl.load(x_ptr + at)
    pl.value("fp32", x)
    pl.value("fp16", tl.load(h_ptr + at))
    pl.value("bf16", tl.load(b_ptr + at))
    pl.value("fp64", tl.load(d_ptr + at))
    if at % 2 == 0:
        pl.value("either", at)
    else:
        pl.value("either", x)
    pl.value("product", at.to(tl.int64) * -4611686018427387905)  # beyond what a double holds
    tl.store(y_ptr + at, x * 2)
