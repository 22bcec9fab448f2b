"""What profiling costs on a GPU: none, the floor, Proton, triton.profiler, torch.profiler.

Usage: python benchmarks/overhead.py [--quick] [--budget SECONDS] [--explain] [--json PATH]
No profiler, the floor and Proton take turns in one process, session by session, so that a ratio is
of two times that follow one another; the known tools take turns with no profiler in processes of
their own. The order turns round each time. What is reported is the median of all ratios with its
95 % interval, which is that of a bootstrap over processes. Rounds of fresh processes go on until
the budget is spent. `--explain` measures parts of the cost instead: the floor asked for more, one
thing at a time, and scopes and empty ones without CUPTI.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from overhead_process import FINALIZE_STEPS, forked, measure, measure_finalize
from overhead_work import LAUNCHES
from stats import Estimate, Result, estimate, estimate_groups, machine, parser, report

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
TOGETHER = ("none", "floor", "proton", "proton python")
Round = tuple[tuple[tuple[str, ...], int], ...]  # of each process: its tools, how many cycles
ROUND: Round = (
    (TOGETHER, 4),
    (TOGETHER, 4),
    (("none", "triton"), 3),
    (("none", "triton python"), 2),
    (TOGETHER, 4),
    (("none", "torch"), 2),
    (("none", "floor"), 3),  # whether the floor costs the same alone
)
EXPLAIN: Round = (
    (
        (
            "none",
            "empty with",
            "scopes",
            "scopes in a session",
            "floor",
            "floor, empty with",
            "floor 4M",
            "floor copies",
            "floor peers",
            "floor resources",
            "floor zeroed",
            "floor 4M zeroed",
        ),
        2,
    ),
    (("none", "floor clock", "floor, empty with", "proton", "proton 1M", "proton python"), 3),
)
EXPLAINED_ROWS = ["triton", "graph", "inference", "training"]
PROCESS_LIMIT_S = 100
IMPORTS = (
    "torch.profiler",
    "transformers.models.gpt2.modeling_gpt2",
    "triton.profiler",
    "overhead_kernels",
    "proton",
)

Cycle = dict[str, float]  # tool -> seconds


class Samples:
    """Everything measured so far: per process, row -> cycles."""

    def __init__(self) -> None:
        self.processes: list[dict[str, list[Cycle]]] = []

    def ratios(
        self, row: str, name: str, against: str, *, alone: bool = False
    ) -> list[list[float]]:
        """For each process, the ratios of times in one cycle; `alone`: of pairs of two tools."""
        groups = []
        for process in self.processes:
            cycles = process.get(row, [])
            if alone and any(len(cycle) > 2 for cycle in cycles):
                continue
            groups.append([c[name] / c[against] for c in cycles if name in c and against in c])
        return [group for group in groups if group]

    def bare(self, row: str) -> list[list[float]]:
        """No profiler against itself, one cycle later: the noise of the machine."""
        groups = []
        for process in self.processes:
            times = [cycle["none"] for cycle in process.get(row, []) if "none" in cycle]
            groups.append([later / sooner for sooner, later in itertools.pairwise(times)])
        return [group for group in groups if group]

    def names(self) -> list[str]:
        """Every tool, in order of appearance."""
        cycles = (c for process in self.processes for cycles in process.values() for c in cycles)
        return list(dict.fromkeys(name for cycle in cycles for name in cycle))


def collect(
    rows: list[str],
    plan: Iterable[tuple[tuple[str, ...], int]],
    tools: set[str] | None,
    budget_s: float,
    library: str,
) -> Samples:
    """Run the processes of `plan`, as far as the budget goes."""
    samples = Samples()
    end = time.monotonic() + budget_s
    longest: dict[tuple[str, ...], float] = {}
    for number, (planned, cycles) in enumerate(plan, 1):
        names = [name for name in planned if tools is None or name in tools or name == "none"]
        if names == ["none"]:
            continue
        start = time.monotonic()
        if start + longest.get(planned, 10.0) > end:
            return samples
        limit_s = min(PROCESS_LIMIT_S, end - start + 10)
        found = forked(measure, (names, rows, library, cycles), limit_s)
        longest[planned] = time.monotonic() - start
        left = f"{end - time.monotonic():.0f} s left"
        if "error" in found:
            print(f"{number}: {', '.join(names)}: {found['error']}; {left}", flush=True)
            continue
        for name, reason in found["failed"].items():
            print(f"{number}: {name} failed: {reason}", flush=True)
        samples.processes.append(found["samples"])
        took = f"prepared in {found['prepare_s']:.1f} s, ran {found['run_s']:.1f} s"
        print(f"{number}: {', '.join(names)}: {took}; {left}", flush=True)
    return samples


def results_of(samples: Samples) -> list[Result]:
    """The table's rows."""
    results = []
    for row, text in ROWS.items():
        for index, name in enumerate(("proton", "proton python")):
            ours = samples.ratios(row, name, "none")
            if not ours:
                continue
            bar, floor_bar = BARS[row][index]
            figure = f"{text}{', python' if index else ''}"
            known = samples.ratios(row, "triton python" if index else "triton", "none")
            beside = {
                "none": samples.bare(row),
                "floor": samples.ratios(row, "floor", "none"),
                "floor alone": samples.ratios(row, "floor", "none", alone=True),
                "torch": samples.ratios(row, "torch", "none"),
            }
            note = "; ".join(f"{k} {estimate_groups(v)}" for k, v in beside.items() if v)
            note = f"{len(ours)} processes; {note}"
            theirs = estimate_groups(known) if known else None
            results.append(Result(figure, "x none", estimate_groups(ours), bar, theirs, note))
            against = samples.ratios(row, name, "floor")
            if against and floor_bar is not None:
                results.append(Result(figure, "x floor", estimate_groups(against), floor_bar))
    return results


def finalize_results(library: str, tools: dict[str, int], end: float) -> list[Result]:
    """How long writing takes after 40 training steps, and how large the files are."""
    bars = {"proton": (20.0, 27.0), "proton python": (None, 100.0), "proton trace": (200.0, 3072.0)}
    results = []
    for name, repeats in tools.items():
        left_s = end - time.monotonic()
        if left_s < 15:
            print(f"finalize of {name}: no time left", flush=True)
            continue
        found = forked(measure_finalize, (name, library, repeats), min(left_s, 60))
        if "error" in found:
            print(f"finalize of {name}: {found['error']}", flush=True)
            continue
        time_bar, size_bar = bars.get(name, (None, None))
        size = found["bytes"] / 1024
        what = f"after {FINALIZE_STEPS} training steps, {name}"
        results.append(Result(f"finalize {what}", "ms", estimate(found["ms"]), bar=time_bar))
        results.append(Result(f"file {what}", "KB", Estimate(size, size, size, 1), bar=size_bar))
    return results


def explain(samples: Samples, rows: list[str]) -> None:
    """Print what each part costs, as a ratio to none and in nanoseconds a kernel."""
    from overhead_work import GRAPH_KERNELS

    kernels = {"triton": LAUNCHES, "graph": 40 * GRAPH_KERNELS, "inference": 3160, "training": 6285}
    for row in rows:
        print(f"== {ROWS[row]}")
        for name in samples.names():
            ratios = samples.ratios(row, name, "none")
            added = [
                (cycle[name] - cycle["none"]) * 1e9 / kernels[row]
                for process in samples.processes
                for cycle in process.get(row, [])
                if name in cycle and "none" in cycle
            ]
            if ratios and added:
                print(f"{name}: {estimate_groups(ratios)} x none, {estimate(added)} ns a kernel")


def prepare() -> str:
    """Build the floor, and import what forked processes share; none of it touches the GPU."""
    from floor.floor import build

    library = build()
    for module in IMPORTS:
        import_module(module)
    print(machine(), flush=True)
    return library


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="a minute and a half, few samples")
    arguments.add_argument("--budget", type=float, help="seconds for everything (default 500)")
    arguments.add_argument(
        "--explain", action="store_true", help="parts of the cost, in two minutes"
    )
    arguments.add_argument("--no-finalize", action="store_true", help="leave the writing out")
    arguments.add_argument("--rows", nargs="+", choices=ROWS)
    arguments.add_argument("--tools", nargs="+", help="only these, besides none")
    chosen = arguments.parse_args()
    started = time.monotonic()
    budget_s = chosen.budget or (110 if chosen.explain else 80 if chosen.quick else 500)
    end = started + budget_s
    tools = set(chosen.tools) if chosen.tools else None
    library = prepare()

    def left_s(kept: float) -> float:
        return max(end - time.monotonic() - kept, 20)

    if chosen.explain:
        rows = chosen.rows or EXPLAINED_ROWS
        explain(collect(rows, itertools.cycle(EXPLAIN), tools, left_s(0), library), rows)
        return
    writers = {"proton": 3, "proton python": 3, "proton trace": 3}
    if not chosen.quick:
        writers |= {"triton": 1, "triton python": 1, "triton trace": 1}
    kept = 0 if chosen.no_finalize else 10 * len(writers)
    rows = chosen.rows or list(ROWS)
    samples = collect(rows, itertools.cycle(ROUND), tools, left_s(kept), library)
    results = results_of(samples)
    if not chosen.no_finalize:
        results += finalize_results(library, writers, end + 30)
    report(results, chosen.json)
    if not results:
        sys.exit("nothing was measured")


if __name__ == "__main__":
    main()
