"""Runs the benchmarks and writes the tables of docs/performance.md and docs/accuracy.md between
their markers.

Usage: python benchmarks/run_all.py [--gpu] [--only NAME ...] [--keep FOLDER] [--dry-run]
       python benchmarks/run_all.py --results FOLDER
`--gpu` runs those that need a GPU, torch and Triton, in twenty-two minutes. `--keep` leaves the
results as JSON in a folder; `--results` makes the tables from such a folder, wherever pages are.
A benchmark that fails or takes too long leaves its rows as they were, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs"


@dataclass(frozen=True)
class Benchmark:
    """A script, what it is called with, how long it may take, and the page its table stands in."""

    script: str
    arguments: tuple[str, ...] = ()
    limit_s: float = 900
    page: str = "performance.md"


# by the name of their markers in the page
PLAIN = {
    name: Benchmark(name)
    for name in (
        "import_time",
        "scope_cost",
        "launch_cost",
        "op_cost",
        "memory_flat",
        "soak",
        "write_cost",
        "line_tables",
        "record_decode",
        "instrument_compile",
        "trace_cost",
        "trace_size",
        "viewer_load",
        "merge_cost",
        "report_cost",
        "web_page",
        "interpreter_cost",
    )
}
GPU = {
    "overhead": Benchmark("overhead", ("--budget", "330"), 400),
    "sampling": Benchmark("sampling", ("--budget", "240"), 330),
    "in_kernel": Benchmark("in_kernel", ("--budget", "300", "--no-accuracy", "--no-compile"), 420),
    "in_kernel_compile": Benchmark("in_kernel", ("--compile-only",), 150),
    "in_kernel_accuracy": Benchmark("in_kernel_accuracy", (), 300, "accuracy.md"),
    "scope_cost_gpu": Benchmark("scope_cost", (), 50),
    "soak_gpu": Benchmark("soak", ("--gpu", "20"), 120),
    "viewer_load_known": Benchmark("viewer_load", ("--known-alone",), 90),
}
BENCHMARKS = PLAIN | GPU
BEGIN, END = "<!-- figures: begin {name} -->", "<!-- figures: end {name} -->"
HEAD = "| figure | measured | bar | met | known tool |\n|---|---|---|---|---|\n"


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1)
    return f"{value:.{digits}f}"


def spread(estimate: Mapping[str, float] | None) -> str:
    """A median with its interval, or a dash."""
    if estimate is None:
        return "-"
    low, high = number(estimate["low"]), number(estimate["high"])
    middle = number(estimate["median"])
    return middle if low == high else f"{middle} ({low} to {high})"


def row(result: Mapping[str, Any]) -> str:
    """One line of the table."""
    unit, bar = result["unit"], result["bar"]
    shown, met = "-", "-"
    if bar is not None:
        shown = f"<= {bar:g} {unit}"
        reached = [result["estimate"][end] <= bar for end in ("median", "low")]
        met = "yes" if reached[0] else "undecided" if reached[1] else "**no**"
    known = spread(result["known"]) + ("" if result["known"] is None else f" {unit}")
    name = result["figure"] + (f" ({result['note']})" if result["note"] else "")
    return f"| {name} | {spread(result['estimate'])} {unit} | {shown} | {met} | {known} |\n"


def section(document: Mapping[str, Any]) -> str:
    """The text between a benchmark's markers: date, machine, command and table."""
    command = " ".join(part for part in document["command"] if not str(part).endswith(".json"))
    head = f"{document['date']}; {document['machine']}; `python benchmarks/{command}`\n\n"
    rows = "".join(row(result) for result in document["results"])
    return head.replace(" --json`", "`") + HEAD + rows


def put(page: str, name: str, text: str) -> str:
    """The page with what stands between `name`'s markers replaced; new markers go to the end."""
    begin, end = BEGIN.format(name=name), END.format(name=name)
    if begin not in page:
        page = page.rstrip("\n") + f"\n\n## {name}\n\n{begin}\n{end}\n"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{begin!r} has no {end!r}")
    return f"{before}{begin}\n{text}{end}{after}"


def run(name: str, folder: Path) -> bool:
    """Leave one benchmark's results in `folder`; False: it failed."""
    benchmark = BENCHMARKS[name]
    print(f"== {name}", flush=True)
    results = (folder / f"{name}.json").resolve()
    script = str(HERE / f"{benchmark.script}.py")
    command = [sys.executable, script, *benchmark.arguments, "--json", str(results)]
    with tempfile.TemporaryDirectory() as place:
        # A group of its own: what it started ends with it.
        started = subprocess.Popen(command, cwd=place, start_new_session=True)
        try:
            return started.wait(benchmark.limit_s) == 0 and results.exists()
        except subprocess.TimeoutExpired:
            print(f"{name}: not done after {benchmark.limit_s:.0f} s", file=sys.stderr)
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
            return False


def write_page(page: str, folder: Path, name: str = "performance.md") -> str:
    """The text of the page of this name, with the tables of all its results in `folder`."""
    for each, benchmark in BENCHMARKS.items():
        results = folder / f"{each}.json"
        if benchmark.page == name and results.exists():
            page = put(page, each, section(json.loads(results.read_text())))
    return page


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu", action="store_true", help="those that need a GPU")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS)
    parser.add_argument("--keep", type=Path, help="leave the results there as JSON")
    parser.add_argument("--results", type=Path, help="run nothing, take the results from there")
    parser.add_argument("--dry-run", action="store_true", help="print the pages, write nothing")
    arguments = parser.parse_args(argv)
    names = arguments.only or (GPU if arguments.gpu else PLAIN)
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.results or arguments.keep or Path(temporary)
        if arguments.results is None:
            folder.mkdir(parents=True, exist_ok=True)
            failed = [name for name in names if not run(name, folder)]
        for name in sorted({benchmark.page for benchmark in BENCHMARKS.values()}):
            page = write_page((PAGES / name).read_text(), folder, name)
            if arguments.dry_run:
                print(page)
            else:
                (PAGES / name).write_text(page)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
