"""Kernels to compile without a GPU: one for every shape of IR that the passes meet."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

_ALIGNED = [["tt.divisibility", 16]]


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (at + k)[None, :])
        y = tl.load(b + (at + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    a_rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_rows = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    c_rows = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for at in tl.range(0, tl.cdiv(K, BK), warp_specialize=WS):
        x = a_rows.load([m, at * BK])
        y = b_rows.load([n, at * BK])
        acc = tl.dot(x, y.T, acc)
    c_rows.store([m, n], acc.to(tl.float16))


@triton.jit
def branches(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    if at > n:
        return
    i = at * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if at % 2 == 0:
        v = tl.exp(v)
    else:
        v += tl.sum(v)
    while at < n:
        tl.store(x + at * BLOCK + i, v)
        at += tl.num_programs(0)


@triton.jit(noinline=True)
def apart(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)


@triton.jit
def calling(x, BLOCK: tl.constexpr):
    apart(x + tl.program_id(0) * BLOCK, BLOCK)


@gluon.jit
def _default(x, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, BLOCK, layout)
    gl.store(x + i, gl.load(x + i) + 1)


@gluon.jit
def _worker(x, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    i = gl.arange(0, BLOCK, layout)
    gl.store(x + 1024 + i, gl.load(x + 1024 + i) + 1)


@gluon.jit
def gluon_specialized(x, BLOCK: gl.constexpr):
    gl.warp_specialize([(_default, (x, BLOCK)), (_worker, (x, BLOCK))], [1], [24])


@gluon.jit
def gluon_plain(x, BLOCK: gl.constexpr, THREADS: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [THREADS], [4], [0])
    i = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(x + i, gl.load(x + i) + 1)


# name, then target
SHAPES = [
    *(f"{kernel}-{target}" for kernel in ("softmax", "matmul") for target in ("80", "90", "100")),
    *(f"{kernel}-gfx942" for kernel in ("softmax", "matmul", "gluon_plain", "branches")),
    *("tma-90", "tma_specialized-90", "tma_specialized-100", "branches-90", "calling-90"),
    *("gluon_plain-90", "gluon_specialized-90"),
]


def target_of(name: str) -> GPUTarget:
    """The target that "90" or "gfx942" stands for."""
    is_amd = name.startswith("gfx")
    return GPUTarget("hip", name, 64) if is_amd else GPUTarget("cuda", int(name), 32)


def compile_kernel(
    kernel: Any, arguments: dict[str, str], constants: dict[str, Any], target: str
) -> Any:
    """The texts and binaries of a kernel that is compiled for `target`."""
    return compiled(kernel, arguments, constants, target).asm


def compiled(kernel: Any, arguments: dict[str, str], constants: dict[str, Any], target: str) -> Any:
    """A kernel that is compiled for `target`."""
    signature = {**arguments, **dict.fromkeys(constants, "constexpr")}
    names = list(signature)
    aligned = {(names.index(name),): _ALIGNED for name in arguments}
    source_class = ASTSource
    if kernel.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource

        source_class = GluonASTSource
    source = source_class(kernel, signature, constants, aligned)
    stages = {} if kernel.is_gluon() else {"num_stages": 2 if target.startswith("gfx") else 3}
    options = {"num_warps": 4, **stages}
    return triton.compile(source, target=target_of(target), options=options)


def compile_shape(shape: str) -> Any:
    """The texts and binaries of one of SHAPES."""
    name, target = shape.split("-")
    blocks = {"BM": 128, "BN": 128, "BK": 64}
    matrices = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    block = {"BLOCK": 1024}
    if name == "matmul":
        return compile_kernel(matmul, matrices, blocks, target)
    if name.startswith("tma"):
        return compile_kernel(tma, matrices, blocks | {"WS": name == "tma_specialized"}, target)
    if name == "softmax":
        return compile_kernel(softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, block, target)
    if name == "branches":
        return compile_kernel(branches, {"x": "*fp32", "n": "i32"}, block, target)
    if name == "gluon_plain":
        threads = {"THREADS": 64 if target.startswith("gfx") else 32}
        return compile_kernel(gluon_plain, {"x": "*fp32"}, block | threads, target)
    kernel = {"calling": calling, "gluon_specialized": gluon_specialized}[name]
    return compile_kernel(kernel, {"x": "*fp32"}, {"BLOCK": 128}, target)
