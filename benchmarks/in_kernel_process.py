"""One process of `in_kernel.py`: what is measured of each kernel under each tool, taking turns.

Kernels are timed on the GPU, between two events around launches that wait in their stream while the
host queues them all: what the host does is not in that time, what a tool does on the stream is.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from in_kernel_tools import Recording, make_tool
from in_kernel_work import CASES, COUNT, RECORDS, TEN, Prepared, load_kernels, prepare, source
from overhead_tools import Tool

SUITE = Path(__file__).resolve().parent.parent / "tests" / "gpu"
CALLS = 10  # launches of a sample
HOLD_CYCLES = 8_000_000  # about 4 ms, in which the host queues them
SETTLE_S = 0.05  # in which the host reads what was recorded before
TRIES = 3  # of a batch that the host is too slow for
SHORT_HOLD_CYCLES = 400_000
KNOWN_CALLS = 3  # at 300 ms of its own for each
WALL_CALLS, KNOWN_WALL_CALLS = 1000, 4
WALL_ROWS, WALL_COLUMNS = 264, 1024

Cycle = dict[str, float]  # tool -> what was measured


def tools_for(row: str, names: list[str]) -> list[str]:
    """Those of the tools that a row is measured with."""
    if row == "recorded_matmul":
        fitting = {"none", "records", "triton"}
    elif row in TEN:
        fitting = {"none", "scope", "cta", "triton", *(["memory"] if row == "attention" else [])}
    else:
        fitting = {"none", "scope", "triton"}
    return [name for name in names if name in fitting]


def measure(names: list[str], rows: list[str], cycles: int) -> dict[str, Any]:
    """Row -> for each cycle, tool -> what was measured; and records that were lost, by tool.

    `wall` is in microseconds of a launch, `back_to_back` in cycles of a record, the other rows in
    milliseconds of a launch. A tool that fails at a row is left out of the row from there on.
    """
    is_known = "triton" in names
    if is_known:
        import triton.profiler.language as language

        kernels = load_kernels(language)
    else:
        kernels = load_kernels()
    tools = {name: make_tool(name) for name in names}
    samples: dict[str, list[Cycle]] = {}
    failed: dict[str, str] = {}
    lost: dict[str, int] = {}
    for row in rows:
        samples[row] = []
        gauge = gauge_of(row, kernels, is_known=is_known)
        for cycle in range(cycles):
            taken: Cycle = {}
            chosen = tools_for(row, names)
            for name in chosen if cycle % 2 == 0 else reversed(chosen):
                if f"{row} with {name}" in failed:
                    continue
                try:
                    taken[name] = gauge(tools[name])
                    _add_losses(lost, tools[name], row, name)
                except Exception as error:
                    traceback.print_exc()
                    failed[f"{row} with {name}"] = f"{type(error).__name__}: {error}"
            samples[row].append(taken)
    return {"samples": samples, "failed": failed, "lost": lost}


def gauge_of(row: str, kernels: Any, *, is_known: bool) -> Callable[[Tool], float]:
    """What measures a row once under a tool, in a session of its own."""
    if row == "wall":
        return _wall(kernels, KNOWN_WALL_CALLS if is_known else WALL_CALLS)
    if row == "back_to_back":
        return _back_to_back(kernels)
    piece = prepare(row, kernels=kernels)
    piece.run()
    piece.check()
    return _bracketed(piece) if is_known else _batched(piece)


def _batched(piece: Prepared) -> Callable[[Tool], float]:
    """Milliseconds of a launch, of launches one behind another."""
    import torch

    def batch() -> tuple[float, str]:
        """Milliseconds of a launch; and why they do not count, where the host was too slow."""
        begin, first, last = (torch.cuda.Event(enable_timing=True) for _ in range(3))
        torch.cuda.synchronize()
        time.sleep(SETTLE_S)
        begin.record()
        torch.cuda._sleep(HOLD_CYCLES)
        first.record()
        start = time.perf_counter()
        for _ in range(CALLS):
            piece.run()
        last.record()
        queued_ms = (time.perf_counter() - start) * 1e3
        torch.cuda.synchronize()
        held_ms = begin.elapsed_time(first)
        late = f"queueing {CALLS} launches took {queued_ms:.1f} ms, the GPU waited {held_ms:.1f} ms"
        return first.elapsed_time(last) / CALLS, late if queued_ms > held_ms else ""

    def gauge(tool: Tool) -> float:
        with _Session(tool):
            batch()  # compiles, and makes as many buffers as are needed at once
            for _ in range(TRIES):
                taken, late = batch()
                if not late:
                    break
            piece.check()
        if late:
            raise RuntimeError(late)
        return taken

    return gauge


def _bracketed(piece: Prepared) -> Callable[[Tool], float]:
    """Milliseconds of a launch, from just before the kernel to just behind it.

    For a tool that synchronises at every launch: its own work is left out of the time.
    """
    import torch
    from triton import knobs

    def gauge(tool: Tool) -> float:
        pairs: list[tuple[Any, Any]] = []

        def enter(metadata: Any) -> None:
            pairs.append(
                (torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True))
            )
            torch.cuda._sleep(SHORT_HOLD_CYCLES)
            pairs[-1][0].record()

        def leave(metadata: Any) -> None:
            pairs[-1][1].record()

        with _Session(tool):
            piece.run()
            knobs.runtime.launch_enter_hook.add(enter)  # behind the tool's
            knobs.runtime.launch_exit_hook.add(leave)  # before the tool's: this chain is reversed
            try:
                for _ in range(KNOWN_CALLS):
                    piece.run()
            finally:
                knobs.runtime.launch_enter_hook.remove(enter)
                knobs.runtime.launch_exit_hook.remove(leave)
            torch.cuda.synchronize()
            piece.check()
        return statistics.median(first.elapsed_time(last) for first, last in pairs)

    return gauge


def _back_to_back(kernels: Any) -> Callable[[Tool], float]:
    """Cycles of a record among records, without what the loop takes when nothing records."""
    import torch

    cycles = torch.zeros(128, dtype=torch.int32, device="cuda")

    def run() -> float:
        kernels.back_to_back[(1,)](cycles, 4, COUNT=COUNT, THREADS=128, num_warps=4)
        return float(cycles.double().median().item())

    def gauge(tool: Tool) -> float:
        plain = run()
        with _Session(tool):
            run()
            return (run() - plain) / (2 * COUNT)

    return gauge


def _wall(kernels: Any, calls: int) -> Callable[[Tool], float]:
    """Microseconds of a launch from the program's view, all reading and writing included."""
    import torch

    x = torch.randn(WALL_ROWS, WALL_COLUMNS, device="cuda")
    y = torch.empty_like(x)

    def run() -> None:
        kernels.softmax[(WALL_ROWS,)](
            x, y, WALL_ROWS, WALL_COLUMNS, BLOCK=WALL_COLUMNS, num_warps=4
        )

    def gauge(tool: Tool) -> float:
        session = _Session(tool)
        with session:
            run()
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                run()
            torch.cuda.synchronize()
        return (session.ended - start) / calls * 1e6

    return gauge


class _Session:
    """A tool on, and off again whatever happens; `ended` is when it had written its profile."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.ended = 0.0

    def __enter__(self) -> _Session:
        self._tool.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._tool.stop()
        self.ended = time.perf_counter()


def _add_losses(sums: dict[str, int], tool: Tool, row: str, name: str) -> None:
    if not isinstance(tool, Recording):
        return
    entries = tool.entries("softmax" if row == "wall" else row)
    if row == "back_to_back":
        return  # its ring is overwritten on purpose
    lost: dict[str, int] = {}
    for each in entries:
        for kind, count in each.get("losses", {}).items():
            lost[kind] = lost.get(kind, 0) + count
    if row == "recorded_matmul":
        passages = sum(region["count"] for each in entries for region in each["regions"])
        records = 2 * passages / sum(each["recorded_warps"] for each in entries)
        if records < 0.9 * RECORDS:
            raise RuntimeError(f"a warp has {records:.0f} records, not {RECORDS}; lost: {lost}")
    for kind, count in lost.items():
        sums[f"{name}: {kind}"] = sums.get(f"{name}: {kind}", 0) + count


def measure_accuracy(launches: int) -> dict[str, Any]:
    """The suite of known durations: region -> truth and what was measured, in cycles; its bar.

    What a record costs is measured anew, so that this is part of what is judged.
    """
    os.environ["PROTON_CACHE_DIR"] = tempfile.mkdtemp(prefix="in_kernel_costs_")
    sys.path.append(str(SUITE))
    from accuracy_suite import PARTS, Suite

    return {
        each.name: {"truth": each.truth, "measured": each.measured, "has_bar": each.name in PARTS}
        for each in Suite().measure(launches)
    }


def measure_compiling(names: list[str], rounds: int) -> dict[str, Any]:
    """Kernel -> milliseconds that its scope adds to compiling it for sm_90, round by round.

    Processor time of this process and of ptxas: neighbours on the machine show less. They show
    least in the fastest of all rounds, whose difference `least_ms` is.
    """
    import triton

    from instrument_compile import TARGET, fail, used_ms
    from proton.inkernel.compiler.compile_hook import read_records
    from proton.inkernel.compiler.instrument import begin
    from proton.inkernel.modes.mode_table import parse_instrumentation
    from stats import interleave

    os.environ["TRITON_ALWAYS_COMPILE"] = "1"

    def compile_ms(name: str, *, records: bool) -> float:
        handle = begin(parse_instrumentation("default"), warn=fail) if records else None
        try:
            before = used_ms()
            kernel = triton.compile(source(name), target=TARGET, options=CASES[name].options)
            taken = used_ms() - before
        finally:
            if handle:
                handle.end()
        if (read_records(kernel.metadata) is not None) != records:
            raise RuntimeError(f"{name} has records where it should not, or none where it should")
        return taken

    added, least = {}, {}
    for name in names:
        runs: dict[str, Callable[[], float]] = {
            "plain": lambda name=name: compile_ms(name, records=False),  # type: ignore[misc]
            "recorded": lambda name=name: compile_ms(name, records=True),  # type: ignore[misc]
        }
        taken = interleave(runs, rounds=rounds)
        pairs = zip(taken["recorded"], taken["plain"], strict=True)
        added[name] = [ours - plain for ours, plain in pairs]
        least[name] = min(taken["recorded"]) - min(taken["plain"])
    return {"added_ms": added, "least_ms": least}
