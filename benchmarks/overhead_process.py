"""One process of `overhead.py`: times each piece of work under each of its tools, taking turns.

It is forked from one that has imported everything and never touched CUDA; what it finds comes back
through a pipe, also when a tool fails or hangs.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any

from overhead_tools import Tool, make_tools
from overhead_work import Work, make_work

GRAPH_LEVEL = ("none", "floor", "proton")  # the others have no such mode
FINALIZE_STEPS = 40


def time_work(tool: Tool, piece: Work, *, is_graph_level: bool) -> float:
    """Seconds of one sample in a session of its own: on the host's clock, or on the GPU's."""
    import torch

    tool.start(is_graph_level=is_graph_level)
    try:
        run = piece.prepare(tool.scope)
        run(piece.warm_up)
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start = time.perf_counter()
        if piece.is_gpu_bound:
            first.record()
        run(piece.calls)
        if piece.is_gpu_bound:
            last.record()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        return first.elapsed_time(last) / 1e3 if piece.is_gpu_bound else seconds
    finally:
        tool.stop()


def measure(names: list[str], rows: list[str], library: str, cycles: int) -> dict[str, Any]:
    """Row -> for each cycle, tool -> seconds. A tool that fails is left out from there on."""
    started = time.perf_counter()
    failed: dict[str, str] = {}
    tools: dict[str, Tool] = {}
    for name in names:
        try:
            tools[name] = make_tools(library)[name]()
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"
    work = make_work(rows)
    prepared = time.perf_counter()
    samples: dict[str, list[dict[str, float]]] = {}
    # graphs first: some versions of CUPTI mistake graph launches in a process's later sessions
    for row in sorted(rows, key=lambda name: not name.startswith("graph")):
        is_graph_level = row == "graph_level"
        samples[row] = []
        for cycle in range(cycles):
            sample: dict[str, float] = {}
            for name in names if cycle % 2 == 0 else reversed(names):
                if name in failed or (is_graph_level and name not in GRAPH_LEVEL):
                    continue
                try:
                    sample[name] = time_work(tools[name], work[row], is_graph_level=is_graph_level)
                except Exception as error:
                    traceback.print_exc()
                    failed[name] = f"{row}: {type(error).__name__}: {error}"
            samples[row].append(sample)
    return {
        "samples": samples,
        "failed": failed,
        "prepare_s": prepared - started,
        "run_s": time.perf_counter() - prepared,
    }


def measure_finalize(name: str, library: str, repeats: int) -> dict[str, Any]:
    """Milliseconds to finalize after 40 training steps, each time, and bytes of the last file."""
    tool = make_tools(library)[name]()
    piece = make_work(["training"])["training"]
    import torch

    times = []
    for _ in range(repeats):
        tool.start()
        piece.prepare(tool.scope)(FINALIZE_STEPS)
        torch.cuda.synchronize()
        start = time.perf_counter()
        tool.stop()
        times.append((time.perf_counter() - start) * 1e3)
    return {"ms": times, "bytes": tool.file_bytes()}


def forked(function: Any, arguments: tuple[Any, ...], limit_s: float) -> dict[str, Any]:
    """The result of `function` in a forked process; `{"error": ...}` where there is none."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            result = function(*arguments)
        except BaseException as error:
            traceback.print_exc()
            result = {"error": f"{type(error).__name__}: {error}"}
        with os.fdopen(write, "w") as pipe:
            json.dump(result, pipe)
        os._exit(0)
    os.close(write)
    text, end = b"", time.monotonic() + limit_s
    while True:
        left = end - time.monotonic()
        ready = left > 0 and select.select([read], [], [], left)[0]
        if not ready:
            os.kill(pid, signal.SIGKILL)
            text = json.dumps({"error": f"no result after {limit_s:.0f} s"}).encode()
            break
        piece = os.read(read, 1 << 16)
        if not piece:
            break
        text += piece
    os.close(read)
    _, status = os.waitpid(pid, 0)
    return dict(json.loads(text or json.dumps({"error": f"the process died ({status})"})))
