"""Runs every benchmark and writes the table of docs/performance.md between its markers.

Usage: python benchmarks/run_all.py [--only NAME ...] [--dry-run]
A benchmark that fails leaves its rows as they were, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
BENCHMARKS = (
    "import_time",
    "scope_cost",
    "memory_flat",
    "write_cost",
    "trace_cost",
    "viewer_load",
    "interpreter_cost",
)
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
    met = "-" if bar is None else ("yes" if result["estimate"]["low"] <= bar else "**no**")
    shown = "-" if bar is None else f"<= {bar:g} {unit}"
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
        raise ValueError(f"{PAGE.name}: {begin!r} has no {end!r}")
    return f"{before}{begin}\n{text}{end}{after}"


def run(name: str) -> dict[str, Any] | None:
    """One benchmark's results, or None if it failed."""
    print(f"== {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        command = [sys.executable, str(HERE / f"{name}.py"), "--json", str(results)]
        if subprocess.run(command, cwd=folder).returncode != 0 or not results.exists():
            return None
        document: dict[str, Any] = json.loads(results.read_text())
        return document


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS)
    parser.add_argument("--dry-run", action="store_true", help="print the table, write nothing")
    arguments = parser.parse_args(argv)
    page, failed = PAGE.read_text(), []
    for name in arguments.only:
        document = run(name)
        if document is None:
            failed.append(name)
        else:
            page = put(page, name, section(document))
    if arguments.dry_run:
        print(page)
    else:
        PAGE.write_text(page)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
