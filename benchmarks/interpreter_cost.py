"""What recording costs over Triton's plain interpreter, nobody subscribed to single operations.

Usage: python benchmarks/interpreter_cost.py [--rounds N] [--json PATH]
Each kernel is launched by Triton's interpreter alone and in an active session, in turns; the figure
is the ratio. Ours collects the language's replacements once and leaves out checks of integer
overflow whose result Triton drops; the rows with debug=True leave them in. Needs torch, as Triton's
own interpreter does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stats import Result, interleave, parser, ratio, report, time_ns

os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported: its library is jitted too

import torch
import triton
import triton.language as tl

import proton

BAR = 1.03


@triton.jit
def add_kernel(x, y, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(dst + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(dst, x, stride, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * stride + cols, mask=cols < n, other=-float("inf"))
    exponents = tl.exp(row - tl.max(row, axis=0))
    result = exponents / tl.sum(exponents, axis=0)
    tl.store(dst + tl.program_id(0) * stride + cols, result, mask=cols < n)


@triton.jit
def matmul_kernel(a, b, c, N: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        x = tl.load(a + rows[:, None] * N + inner[None, :], mask=inner[None, :] < N, other=0.0)
        y = tl.load(b + inner[:, None] * N + cols[None, :], mask=inner[:, None] < N, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * N + cols[None, :], total)


def launches() -> dict[str, Callable[..., Any]]:
    x, y = torch.rand(1 << 16), torch.rand(1 << 16)
    rows = torch.rand(64, 1000)
    a, b = torch.rand(128, 128), torch.rand(128, 128)
    return {
        "vector add": lambda **options: add_kernel[(64,)](
            x, y, torch.empty_like(x), x.numel(), BLOCK=1024, **options
        ),
        "softmax": lambda **options: softmax_kernel[(64,)](
            torch.empty_like(rows), rows, 1000, 1000, BLOCK=1024, **options
        ),
        "matmul": lambda **options: matmul_kernel[(4, 4)](
            a, b, torch.empty_like(a), N=128, BLOCK=32, **options
        ),
    }


def recorded(run: Callable[[], Any], folder: str) -> float:
    """Nanoseconds of one launch in an active session; its start and end are not counted."""
    session = proton.start(str(Path(folder) / "cost"), backend="interpreter")
    try:
        run()  # the first launch prepares the kernel, as Triton's own interpreter does once
        return time_ns(run)
    finally:
        proton.finalize(session)


def measure(run: Callable[..., Any], rounds: int, folder: str, **options: Any) -> Any:
    """The ratio of a recorded launch to a plain one."""
    samples = interleave(
        {
            "plain": lambda: float(time_ns(run)),
            "recorded": lambda: recorded(lambda: run(**options), folder),
        },
        rounds=rounds,
    )
    return ratio(samples["recorded"], samples["plain"])


def main() -> None:
    arguments = parser(__doc__).parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, run in launches().items():
            cost = measure(run, arguments.rounds, folder)
            results.append(Result(f"interpreted {name}", "x", cost, bar=BAR))
            checked = measure(run, arguments.rounds, folder, debug=True)
            results.append(Result(f"interpreted {name}, debug=True", "x", checked))
    report(results, arguments.json)


if __name__ == "__main__":
    main()
