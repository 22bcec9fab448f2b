"""What sampling instructions costs on a GPU: none, timing, timing and sampling, the known tool.

Usage: python benchmarks/sampling.py [--quick] [--budget SECONDS] [--json PATH]
No profiler, Proton timing kernels, Proton sampling too and Proton with a closed window take turns
in one process, session by session, the order turned round each time; triton.profiler's sampling
takes turns with no profiler in processes of its own, with few launches and a time limit. What is
reported is the median of all ratios with its 95 % interval, that of a bootstrap over processes.
Rounds of fresh processes go on until the budget is spent. Last comes the profile of 30 seconds of
GPT-2 training (6 with --quick): its size, and the share of samples that were lost.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from overhead import Samples
from overhead_process import forked
from sampling_process import measure, measure_training
from stats import Estimate, Result, estimate_groups, machine, parser, report

sys.path.insert(0, str(Path(__file__).resolve().parent))

ROWS = {
    "tiny": "20 000 tiny Triton launches",
    "matmul": "Triton matmul 4096^3",
    "softmax": "Triton softmax 8192x4096",
    "cublas": "cuBLAS matmul 4096^3",
    "graph": "graph of 1000 kernels",
}
BARS = {"tiny": 1.05, "matmul": 1.03, "softmax": 1.03, "cublas": 1.03}  # to no profiler
GRAPH_BAR = 1.03  # to timing alone
CLOSED_BAR = 1.01  # likewise
SIZE_BAR_KB = 500.0
TOGETHER = ("none", "timing", "sampling", "closed")
KNOWN = ("none", "triton")
ROUND: tuple[tuple[tuple[str, ...], int], ...] = ((TOGETHER, 3), (TOGETHER, 3), (KNOWN, 1))
PROCESS_LIMIT_S = 90
KNOWN_LIMIT_S = 60
TRAINING_S, QUICK_TRAINING_S = 30.0, 6.0
IMPORTS = (
    "transformers.models.gpt2.modeling_gpt2",
    "triton.profiler",
    "overhead_kernels",
    "sampling_kernels",
    "proton",
)

Sampled = dict[str, dict[str, int]]  # row -> samples, dropped, overflows


def rounds() -> Iterator[tuple[tuple[str, ...], int]]:
    """Rounds without end."""
    while True:
        yield from ROUND


def collect(rows: list[str], tools: set[str] | None, budget_s: float) -> tuple[Samples, Sampled]:
    """Run processes as far as the budget goes."""
    samples, sampled = Samples(), Sampled()
    end = time.monotonic() + budget_s
    longest: dict[tuple[str, ...], float] = {}
    given_up: set[tuple[str, ...]] = set()
    for number, (planned, cycles) in enumerate(rounds(), 1):
        names = [name for name in planned if tools is None or name in tools or name == "none"]
        start = time.monotonic()
        if start + longest.get(planned, 10.0) > end:
            break
        if names == ["none"] or planned in given_up:
            continue
        limit_s = min(KNOWN_LIMIT_S if planned is KNOWN else PROCESS_LIMIT_S, end - start + 10)
        found = forked(measure, (names, rows, cycles), limit_s)
        longest[planned] = time.monotonic() - start
        left = f"{longest[planned]:.1f} s; {end - time.monotonic():.0f} s left"
        if "error" in found:
            print(f"{number}: {', '.join(names)}: {found['error']}; {left}", flush=True)
            if planned is KNOWN:
                given_up.add(planned)  # it will not do better
            continue
        for name, reason in found["failed"].items():
            print(f"{number}: {name} failed: {reason}", flush=True)
        samples.processes.append(found["samples"])
        for row, counts in found["sampled"].items():
            sums = sampled.setdefault(row, {})
            for key, count in counts.items():
                sums[key] = sums.get(key, 0) + count
        print(f"{number}: {', '.join(names)}: {left}", flush=True)
    return samples, sampled


def results_of(samples: Samples, sampled: Sampled) -> list[Result]:
    """The table's rows."""
    results = []
    for row, text in ROWS.items():
        if ours := samples.ratios(row, "sampling", "none"):
            known = samples.ratios(row, "triton", "none")
            theirs = estimate_groups(known) if known else None
            beside = {
                "none": samples.bare(row),
                "timing alone": samples.ratios(row, "timing", "none"),
            }
            note = "; ".join(f"{k} {estimate_groups(v)}" for k, v in beside.items() if v)
            note = f"timing and sampling; {note}; {lost(sampled.get(row, {}))}"
            found = estimate_groups(ours)
            results.append(Result(text, "x none", found, BARS.get(row), theirs, note))
        bars = {"sampling": GRAPH_BAR if row == "graph" else None, "closed": CLOSED_BAR}
        for name, what in (("sampling", "sampling"), ("closed", "armed, window closed")):
            if (against := samples.ratios(row, name, "timing")) and bars[name] is not None:
                figure = f"{text}, {what}"
                found = estimate_groups(against)
                results.append(Result(figure, "x timing alone", found, bars[name]))
    return results


def lost(counts: dict[str, int]) -> str:
    """How many samples there were, and what share of them was dropped."""
    samples, dropped = counts.get("samples", 0), counts.get("dropped", 0)
    share = dropped / max(samples + dropped, 1)
    return (
        f"{samples} samples, {counts.get('non_user', 0)} outside the program's kernels, "
        f"{share:.2%} dropped, {counts.get('overflows', 0)} overflows"
    )


def training_results(seconds: float, limit_s: float) -> list[Result]:
    """Size of a training's profile, and the share of its samples that were lost."""
    found: dict[str, Any] = forked(measure_training, (seconds, "pcsampling"), limit_s)
    if "error" in found:
        print(f"training: {found['error']}", flush=True)
        return []
    what = f"{seconds:.0f} s of GPT-2 training"
    note = f"{found['steps']} steps; finalize {found['finalize_ms']:.0f} ms; {lost(found)}"
    total = max(found["samples"] + found["dropped"], 1)

    def exactly(value: float) -> Estimate:
        return Estimate(value, value, value, 1)

    size = exactly(found["bytes"] / 1024)
    share = exactly(100 * found["dropped"] / total)
    return [
        Result(f"profile of {what}", "KB", size, SIZE_BAR_KB, note=note),
        Result(f"samples dropped in {what}", "%", share),
    ]


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="a minute and a half, few samples")
    arguments.add_argument("--budget", type=float, help="seconds for everything (default 330)")
    arguments.add_argument("--rows", nargs="+", choices=ROWS)
    arguments.add_argument("--tools", nargs="+", help="only these, besides none")
    arguments.add_argument("--no-training", action="store_true", help="leave the training out")
    chosen = arguments.parse_args()
    budget_s = chosen.budget or (90 if chosen.quick else 330)
    end = time.monotonic() + budget_s
    for module in IMPORTS:
        import_module(module)  # shared by the forked processes; none of it touches the GPU
    print(machine(), flush=True)
    seconds = QUICK_TRAINING_S if chosen.quick else TRAINING_S
    kept_s = 0 if chosen.no_training else seconds + 15
    left_s = max(end - time.monotonic() - kept_s, 20)
    tools = set(chosen.tools) if chosen.tools else None
    results = results_of(*collect(chosen.rows or list(ROWS), tools, left_s))
    if not chosen.no_training:
        results += training_results(seconds, seconds + 60)
    report(results, chosen.json)
    if not results:
        sys.exit("nothing was measured")


if __name__ == "__main__":
    main()
