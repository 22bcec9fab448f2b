"""What profiling costs on a GPU: none, the floor, Proton, triton.profiler, torch.profiler.

Usage: python benchmarks/overhead.py [--quick] [--budget SECONDS] [--json PATH]
Each sample comes from a process of its own, forked from one that has imported everything and never
touched CUDA; tools take turns. A process times the work bare and profiled, again and again; the
ratio of two such times that follow one another is a sample. What is reported is the median of the
samples, with its 95 % interval. Rounds go on until the budget is spent.
"""

from __future__ import annotations

import json
import os
import select
import signal
import statistics
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from overhead_tools import make_tools
from overhead_work import make_work
from stats import Estimate, Result, estimate, machine, parser, report

sys.path.insert(0, str(Path(__file__).resolve().parent))

ROWS = {
    "triton": "20 000 Triton launches, each in a scope",
    "torch": "20 000 torch.add",
    "graph": "graph of 1000 kernels, by node",
    "graph_level": "graph of 1000 kernels, as a whole",
    "inference": "GPT-2 inference step",
    "training": "GPT-2 training step",
}
# (bar as a ratio to none, bar as a ratio to the floor), shadow and python
BARS: dict[str, tuple[tuple[float | None, float | None], tuple[float | None, float | None]]] = {
    "triton": ((1.05, None), (1.15, None)),
    "torch": ((1.10, None), (1.25, None)),
    "graph": ((None, 1.03), (None, None)),
    "graph_level": ((None, 1.03), (None, None)),
    "inference": ((None, 1.03), (None, 1.08)),
    "training": ((None, 1.03), (None, 1.08)),
}
PAIRS = 5  # of a row in a process: bare, then profiled in a session of its own
FINALIZE_STEPS = 40
EVERY_ROUND = ("none", "floor", "proton", "proton python")
SOME_ROUNDS = ("triton", "triton python", "torch")  # every third: they only stand beside
PROCESS_LIMIT_S = 60
IMPORTS = (
    "torch.profiler",
    "transformers.models.gpt2.modeling_gpt2",
    "triton.profiler",
    "overhead_kernels",
    "proton",
)


def measure(tool_name: str, rows: list[str], library: str) -> dict[str, Any]:
    """In a process of its own: row -> pairs of seconds, bare and profiled."""
    started = time.perf_counter()
    tool = make_tools(library)[tool_name]()
    work = make_work(rows)
    import torch

    def sample(run: Any, calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        torch.cuda.synchronize()
        return time.perf_counter() - start

    def timed(run: Any, calls: int) -> float:
        sample(run, 1)
        return sample(run, calls)

    prepared = time.perf_counter()
    result: dict[str, Any] = {"prepare_s": prepared - started}
    # graphs first: some versions of CUPTI mistake graph launches in a process's later sessions
    for row in sorted(rows, key=lambda name: not name.startswith("graph")):
        if row == "graph_level" and tool_name not in ("none", "floor", "proton"):
            continue
        piece = work[row]
        bare = piece.prepare(None)
        pairs = []
        for _ in range(PAIRS):
            without = timed(bare, piece.calls)
            tool.start(is_graph_level=row == "graph_level")
            try:
                pairs.append((without, timed(piece.prepare(tool.scope), piece.calls)))
            finally:
                tool.stop()
        result[row] = pairs
    result["run_s"] = time.perf_counter() - prepared
    return result


def measure_finalize(tool_name: str, rows: list[str], library: str) -> dict[str, Any]:
    """In a process of its own: milliseconds to finalize after 40 training steps, and bytes."""
    tool = make_tools(library)[tool_name]()
    run = make_work(["training"])["training"].prepare(tool.scope)
    import torch

    if tool_name == "torch":
        tool.exports = True  # type: ignore[attr-defined]
    tool.start()
    for _ in range(FINALIZE_STEPS):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    tool.stop()
    return {"ms": (time.perf_counter() - start) * 1e3, "bytes": tool.file_bytes()}


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


def collect(rows: list[str], tools: list[str], budget_s: float, library: str) -> dict[str, Any]:
    """tool -> row -> the ratios of its processes."""
    ratios: dict[str, dict[str, list[float]]] = {name: {} for name in tools}
    end = time.monotonic() + budget_s
    longest = 0.0
    for round_number in range(1000):
        names = [n for n in tools if n in EVERY_ROUND or round_number % 3 == 0]
        for name in names if round_number % 2 else names[::-1]:
            start = time.monotonic()
            if start + longest > end:
                return ratios
            found = forked(measure, (name, rows, library), min(PROCESS_LIMIT_S, end - start + 5))
            longest = max(longest, min(time.monotonic() - start, 20))
            if "error" in found:
                print(f"{name}: {found['error']}", flush=True)
                continue
            took = [f"{found.pop(key):.1f}" for key in ("prepare_s", "run_s")]
            for row, pairs in found.items():
                ratios[name].setdefault(row, []).extend(on / off for off, on in pairs)
            bare = {row: f"{pairs[0][0] * 1e3:.2f}" for row, pairs in found.items()}
            print(f"{name}: prepared in {took[0]} s, ran {took[1]} s, bare ms {bare}", flush=True)
        print(f"round {round_number + 1} done, {end - time.monotonic():.0f} s left", flush=True)
    return ratios


def results_of(ratios: dict[str, dict[str, list[float]]]) -> list[Result]:
    """The table's rows."""
    results = []
    for row, text in ROWS.items():
        floor = ratios.get("floor", {}).get(row)
        for index, name in enumerate(("proton", "proton python")):
            if row not in ratios.get(name, {}):
                continue
            bar, floor_bar = BARS[row][index]
            context = ", python" if index else ""
            known = ratios.get("triton python" if index else "triton", {}).get(row)
            note = "; ".join(
                f"{other} {estimate(samples)}"
                for other in ("none", "floor", "torch")
                if (samples := ratios.get(other, {}).get(row))
            )
            results.append(
                Result(
                    f"{text}{context}",
                    "x none",
                    estimate(ratios[name][row]),
                    bar=bar,
                    known=estimate(known) if known else None,
                    note=note,
                )
            )
            if floor and floor_bar is not None:
                middle = statistics.median(floor)
                against = [each / middle for each in ratios[name][row]]
                results.append(
                    Result(f"{text}{context}", "x floor", estimate(against), bar=floor_bar)
                )
    return results


def finalize_results(library: str, tools: list[str]) -> list[Result]:
    """How long writing takes after 40 training steps, and how large the files are."""
    bars = {"proton": (20.0, 27.0), "proton python": (None, 100.0), "proton trace": (200.0, 3072.0)}
    results = []
    for name in tools:
        found = forked(measure_finalize, (name, [], library), 120)
        if "error" in found:
            print(f"finalize of {name}: {found['error']}", flush=True)
            continue
        time_bar, size_bar = bars.get(name, (None, None))
        for what, value, unit, bar in (
            ("finalize", found["ms"], "ms", time_bar),
            ("file", found["bytes"] / 1024, "KB", size_bar),
        ):
            one = Estimate(value, value, value, 1)
            results.append(Result(f"{what} after 40 training steps, {name}", unit, one, bar=bar))
    return results


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="a minute and a half, few samples")
    arguments.add_argument("--budget", type=float, help="seconds for the ratios (default 270)")
    arguments.add_argument("--no-finalize", action="store_true", help="leave the writing out")
    arguments.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    arguments.add_argument("--tools", nargs="+", default=[*EVERY_ROUND, *SOME_ROUNDS])
    chosen = arguments.parse_args()
    budget_s = chosen.budget or (75 if chosen.quick else 270)
    from floor.floor import build

    library = build()
    for module in IMPORTS:  # once, before any process is forked; none of them touches the GPU
        import_module(module)
    print(machine(), flush=True)
    ratios = collect(chosen.rows, chosen.tools, budget_s, library)
    results = results_of(ratios)
    writers = ["proton", "proton python", "proton trace"]
    if not chosen.quick:
        writers += ["triton", "triton python", "triton trace"]
    if not chosen.no_finalize:
        results += finalize_results(library, writers)
    report(results, chosen.json)
    for name in ratios.keys() - {"none", *EVERY_ROUND, *SOME_ROUNDS}:
        for row, samples in ratios[name].items():
            print(f"{row}, {name}: {estimate(samples)} x none")


if __name__ == "__main__":
    main()
