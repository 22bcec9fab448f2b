"""How right regions are: known durations inside kernels against what Proton measures of them.

Usage: python benchmarks/in_kernel_accuracy.py [--quick] [--processes N] [--json PATH]
`tests/gpu/accuracy_suite.py` says how the truth is found. Every process runs the whole suite once;
reported is, for each region, how far the measured median is off, in cycles of a passage. A region
may be off by 2 % or by 15 cycles, whichever is more. A row without a bar is what records change in
the kernel, not what is measured wrong.
"""

from __future__ import annotations

import statistics
import sys
from importlib import import_module
from typing import Any

from in_kernel_process import SUITE, measure_accuracy
from overhead_process import forked
from stats import Result, estimate, gpus, machine, parser, report

sys.path.append(str(SUITE))
from accuracy_suite import ALL, LAUNCHES, PARTS, Accuracy

PROCESSES, PROCESS_LIMIT_S = 6, 90
QUICK_LAUNCHES = 8


def results_of(runs: list[dict[str, Accuracy]]) -> list[Result]:
    """A row for each region; the error of each process against what that process found true."""
    results = []
    for name in ALL:
        found = [run[name] for run in runs if name in run]
        if not found:
            continue
        truth = statistics.median(each.truth for each in found)
        measured = statistics.median(each.measured for each in found)
        allowed = round(statistics.median(each.allowed for each in found), 1)
        share = f", {(measured - truth) / truth:+.2%}" if truth > 100 else ""
        results.append(
            Result(
                name,
                "cycles off",
                estimate([each.error for each in found]),
                bar=allowed if name in PARTS else None,
                note=f"truth {truth:.1f}, measured {measured:.1f} cycles{share}",
            )
        )
    return results


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="one process, few launches")
    arguments.add_argument("--processes", type=int, default=PROCESSES)
    chosen = arguments.parse_args()
    if not gpus():
        sys.exit("no GPU: durations inside kernels can only be measured on one")
    for module in ("torch", "triton", "proton"):
        import_module(module)  # shared by the forked processes; none of it touches the GPU
    print(machine(), flush=True)
    runs: list[dict[str, Accuracy]] = []
    for number in range(1 if chosen.quick else chosen.processes):
        launches = QUICK_LAUNCHES if chosen.quick else LAUNCHES
        found: dict[str, Any] = forked(measure_accuracy, (launches,), PROCESS_LIMIT_S)
        if "error" in found:
            print(f"{number}: {found['error']}", flush=True)
            continue
        runs.append(
            {name: Accuracy(name, each["truth"], each["measured"]) for name, each in found.items()}
        )
    results = results_of(runs)
    report(results, chosen.json)
    if not results:
        sys.exit("nothing was measured")


if __name__ == "__main__":
    main()
