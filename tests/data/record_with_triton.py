"""Record small profiles with Triton's own profiler: `python record_with_triton.py KIND FOLDER`.

Kinds that need no GPU: `scopes`. All others need one. Each kind is one process, because a process
of Triton's profiler keeps to one mode.
"""

# mypy: ignore-errors
# Triton and torch are not typed, and not always there.
from __future__ import annotations

import os
import sys
from typing import Any

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl

pl.enable_semantic("triton")  # scopes inside kernels; nothing without the instrumentation backend


def matmul_metadata(grid: Any, metadata: Any, args: Any) -> dict[str, Any]:
    m, n, k = args["m"], args["n"], args["k"]
    return {
        "name": f"matmul_{m}x{n}x{k}",
        "flops16": 2.0 * m * n * k,
        "bytes": 2 * (m * k + k * n + m * n),
    }


@triton.jit(launch_metadata=matmul_metadata)
def matmul(a, b, c, m, n, k, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        x = tl.load(a + row[:, None] * k + inner[None, :])
        y = tl.load(b + inner[:, None] * n + column[None, :])
        total += tl.dot(x, y)
    tl.store(c + row[:, None] * n + column[None, :], total.to(tl.float16))


@triton.jit
def add(x, y, out, size, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < size
    pl.enter_scope("load")
    total = tl.load(x + place, mask) + tl.load(y + place, mask)
    pl.exit_scope("load")
    pl.enter_scope("store")
    tl.store(out + place, total, mask)
    pl.exit_scope("store")


def step(size: int) -> None:
    a = torch.ones((size, size), device="cuda", dtype=torch.float16)
    with proton.scope(f"matmul_{size}"):
        c = torch.empty_like(a)
        matmul[(size // 64, size // 64)](a, a, c, size, size, size, BLOCK=64)
    with proton.scope("tail", metrics={"elements": size * size, "ratio": 0.5}):
        with proton.state("add"):
            add[(triton.cdiv(size * size, 1024),)](c, c, c, size * size, BLOCK=1024)
        torch.relu(c)


def record_scopes(path: str) -> None:
    """Scopes and metrics alone, on any machine, by way of the profiler's native module."""
    from triton._C.libproton import proton as native

    native.start(path, "shadow", "tree", "instrumentation", "cuda:default")
    native.activate_all()
    proton.flags.flags.profiling_on = True  # type: ignore[attr-defined]
    for epoch in range(2):
        with proton.scope(f"epoch_{epoch}", metrics={"loss (pty)": 0.5 / (epoch + 1)}):
            for _ in range(3):
                with proton.scope("forward", metrics={"flops": 1e9, "bytes": 4096}):
                    pass
                with proton.cpu_timed_scope("backward"), proton.scope("größe → 模型"):
                    pass
        with proton.scope("idle", metrics={"gap (ns)(exc)": 1500}):
            pass
    native.finalize_all("")


def record_gpu(path: str, **options: Any) -> None:
    step(256)  # compiled before anything is recorded
    proton.start(path, hook="triton", **options)
    for size in (256, 512):
        with proton.scope("step"):
            step(size)
    torch.cuda.synchronize()
    proton.finalize()


def record_inkernel(path: str, data: str) -> None:
    """Only kernels that have scopes inside: others end Triton 3.6's decoder."""
    proton.start(path, backend="instrumentation", data=data)
    x = torch.ones(4096, device="cuda")
    with proton.scope("add"):
        add[(4,)](x, x, x, 4096, BLOCK=1024)
    proton.finalize()


def record_graph(path: str) -> None:
    step(256)
    proton.start(path, hook="triton")
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream), proton.scope("warm"):
        step(256)
    torch.cuda.synchronize()
    with proton.scope("capture"), torch.cuda.graph(graph):
        step(256)
    for number in range(3):
        with proton.scope(f"replay_{number}"):
            graph.replay()
    torch.cuda.synchronize()
    proton.finalize()


def main() -> None:
    kind, folder = sys.argv[1:]
    path = os.path.join(folder, f"triton36_{kind}")
    if kind == "scopes":
        record_scopes(path)
    elif kind == "graph":
        record_graph(path)
    elif kind.startswith("inkernel"):
        record_inkernel(path, "trace" if kind.endswith("trace") else "tree")
    else:
        options: dict[str, dict[str, Any]] = {
            "kernels": {},
            "python": {"context": "python"},
            "trace": {"data": "trace"},
            "samples": {"backend": "cupti", "mode": "pcsampling"},
        }
        record_gpu(path, **options[kind])


if __name__ == "__main__":
    main()
