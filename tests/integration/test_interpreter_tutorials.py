"""Kernels as people write them run interpreted, and their results are right."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import proton

pytestmark = pytest.mark.matrix


@pytest.fixture(autouse=True)
def session(tmp_path: Path) -> Iterator[None]:
    """Every test runs in an active session."""
    opened = proton.start(str(tmp_path / "run"), backend="interpreter")
    yield
    proton.finalize(opened)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def normal(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


@triton.jit
def softmax_kernel(dst, x, stride, n_rows, n_cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=2):
        cols = tl.arange(0, BLOCK)
        values = tl.load(x + row * stride + cols, mask=cols < n_cols, other=-float("inf"))
        exponents = tl.exp(values - tl.max(values, axis=0))
        result = exponents / tl.sum(exponents, axis=0)
        tl.store(dst + row * stride + cols, result, mask=cols < n_cols)


def test_fused_softmax(rng: np.random.Generator) -> None:
    x = normal(rng, 10, 37)
    dst = np.zeros_like(x)
    softmax_kernel[(4,)](dst, x, 37, 10, 37, BLOCK=triton.next_power_of_2(37))
    exponents = np.exp(x - x.max(1, keepdims=True))
    assert np.allclose(dst, exponents / exponents.sum(1, keepdims=True), atol=1e-6)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(axis=0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK), tl.cdiv(N, BLOCK)
    in_group = GROUP * tiles_n
    first_m = (pid // in_group) * GROUP
    group_size = min(tiles_m - first_m, GROUP)
    pid_m = first_m + ((pid % in_group) % group_size)
    pid_n = (pid % in_group) // group_size
    offs_m = (pid_m * BLOCK + tl.arange(0, BLOCK)) % M
    offs_n = (pid_n * BLOCK + tl.arange(0, BLOCK)) % N
    offs_k = tl.arange(0, BLOCK)
    a_ptrs = a + (offs_m[:, None] * stride_am + offs_k[None, :])
    b_ptrs = b + (offs_k[:, None] * stride_bk + offs_n[None, :])
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        left = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK, other=0.0)
        right = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK, other=0.0)
        total = tl.dot(left, right, total)
        a_ptrs += BLOCK
        b_ptrs += BLOCK * stride_bk
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c + stride_cm * offs_m[:, None] + offs_n[None, :], total.to(tl.float16), mask=mask)


def test_matmul_with_grouped_order_and_activation(rng: np.random.Generator) -> None:
    m, n, k = 50, 70, 33
    a, b = normal(rng, m, k).astype(np.float16), normal(rng, k, n).astype(np.float16)
    c = np.zeros((m, n), np.float16)
    grid = (triton.cdiv(m, 16) * triton.cdiv(n, 16),)
    matmul_kernel[grid](a, b, c, m, n, k, k, n, n, BLOCK=16, GROUP=2, ACTIVATION="leaky_relu")
    expected = a.astype(np.float32) @ b.astype(np.float32)
    expected = np.where(expected >= 0, expected, 0.01 * expected)
    assert np.allclose(c, expected, atol=2e-2)


@triton.jit
def dropout_kernel(x, dst, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    kept = tl.rand(seed, offsets) > p
    values = tl.load(x + offsets, mask=mask)
    tl.store(dst + offsets, tl.where(kept, values / (1 - p), 0.0), mask=mask)


def test_dropout_from_a_seed(rng: np.random.Generator) -> None:
    x = normal(rng, 1000)
    first, second, other = (np.zeros_like(x) for _ in range(3))
    for dst, seed in ((first, 123), (second, 123), (other, 512)):
        dropout_kernel[(8,)](x, dst, 1000, 0.5, seed, BLOCK=128)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    kept = first != 0
    assert 400 < kept.sum() < 600
    assert np.allclose(first[kept], 2 * x[kept])


@triton.jit
def layer_norm_forward(x, y, w, b, mean_ptr, rstd_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    y += row * stride
    x += row * stride
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        sums += tl.load(x + cols, mask=cols < n, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        values = tl.load(x + cols, mask=cols < n, other=0.0).to(tl.float32)
        values = tl.where(cols < n, values - mean, 0.0)
        squares += values * values
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n
        values = tl.load(x + cols, mask=mask, other=0.0).to(tl.float32)
        weight, bias = tl.load(w + cols, mask=mask), tl.load(b + cols, mask=mask)
        tl.store(y + cols, (values - mean) * rstd * weight + bias, mask=mask)


@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, w, mean_ptr, rstd_ptr, lock, stride, n,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    group = row % GROUPS
    lock += group
    count_ptr = lock + GROUPS
    dw = dw + group * n + cols
    db = db + group * n + cols
    values = tl.load(x + row * stride + cols, mask=mask, other=0)
    grads = tl.load(dy + row * stride + cols, mask=mask, other=0)
    rstd = tl.load(rstd_ptr + row)
    hat = tl.where(mask, (values - tl.load(mean_ptr + row)) * rstd, 0.0)
    weighted = tl.where(mask, tl.load(w + cols, mask=mask) * grads, 0.0)
    c1, c2 = tl.sum(hat * weighted, axis=0) / n, tl.sum(weighted, axis=0) / n
    tl.store(dx + row * stride + cols, (weighted - (hat * c1 + c2)) * rstd, mask=mask)
    partial_dw = grads * hat
    partial_db = grads
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count_ptr) == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        partial_dw += tl.load(dw, mask=mask)
        partial_db += tl.load(db, mask=mask)
    tl.store(dw, partial_dw, mask=mask)
    tl.store(db, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_layer_norm_forward_and_backward_with_locks(rng: np.random.Generator) -> None:
    rows, n, groups = 12, 100, 4
    x, dy, w, b = normal(rng, rows, n), normal(rng, rows, n), normal(rng, n), normal(rng, n)
    y, dx = np.zeros_like(x), np.zeros_like(x)
    mean, rstd = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    layer_norm_forward[(rows,)](x, y, w, b, mean, rstd, n, n, 1e-5, BLOCK=64)
    hat = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    assert np.allclose(y, hat * w + b, atol=1e-4)

    dw, db = np.zeros((groups, n), np.float32), np.zeros((groups, n), np.float32)
    lock = np.zeros(2 * groups, np.int32)
    layer_norm_backward[(rows,)](
        dx, dy, dw, db, x, w, mean, rstd, lock, n, n, GROUPS=groups, BLOCK=128
    )
    weighted = w * dy
    c1, c2 = (hat * weighted).mean(1, keepdims=True), weighted.mean(1, keepdims=True)
    assert np.allclose(dx, (weighted - (hat * c1 + c2)) * rstd[:, None], atol=1e-3)
    assert np.allclose(dw.sum(0), (dy * hat).sum(0), atol=1e-3)
    assert np.allclose(db.sum(0), dy.sum(0), atol=1e-3)


@triton.jit
def attention_inner(
    total, norm, top, q, k_ptr, v_ptr, scale, start, n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    offs_m, offs_d = start * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    end = (start + 1) * BLOCK_M if CAUSAL else n
    for begin in range(0, end, BLOCK_N):
        offs_n = begin + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + offs_n[None, :] * D + offs_d[:, None])
        scores = tl.dot(q, k) * scale
        if CAUSAL:
            scores = tl.where(offs_m[:, None] >= offs_n[None, :], scores, -1.0e6)
        new_top = tl.maximum(top, tl.max(scores, 1))
        weights = tl.math.exp2(scores - new_top[:, None])
        shrink = tl.math.exp2(top - new_top)
        norm = norm * shrink + tl.sum(weights, 1)
        v = tl.load(v_ptr + offs_n[:, None] * D + offs_d[None, :])
        total = tl.dot(weights.to(v.dtype), v, total * shrink[:, None])
        top = new_top
    return total, norm, top


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, dst, scale, n,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0)
    offs_m, offs_d = start * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + offs_m[:, None] * D + offs_d[None, :])
    top = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    norm = tl.zeros([BLOCK_M], dtype=tl.float32)
    total = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    total, norm, top = attention_inner(
        total, norm, top, q, k_ptr, v_ptr, scale * 1.44269504, start, n, D, BLOCK_M, BLOCK_N, CAUSAL
    )
    result = (total / norm[:, None]).to(dst.dtype.element_ty)
    tl.store(dst + offs_m[:, None] * D + offs_d[None, :], result)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float16, 2e-2)])
def test_flash_attention(
    rng: np.random.Generator, is_causal: bool, dtype: Any, tolerance: float
) -> None:
    n, d = 64, 32
    q, k, v = (normal(rng, n, d).astype(dtype) for _ in range(3))
    dst = np.zeros_like(q)
    attention_kernel[(n // 32,)](q, k, v, dst, d**-0.5, n, d, 32, 16, is_causal)
    scores = q.astype(np.float32) @ k.astype(np.float32).T * d**-0.5
    if is_causal:
        scores = np.where(np.tril(np.ones((n, n))) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    assert np.allclose(dst, weights @ v.astype(np.float32), atol=tolerance)


@triton.jit
def grouped_matmul_kernel(
    a_table, b_table, c_table, sizes, groups, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr
):
    tile = tl.program_id(0)
    done = 0
    for group in range(groups):
        m, n = tl.load(sizes + group * 3), tl.load(sizes + group * 3 + 1)
        k = tl.load(sizes + group * 3 + 2)
        tiles_n = tl.cdiv(n, BLOCK)
        tiles = tl.cdiv(m, BLOCK) * tiles_n
        while tile >= done and tile < done + tiles:
            a = tl.load(a_table + group).to(tl.pointer_type(tl.float32))
            b = tl.load(b_table + group).to(tl.pointer_type(tl.float32))
            c = tl.load(c_table + group).to(tl.pointer_type(tl.float32))
            local = tile - done
            rows = (local // tiles_n) * BLOCK + tl.arange(0, BLOCK)
            cols = (local % tiles_n) * BLOCK + tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
            for step in range(0, tl.cdiv(k, BLOCK)):
                inner = step * BLOCK + tl.arange(0, BLOCK)
                left = tl.load(a + rows[:, None] * k + inner[None, :])
                total += tl.dot(left, tl.load(b + inner[:, None] * n + cols[None, :]))
            tl.store(c + rows[:, None] * n + cols[None, :], total)
            tile += PROGRAMS
        done = done + tiles


def test_grouped_matmul_through_tables_of_pointers(rng: np.random.Generator) -> None:
    sizes = [(32, 16, 48), (16, 32, 16)]
    a = [normal(rng, m, k) for m, _, k in sizes]
    b = [normal(rng, k, n) for _, n, k in sizes]
    c = [np.zeros((m, n), np.float32) for m, n, _ in sizes]
    tables = [np.array([x.ctypes.data for x in group], np.int64) for group in (a, b, c)]
    grouped_matmul_kernel[(2,)](*tables, np.array(sizes, np.int32), 2, PROGRAMS=2, BLOCK=16)
    for left, right, result in zip(a, b, c, strict=True):
        assert np.allclose(left @ right, result, atol=1e-4)


@pytest.mark.torch
@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_tensors_of_torch_give_the_same_as_arrays(rng: np.random.Generator) -> None:
    import torch

    x = normal(rng, 4, 30)
    dst, same = np.zeros_like(x), torch.zeros(4, 30)
    softmax_kernel[(2,)](dst, x, 30, 4, 30, BLOCK=32)
    softmax_kernel[(2,)](same, torch.from_numpy(x), 30, 4, 30, BLOCK=32)
    assert np.array_equal(dst, same.numpy())
