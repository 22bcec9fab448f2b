"""Whether memory stays flat while scopes pass through a tree session.

Usage: python benchmarks/memory_flat.py [--rounds N] [--json PATH] [--scopes N] [--contexts N]
The figure is the growth of resident memory from the end of the warm-up (each context visited
three times, with a metric) to the end of the run, in KiB.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from proton import _native
from stats import Result, estimate, parser, report

BAR_KIB = 1024.0


def resident_kib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def visit(names: list[str], times: int) -> None:
    """Enter and leave one scope of each name, `times` times over."""
    scope = _native.Scope
    for _ in range(times):
        for name in names:
            with scope(name, {"loss": 1.5}):
                pass


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--scopes", type=int, default=10_000_000)
    options.add_argument("--contexts", type=int, default=1000)
    arguments = options.parse_args()
    names = [f"context {number}" for number in range(arguments.contexts)]
    session = _native.Session(0, context="shadow", data="tree")
    session.activate()
    visit(names, 3)
    before_kib, start = resident_kib(), time.perf_counter()
    visit(names, arguments.scopes // arguments.contexts)
    seconds = time.perf_counter() - start
    grown_kib = resident_kib() - before_kib
    session.close()
    note = f"{arguments.scopes} scopes, {arguments.contexts} contexts, {seconds:.1f} s"
    figure = "growth of resident memory"
    report([Result(figure, "KiB", estimate([grown_kib]), BAR_KIB, note=note)], arguments.json)


if __name__ == "__main__":
    main()
