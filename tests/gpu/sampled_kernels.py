"""Triton kernels whose hot lines are known; comments at the ends of lines name them for tests."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from pathlib import Path

import triton
import triton.language as tl

FILE = Path(__file__)


def line_of(mark: str) -> int:
    """The number of the line that ends in `# mark`."""
    lines = FILE.read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"  # {mark}")]
    return found


@triton.jit
def gather(x_ptr, y_ptr, steps, stride, BLOCK: tl.constexpr):
    """Bound by memory: every step waits for what it loads."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(steps):
        total += tl.load(x_ptr + offsets + step * stride)  # waits
    tl.store(y_ptr + offsets, total)


@triton.jit
def polish(x, rounds):
    for _ in range(rounds):
        x = x * 1.0001 + 0.5  # polishes
    return x


@triton.jit
def call_helper(x_ptr, rounds, BLOCK: tl.constexpr):
    """Nearly all of its time is that of a function it calls."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    x = polish(x, rounds)  # calls
    tl.store(x_ptr + offsets, x)


@triton.jit
def peaks(x_ptr, y_ptr, rounds, BLOCK: tl.constexpr):
    """Nearly all of its time is that of a function of Triton's library."""
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    best = 0.0
    for step in range(rounds):
        best += tl.max(x + step, axis=0)  # reduces
    tl.store(y_ptr + tl.program_id(0), best)
