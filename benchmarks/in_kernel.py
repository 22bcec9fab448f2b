"""What recording inside kernels costs on a GPU: none, one scope, CTAs, heat maps, the known tool.

Usage: python benchmarks/in_kernel.py [--quick] [--budget SECONDS] [--compile-only] [--json PATH]
       python benchmarks/in_kernel.py --check
Ten kernels with one user scope each take turns without and with Proton recording, session by
session in one process, the order turned round each time; triton.profiler's instrumentation takes
turns with none in processes of its own, with few launches and a time limit. A slowdown is a ratio
of GPU times that follow one another; reported is the median with its 95 % interval, that of a
bootstrap over processes. Rounds of fresh processes go on until the budget is spent. `--check` only
compares what the kernels compute with torch. Without a GPU that happens in the interpreter, and
what records add to compiling is the one figure measured.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from in_kernel_process import measure, measure_accuracy, measure_compiling
from in_kernel_work import CASES, RECORDS, TEN, check_all
from overhead import Samples
from overhead_process import forked
from stats import Estimate, Result, estimate, estimate_groups, gpus, machine, parser, report

TEN_BAR, WORST_BAR, CTA_BAR = 1.03, 1.10, 1.01
RECORDS_BAR, MEMORY_BAR = 1.05, 2.5
RECORD_CYCLES_BAR, WALL_BAR_US, COMPILE_BAR_MS = 20.0, 100.0, 100.0
OURS = ("none", "scope", "records", "cta", "memory")
KNOWN = ("none", "triton")
ROUND: tuple[tuple[tuple[str, ...], int], ...] = ((OURS, 3), (KNOWN, 1), *(4 * ((OURS, 3),)))
ROWS = (*TEN, "recorded_matmul", "back_to_back", "wall")
PROCESS_LIMIT_S, KNOWN_ROW_LIMIT_S = 100, 30
ACCURACY_LIMIT_S, COMPILE_LIMIT_S = 90, 240
ACCURACY_LAUNCHES, QUICK_ACCURACY_LAUNCHES = 24, 8
COMPILE_ROUNDS = 11
IMPORTS = ("triton.profiler.language", "proton", "proton.inkernel.compiler.compile_hook")

Groups = list[list[float]]


def rounds() -> Iterator[tuple[tuple[str, ...], int]]:
    """Rounds without end."""
    while True:
        yield from ROUND


def measure_rows(names: list[str], rows: Sequence[str], cycles: int, end: float) -> dict[str, Any]:
    """As `measure`, a process for each row: what one kernel does to the tool costs no other."""
    found: dict[str, Any] = {"samples": {}, "failed": {}, "lost": {}}
    for row in rows:
        limit_s = min(KNOWN_ROW_LIMIT_S, end - time.monotonic())
        if limit_s < 5:
            found["failed"][row] = "no time left"
            continue
        of_row = forked(measure, (names, [row], cycles), limit_s)
        if "error" in of_row:
            found["failed"][f"{row} with {names[-1]}"] = of_row["error"]
            continue
        found["samples"] |= of_row["samples"]
        found["failed"] |= of_row["failed"]
    return found


def collect(rows: Sequence[str], tools: set[str] | None, budget_s: float) -> tuple[Samples, Any]:
    """Run processes as far as the budget goes; what they measured, and what was lost."""
    samples, lost = Samples(), {}
    end = time.monotonic() + budget_s
    longest: dict[tuple[str, ...], float] = {}
    given_up: set[tuple[str, ...]] = set()
    for number, (planned, cycles) in enumerate(rounds(), 1):
        names = [name for name in planned if tools is None or name in tools or name == "none"]
        start = time.monotonic()
        if start + longest.get(planned, 15.0) > end or given_up == {OURS, KNOWN}:
            break
        if planned in given_up:
            continue
        if names == ["none"]:
            given_up.add(planned)
            continue
        if planned is KNOWN:
            found = measure_rows(names, rows, cycles, end)
        else:
            limit_s = min(PROCESS_LIMIT_S, end - start + 10)
            found = forked(measure, (names, list(rows), cycles), limit_s)
        longest[planned] = time.monotonic() - start
        left = f"{longest[planned]:.1f} s; {end - time.monotonic():.0f} s left"
        if "error" in found:
            print(f"{number}: {', '.join(names)}: {found['error']}; {left}", flush=True)
            given_up.add(planned)  # it will not do better
            continue
        for what, reason in found["failed"].items():
            print(f"{number}: {what} failed: {reason}", flush=True)
        samples.processes.append(found["samples"])
        for kind, count in found["lost"].items():
            lost[kind] = lost.get(kind, 0) + count
        print(f"{number}: {', '.join(names)}: {left}", flush=True)
    return samples, lost


def geomeans(samples: Samples, name: str) -> Groups:
    """For each process, cycle by cycle, the geometric mean of the ten kernels' slowdowns."""
    groups = []
    for process in samples.processes:
        cycles = [process.get(row, []) for row in TEN]
        if not all(cycles):
            continue
        group = []
        for of_rows in zip(*cycles, strict=False):
            if all(name in cycle and "none" in cycle for cycle in of_rows):
                logs = [math.log(cycle[name] / cycle["none"]) for cycle in of_rows]
                group.append(math.exp(sum(logs) / len(logs)))
        groups.append(group)
    return [group for group in groups if group]


def worst(samples: Samples, name: str) -> tuple[str, Estimate] | None:
    """The kernel of the ten that is slowed down most."""
    found = {
        row: estimate_groups(ratios) for row in TEN if (ratios := samples.ratios(row, name, "none"))
    }
    if not found:
        return None
    row = max(found, key=lambda each: found[each].median)
    return row, found[row]


def ten_results(samples: Samples, name: str, text: str, bars: tuple[float, float]) -> list[Result]:
    """Geometric mean and worst of the ten kernels under a tool, beside the known tool's."""
    results = []
    known = "triton" if name == "scope" else ""
    if ours := geomeans(samples, name):
        theirs = geomeans(samples, known)
        noise = [estimate_groups(bare) for row in TEN if (bare := samples.bare(row))]
        note = ""
        if noise:
            low, high = min(each.low for each in noise), max(each.high for each in noise)
            note = f"none against none {low:.3f} to {high:.3f}"
        found = estimate_groups(ours)
        beside = estimate_groups(theirs) if theirs else None
        results.append(Result(f"{text}: geomean", "x none", found, bars[0], beside, note))
    if (most := worst(samples, name)) is not None:
        row, found = most
        theirs_most = worst(samples, known) if known else None
        note = f"{row}; known tool: {theirs_most[0]}" if theirs_most else row
        beside = theirs_most[1] if theirs_most else None
        results.append(Result(f"{text}: worst", "x none", found, bars[1], beside, note))
    return results


def row_result(
    samples: Samples, row: str, name: str, text: str, bar: float, note: str = ""
) -> list[Result]:
    """The slowdown of one row under a tool, beside the known tool's where it ran."""
    if not (ours := samples.ratios(row, name, "none")):
        return []
    known = samples.ratios(row, "triton", "none") if name != "memory" else []
    beside = estimate_groups(known) if known else None
    return [Result(text, "x none", estimate_groups(ours), bar, beside, note)]


def added_result(
    samples: Samples, row: str, text: str, unit: str, bar: float, *, is_against_none: bool
) -> list[Result]:
    """What a record or a launch costs more than without, in the row's own unit."""

    def groups(name: str) -> Groups:
        found = []
        for process in samples.processes:
            cycles = [c for c in process.get(row, []) if name in c and "none" in c]
            found.append([c[name] - (c["none"] if is_against_none else 0.0) for c in cycles])
        return [group for group in found if group]

    if not (ours := groups("scope")):
        return []
    known = groups("triton")
    beside = estimate_groups(known) if known else None
    return [Result(text, unit, estimate_groups(ours), bar, beside)]


def results_of(samples: Samples, lost: dict[str, int]) -> list[Result]:
    """The table's rows that come out of the rounds."""
    results = ten_results(samples, "scope", "ten kernels, one scope each", (TEN_BAR, WORST_BAR))
    results += [
        Result(f"{row}, one scope", "x none", estimate_groups(ratios))
        for row in TEN
        if (ratios := samples.ratios(row, "scope", "none"))
    ]
    pipelined = f"pipelined matmul, {RECORDS} records in each warp"
    results += row_result(samples, "recorded_matmul", "records", pipelined, RECORDS_BAR)
    results += added_result(
        samples, "back_to_back", "a record, back to back", "cycles", RECORD_CYCLES_BAR,
        is_against_none=False,
    )  # fmt: skip
    results += added_result(
        samples, "wall", "wall time added to a launch, profile written", "us", WALL_BAR_US,
        is_against_none=True,
    )  # fmt: skip
    results += ten_results(samples, "cta", "ten kernels, mode cta", (CTA_BAR, CTA_BAR))
    results += row_result(samples, "attention", "memory", "attention, heat map", MEMORY_BAR)
    for kind, count in sorted(lost.items()):
        print(f"lost, {kind}: {count}", flush=True)
    return results


def accuracy_results(launches: int, limit_s: float) -> list[Result]:
    """The worst region of the known-duration suite, as a share of the error it may have."""
    found = forked(measure_accuracy, (launches,), limit_s)
    if "error" in found:
        print(f"known durations: {found['error']}", flush=True)
        return []
    shares = {}
    for name, each in found.items():
        if not each["has_bar"]:  # what records change, not what is measured wrong
            continue
        error = abs(each["measured"] - each["truth"])
        shares[name] = error / max(0.02 * abs(each["truth"]), 15.0)
    name = max(shares, key=lambda each: shares[each])
    share, each = shares[name], found[name]
    note = (
        f"allowed: 2 % or 15 cycles; {len(shares)} regions; worst: {name}, truth "
        f"{each['truth']:.0f}, measured {each['measured']:.0f} cycles"
    )
    text = "region error after correction, known durations"
    return [Result(text, "x allowed", Estimate(share, share, share, 1), 1.0, note=note)]


def compile_results(names: Sequence[str], rounds_: int) -> list[Result]:
    """What a scope adds to compiling: the median kernel and the worst. Needs no GPU."""
    found = forked(measure_compiling, (list(names), rounds_), COMPILE_LIMIT_S)
    if "error" in found:
        print(f"compiling: {found['error']}", flush=True)
        return []
    added = {name: estimate(taken) for name, taken in found["added_ms"].items()}
    ordered = sorted(added, key=lambda name: added[name].median)
    middle, most = ordered[len(ordered) // 2], ordered[-1]
    note = f"{most}; fastest against fastest {max(found['least_ms'].values()):.0f} ms at most"
    return [
        Result("added compile time of a kernel: median", "ms", added[middle], note=middle),
        Result(
            "added compile time of a kernel: worst", "ms", added[most], COMPILE_BAR_MS, note=note
        ),
    ]


def check(names: Sequence[str]) -> int:
    """Compare the kernels' results with torch's; the exit status."""
    import proton

    names = [name for name in names if name in CASES and name != "back_to_back"]
    is_small = not gpus()
    if is_small:
        print("no GPU: small sizes, in the interpreter", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            session = proton.start(os.path.join(folder, "check"), backend="interpreter")
            wrong = check_all(names, is_small=True)
            proton.finalize(session)
    else:
        wrong = check_all(names, is_small=False)
    print("\n".join(wrong) if wrong else f"right: {', '.join(names)}")
    return 1 if wrong else 0


def make_parser() -> Any:
    """What may be asked for."""
    arguments = parser(__doc__)
    arguments.add_argument("--quick", action="store_true", help="two minutes, few samples")
    arguments.add_argument("--budget", type=float, help="seconds for everything (default 300)")
    arguments.add_argument("--rows", nargs="+", choices=ROWS)
    arguments.add_argument("--tools", nargs="+", choices={*OURS, *KNOWN}, help="besides none")
    arguments.add_argument("--compile-only", action="store_true", help="needs no GPU")
    arguments.add_argument("--no-compile", action="store_true", help="leave compiling out")
    arguments.add_argument("--no-accuracy", action="store_true", help="leave known durations out")
    arguments.add_argument("--check", action="store_true", help="are the kernels right? no figures")
    return arguments


def main() -> None:
    chosen = make_parser().parse_args()
    rows = chosen.rows or list(ROWS)
    if chosen.check:
        sys.exit(check(rows))
    end = time.monotonic() + (chosen.budget or (120 if chosen.quick else 300))
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="in_kernel_cache_"))
    for module in IMPORTS:
        import_module(module)  # shared by the forked processes; none of it touches the GPU
    print(machine(), flush=True)
    results: list[Result] = []
    if not (is_gpu := bool(gpus())):
        print("no GPU: only what records add to compiling is measured", flush=True)
    if is_gpu and not chosen.compile_only:
        import_module("torch")
        if not chosen.no_accuracy:
            launches = QUICK_ACCURACY_LAUNCHES if chosen.quick else ACCURACY_LAUNCHES
            results += accuracy_results(launches, ACCURACY_LIMIT_S)
        kept_s = 0 if chosen.no_compile else 15 if chosen.quick else 110
        tools = set(chosen.tools) if chosen.tools else None
        results = results_of(*collect(rows, tools, end - time.monotonic() - kept_s)) + results
    if not chosen.no_compile:
        named = [row for row in rows if row in TEN]
        results += compile_results(named or list(TEN), 1 if chosen.quick else COMPILE_ROUNDS)
    report(results, chosen.json)
    if not results:
        sys.exit("nothing was measured")


if __name__ == "__main__":
    main()
