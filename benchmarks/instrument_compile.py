"""What records add to the time a kernel takes to compile, for sm_90 and with no GPU at hand.

Usage: python benchmarks/instrument_compile.py [--rounds N] [--json PATH]
A pipelined matmul and attention are compiled plain and in several modes, in turn, past all caches.
Processor time of this process and of ptxas is counted: neighbours on the machine show little, and
least in the fastest of all rounds, which the notes compare.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from proton.inkernel.compiler.compile_hook import read_records
from proton.inkernel.compiler.instrument import begin
from proton.inkernel.modes.mode_table import parse_instrumentation
from stats import Result, difference, interleave, parser, report

BAR_MS = 100.0
MODES = ("cta", "ops", "loops", "ops+loops+mma")
TARGET = GPUTarget("cuda", 90, 32)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (at + k)[None, :])
        y = tl.load(b + (at + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16))


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
        higher = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - higher[:, None])
        fade = tl.exp2(most - higher)
        weight = weight * fade + tl.sum(p, 1)
        values = tl.load(v + head + (at + columns)[:, None] * D + depth[None, :])
        total = tl.dot(p.to(tl.float16), values, total * fade[:, None])
        most = higher
    total = total / weight[:, None]
    tl.store(out + head + rows[:, None] * D + depth[None, :], total.to(tl.float16))


def source(kernel: Any, arguments: dict[str, str], constants: dict[str, int]) -> ASTSource:
    """The kernel with pointers and sizes that are multiples of 16."""
    signature = {**arguments, **dict.fromkeys(constants, "constexpr")}
    aligned = {
        (at,): [["tt.divisibility", 16]]
        for at, kind in enumerate(arguments.values())
        if kind != "fp32"
    }
    return ASTSource(kernel, signature, constants, aligned)


HALVES = dict.fromkeys(("a", "b", "c"), "*fp16") | dict.fromkeys(("M", "N", "K"), "i32")
HEADS = dict.fromkeys(("q", "k", "v", "out"), "*fp16") | {"scale": "fp32", "N": "i32"}
SOURCES = {
    "matmul": lambda: source(matmul, HALVES, {"BM": 128, "BN": 128, "BK": 64}),
    "attention": lambda: source(attention, HEADS, {"BM": 128, "BN": 64, "D": 64}),
}


def used_ms() -> float:
    """Processor time of this process and of those it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds)) * 1e3


def compile_ms(name: str, mode: str) -> float:
    """Compile a kernel once, in a mode or plain, and say how long it took."""
    handle = begin(parse_instrumentation(mode), warn=fail) if mode else None
    try:
        before = used_ms()
        kernel = triton.compile(
            SOURCES[name](), target=TARGET, options={"num_warps": 4, "num_stages": 3}
        )
        taken = used_ms() - before
    finally:
        if handle:
            handle.end()
    assert (read_records(kernel.metadata) is not None) == bool(mode)
    return taken


def fail(text: str) -> None:
    """A kernel that is compiled without records would flatter the figures."""
    raise AssertionError(text)


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__).parse_args()
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    results = []
    for name in SOURCES:
        runs: dict[str, Callable[[], float]] = {
            mode: (lambda name=name, mode=mode: compile_ms(name, mode))  # type: ignore[misc]
            for mode in ("", *MODES)
        }
        samples = interleave(runs, rounds=arguments.rounds)
        plain = sorted(samples[""])[len(samples[""]) // 2]
        least = {mode: min(samples[mode]) - min(samples[""]) for mode in MODES}
        results += [
            Result(
                f"compile {name} in mode {mode}",
                "ms of processor time added",
                difference(samples[mode], samples[""]),
                bar=BAR_MS,
                note=f"{plain:.0f} ms without; fastest against fastest {least[mode]:.0f} ms",
            )
            for mode in MODES
        ]
    report(results, arguments.json)


if __name__ == "__main__":
    main()
