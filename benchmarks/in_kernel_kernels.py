"""The kernels of `in_kernel.py`, each with one user scope; in a file of their own, as Triton reads
their source.

`pl` is `proton.language`. A copy of this module with `triton.profiler.language` there instead is
what the known tool is given (`in_kernel_work.load_kernels`). Rows and blocks are walked in strides
of the grid: a launch has some CTAs for each multiprocessor, and a scope many passages.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

import proton.language as pl


@triton.jit
def softmax(x_ptr, y_ptr, rows, N, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * N + columns, mask=mask, other=-float("inf"))
        with pl.scope("softmax"):
            x = tl.exp(x - tl.max(x, axis=0))
            y = x / tl.sum(x, axis=0)
        tl.store(y_ptr + row * N + columns, y, mask=mask)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, y_ptr, rows, N, eps, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    weight = tl.load(w_ptr + columns, mask=mask)
    bias = tl.load(b_ptr + columns, mask=mask)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * N + columns, mask=mask, other=0.0)
        with pl.scope("normalise"):
            x = tl.where(mask, x - tl.sum(x, axis=0) / N, 0.0)
            y = x * tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
        tl.store(y_ptr + row * N + columns, y * weight + bias, mask=mask)


@triton.jit
def dropout(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        with pl.scope("draw"):
            kept = tl.rand(seed, at) > p
        tl.store(y_ptr + at, tl.where(kept, x / (1.0 - p), 0.0), mask=at < n)


@triton.jit
def swiglu(x_ptr, y_ptr, rows, N, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        gate = tl.load(x_ptr + row * 2 * N + columns, mask=mask)
        up = tl.load(x_ptr + row * 2 * N + N + columns, mask=mask)
        with pl.scope("gate"):
            y = gate * tl.sigmoid(gate) * up
        tl.store(y_ptr + row * N + columns, y, mask=mask)


@triton.jit
def topk(x_ptr, values_ptr, indices_ptr, rows, N, K: tl.constexpr, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=-float("inf"))
        with pl.scope("pick"):
            for number in tl.static_range(K):
                value, index = tl.max(x, axis=0, return_indices=True)
                tl.store(values_ptr + row * K + number, value)
                tl.store(indices_ptr + row * K + number, index)
                x = tl.where(columns == index, -float("inf"), x)


@triton.jit
def fused_elementwise(x_ptr, r_ptr, y_ptr, n, scale, shift, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        residual = tl.load(r_ptr + at, mask=at < n)
        with pl.scope("activate"):
            x = x * scale + shift
            y = x * tl.sigmoid(1.702 * x) + residual
        tl.store(y_ptr + at, y, mask=at < n)


@triton.jit
def multiply_tile(
    a_ptr, b_ptr, c_ptr, tile, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """One tile of C = A B; tiles are numbered in groups of eight rows, which share what is read."""
    across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)
    group = tile // (8 * across)
    height = min(down - group * 8, 8)
    within = tile % (8 * across)
    rows = (group * 8 + within % height) * BM + tl.arange(0, BM)
    columns = (within // height) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    with pl.scope("multiply"):
        for _ in range(0, K, BK):
            total = tl.dot(tl.load(a), tl.load(b), total)
            a += BK
            b += BK * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    multiply_tile(a_ptr, b_ptr, c_ptr, tl.program_id(0), M, N, K, BM, BN, BK)


@triton.jit
def persistent_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    tiles = tl.cdiv(M, BM) * tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        multiply_tile(a_ptr, b_ptr, c_ptr, tile, M, N, K, BM, BN, BK)


@triton.jit
def grouped_gemm(
    addresses_ptr, shapes_ptr, groups, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Products of several sizes in one launch: addresses of A, B, C and their M, N, K, by group."""
    tile = tl.program_id(0)
    begin = 0
    for group in range(groups):
        M = tl.load(shapes_ptr + 3 * group)
        N = tl.multiple_of(tl.load(shapes_ptr + 3 * group + 1), 16)
        K = tl.multiple_of(tl.load(shapes_ptr + 3 * group + 2), 16)
        end = begin + tl.cdiv(M, BM) * tl.cdiv(N, BN)
        half: tl.constexpr = tl.pointer_type(tl.float16)
        a = tl.multiple_of(tl.load(addresses_ptr + 3 * group).to(half), 16)
        b = tl.multiple_of(tl.load(addresses_ptr + 3 * group + 1).to(half), 16)
        c = tl.multiple_of(tl.load(addresses_ptr + 3 * group + 2).to(half), 16)
        while tile < end:
            multiply_tile(a, b, c, tile - begin, M, N, K, BM, BN, BK)
            tile += tl.num_programs(0)
        begin = end


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr
):
    """Flash attention, forward, of one head: program 0 is the block of queries, 1 the head."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns, depth = tl.arange(0, BN), tl.arange(0, D)
    head = tl.program_id(1) * N * D
    query = tl.load(q_ptr + head + rows[:, None] * D + depth[None, :])
    keys_at = k_ptr + head + columns[None, :] * D + depth[:, None]
    values_at = v_ptr + head + columns[:, None] * D + depth[None, :]
    most = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    with pl.scope("keys"):
        for _ in range(0, N, BN):
            scores = tl.dot(query, tl.load(keys_at)) * (scale * 1.44269504)
            higher = tl.maximum(most, tl.max(scores, 1))
            p = tl.exp2(scores - higher[:, None])
            fade = tl.exp2(most - higher)
            weight = weight * fade + tl.sum(p, 1)
            total = tl.dot(p.to(tl.float16), tl.load(values_at), total * fade[:, None])
            most = higher
            keys_at += BN * D
            values_at += BN * D
    total = total / weight[:, None]
    tl.store(o_ptr + head + rows[:, None] * D + depth[None, :], total.to(tl.float16))


@triton.jit
def recorded_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """A pipelined product that records every iteration: 2 + 2 K / BK records for each warp."""
    rows = tl.program_id(0) // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + inner[None, :]
    b = b_ptr + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    with pl.scope("loop"):
        for _ in range(0, K, BK):
            x = tl.load(a)
            y = tl.load(b)
            with pl.scope("dot"):
                total = tl.dot(x, y, total)
            a += BK
            b += BK * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def clock():
    return tl.inline_asm_elementwise(
        "mov.u32 $0, %clock;", "=r,~{memory}", [], dtype=tl.uint32, is_pure=False, pack=1
    )


@triton.jit
def back_to_back(cycles_ptr, turns, COUNT: tl.constexpr, THREADS: tl.constexpr):
    """Cycles that `COUNT` empty regions take, records back to back, by the clock, in each thread.

    Of the last of several turns, when the instructions are in their cache.
    """
    cycles = tl.zeros((THREADS,), tl.uint32)
    for _ in range(turns):
        start = clock()
        for _ in tl.static_range(COUNT):
            pl.enter_scope("empty")
            pl.exit_scope("empty")
        cycles = tl.zeros((THREADS,), tl.uint32) + (clock() - start)
    tl.store(cycles_ptr + tl.arange(0, THREADS), cycles)
