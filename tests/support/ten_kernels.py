"""Ten kernels of the kinds people profile, each with one scope, and a Gluon matmul with TMA."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

import proton.language as pl

# Triton 3.9 has other names for them
tma_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
tma_store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, B)
    is_in = tl.arange(0, B) < n
    with pl.scope("softmax"):
        e = tl.load(x + at, mask=is_in, other=-float("inf"))
        e = tl.exp(e - tl.max(e, 0))
        tl.store(y + at, e / tl.sum(e, 0), mask=is_in)


@triton.jit
def layer_norm(x, y, w, b, n, eps, B: tl.constexpr):
    x += tl.program_id(0) * n
    y += tl.program_id(0) * n
    with pl.scope("mean"):
        total = tl.zeros([B], tl.float32)
        for first in range(0, n, B):
            at = first + tl.arange(0, B)
            total += tl.load(x + at, mask=at < n, other=0.0)
        mean = tl.sum(total, 0) / n
    squares = tl.zeros([B], tl.float32)
    for first in range(0, n, B):
        at = first + tl.arange(0, B)
        v = tl.where(at < n, tl.load(x + at, mask=at < n, other=0.0) - mean, 0.0)
        squares += v * v
    scale = 1 / tl.sqrt(tl.sum(squares, 0) / n + eps)
    for first in range(0, n, B):
        at = first + tl.arange(0, B)
        v = (tl.load(x + at, mask=at < n) - mean) * scale
        v = v * tl.load(w + at, mask=at < n) + tl.load(b + at, mask=at < n)
        tl.store(y + at, v, mask=at < n)


@triton.jit
def dropout(x, y, n, p, seed, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    with pl.scope("random"):
        keep = tl.rand(seed, at) > p
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, tl.where(keep, v / (1 - p), 0.0), mask=at < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    with pl.scope("loop"):
        for at in range(0, K, BK):
            x = tl.load(a + m[:, None] * K + (at + k)[None, :])
            y = tl.load(b + (at + k)[:, None] * N + n[None, :])
            total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        with pl.scope("tile"):
            m = tile // columns * BM + tl.arange(0, BM)
            n = tile % columns * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for at in range(0, K, BK):
                x = tl.load(a + m[:, None] * K + (at + k)[None, :])
                y = tl.load(b + (at + k)[:, None] * N + n[None, :])
                total = tl.dot(x, y, total)
            tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def grouped(ptrs, sizes, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    first = 0
    half = tl.pointer_type(tl.float16)
    for group in range(count):
        M = tl.load(sizes + group * 3)
        N = tl.load(sizes + group * 3 + 1)
        K = tl.load(sizes + group * 3 + 2)
        columns = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * columns
        while tile >= first and tile < first + tiles:
            a = tl.load(ptrs + group * 3).to(half)
            b = tl.load(ptrs + group * 3 + 1).to(half)
            c = tl.load(ptrs + group * 3 + 2).to(half)
            m = (tile - first) // columns * BM + tl.arange(0, BM)
            n = (tile - first) % columns * BN + tl.arange(0, BN)
            k = tl.arange(0, BK)
            total = tl.zeros((BM, BN), tl.float32)
            for at in range(0, K, BK):
                with pl.scope("step"):
                    x = tl.load(a + m[:, None] * K + (at + k)[None, :])
                    y = tl.load(b + (at + k)[:, None] * N + n[None, :])
                    total = tl.dot(x, y, total)
            tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))
            tile += tl.num_programs(0)
        first += tiles


@triton.jit
def attention(q, k, v, out, scale, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns, depth = tl.arange(0, BN), tl.arange(0, D)
    head = tl.program_id(1) * N * D
    query = tl.load(q + head + rows[:, None] * D + depth[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for at in range(0, N, BN):
        keys = tl.load(k + head + (at + columns)[None, :] * D + depth[:, None])
        scores = tl.dot(query, keys) * scale
        with pl.scope("softmax"):
            higher = tl.maximum(most, tl.max(scores, 1))
            p = tl.exp2(scores - higher[:, None])
            fade = tl.exp2(most - higher)
            weight = weight * fade + tl.sum(p, 1)
        values = tl.load(v + head + (at + columns)[:, None] * D + depth[None, :])
        total = tl.dot(p.to(tl.float16), values, total * fade[:, None])
        most = higher
    total = total / weight[:, None]
    tl.store(out + head + rows[:, None] * D + depth[None, :], total.to(tl.float16))


@triton.jit
def swiglu(x, gate, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    with pl.scope("all"):
        a = tl.load(x + at, mask=at < n).to(tl.float32)
        g = tl.load(gate + at, mask=at < n).to(tl.float32)
        tl.store(y + at, (a * tl.sigmoid(a) * g).to(tl.float16), mask=at < n)


@triton.jit
def topk(x, y, n, COUNT: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + at, mask=at < n, other=-float("inf"))
    with pl.scope("sort"):
        v = tl.topk(v, COUNT)
    tl.store(y + tl.program_id(0) * COUNT + tl.arange(0, COUNT), v)


@triton.jit
def fused(x, y, z, out, n, B: tl.constexpr):
    for first in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        at = first + tl.arange(0, B)
        with pl.scope("body"):
            v = tl.load(x + at, mask=at < n) * tl.load(y + at, mask=at < n)
            v += tl.load(z + at, mask=at < n)
            tl.store(out + at, tl.maximum(v, 0.0), mask=at < n)


@gluon.jit
def gluon_matmul(a, b, c, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    a_tiles = gl.allocate_shared_memory(a.dtype, [2, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [2, BK, BN], b.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16]
    )
    total = gl.zeros((BM, BN), gl.float32, layout)
    phase = 0
    for k in range(0, K, BK):
        slot = k // BK % 2
        with pl.scope("copy"):
            mbarrier.expect(full.index(slot), a.block_type.nbytes + b.block_type.nbytes)
            tma_load(a, [m, k], full.index(slot), a_tiles.index(slot))
            tma_load(b, [k, n], full.index(slot), b_tiles.index(slot))
        mbarrier.wait(full.index(slot), phase=phase)
        phase ^= slot
        event = pl.allocate_event("mma")
        pl.start_event(event)
        total = hopper.warpgroup_mma(a_tiles.index(slot), b_tiles.index(slot), total, is_async=True)
        total = hopper.warpgroup_mma_wait(num_outstanding=0, deps=(total,))
        pl.end_event(event)
    for i in gl.static_range(2):
        mbarrier.invalidate(full.index(i))
    c_tile = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
    c_tile.store(total.to(c.dtype))
    hopper.fence_async_shared()
    tma_store(c, [m, n], c_tile)
    tma.store_wait(pendings=0)


@dataclass(frozen=True)
class Case:
    """A kernel, the types of its arguments, and its constants."""

    kernel: Any
    arguments: dict[str, str]
    constants: dict[str, int]
    regions: frozenset[str]  # that its source names


def _floats(names: str, **others: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "*fp32") | others


def _halves(names: str, **others: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), "*fp16") | others


def _tile(rows: int, columns: int) -> str:
    layout = gl.NVMMASharedLayout.get_default_for([rows, columns], gl.float16)
    return f"tensordesc<fp16[{rows}, {columns}],{layout!r}>"


BLOCKS = {"BM": 128, "BN": 128, "BK": 64}
SIZES = {"M": "i32", "N": "i32", "K": "i32"}
TEN = {
    case.kernel.fn.__name__: case
    for case in (
        Case(softmax, _floats("x y", n="i32"), {"B": 1024}, frozenset({"softmax"})),
        Case(layer_norm, _floats("x y w b", n="i32", eps="fp32"), {"B": 1024}, frozenset({"mean"})),
        Case(
            dropout,
            _floats("x y", n="i32", p="fp32", seed="i32"),
            {"B": 1024},
            frozenset({"random"}),
        ),
        Case(matmul, _halves("a b c", **SIZES), BLOCKS, frozenset({"loop"})),
        Case(persistent, _halves("a b c", **SIZES), BLOCKS, frozenset({"tile"})),
        Case(
            grouped, {"ptrs": "*i64", "sizes": "*i32", "count": "i32"}, BLOCKS, frozenset({"step"})
        ),
        Case(
            attention,
            _halves("q k v out", scale="fp32", N="i32"),
            {"BM": 128, "BN": 64, "D": 64},
            frozenset({"softmax"}),
        ),
        Case(swiglu, _halves("x gate y", n="i32"), {"B": 1024}, frozenset({"all"})),
        Case(topk, _floats("x y", n="i32"), {"COUNT": 16, "B": 1024}, frozenset({"sort"})),
        Case(fused, _floats("x y z out", n="i32"), {"B": 1024}, frozenset({"body"})),
    )
}
GLUON = Case(
    gluon_matmul,
    {"a": _tile(128, 64), "b": _tile(64, 128), "c": _tile(128, 128), "K": "i32"},
    BLOCKS,
    frozenset({"copy", "mma"}),
)
