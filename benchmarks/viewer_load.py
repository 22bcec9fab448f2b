"""How long `proton-viewer` takes to open and print a large profile, with and without a filter.

The profile has 50 000 scopes with one kernel each, in compact JSON. A sample is a whole process,
from its start to its end; the yardstick is a bare `json.load` of the same file, timed inside a
process of its own. With `--known`, Triton's own viewer shows a smaller file next to ours, as often
as the time given for it allows; with `--known-alone`, nothing else is measured.

    python benchmarks/viewer_load.py [--known] [--known-alone] [--scopes N] [--json PATH]
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stats import MIN_PAIRS, Result, estimate, interleave, parser, ratio, report

SOURCE = Path(__file__).resolve().parent.parent / "src"
BARE = """
import json, sys, time
start = time.perf_counter()
with open(sys.argv[1]) as file:
    json.load(file)
print(time.perf_counter() - start)
"""
DEVICE = {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "num_sms": 132}
FILTER = ".*step1.*"


def node(name: str, metrics: dict[str, Any], children: list[Any]) -> dict[str, Any]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}


def write_profile(path: Path, scopes: int) -> None:
    """`scopes` scopes of different names, each with one kernel."""
    numbers = random.Random(0)
    children = []
    for index in range(scopes):
        measured = {"time (ns)": numbers.randrange(1000, 10**6), "count": numbers.randrange(1, 9)}
        labels = {"device_id": "0", "device_type": "CUDA"}
        kernel = node(f"kernel_{index % 50}_fp16", {**measured, **labels}, [])
        children.append(node(f"layer{index // 100}_step{index}", {}, [kernel]))
    root = node("ROOT", {"count": 0, "time (ns)": 0}, children)
    devices = {"CUDA": {"0": DEVICE | {"memory_clock_rate": 3201000}}}
    path.write_text(json.dumps([root, devices], separators=(",", ":")))


def bare_load(path: Path) -> Callable[[], float]:
    """Seconds that json.load alone takes, in a fresh process."""

    def run() -> float:
        done = subprocess.run(
            [sys.executable, "-c", BARE, str(path)], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    return run


def viewing(
    module: str, path: Path, *arguments: str, limit_s: float | None = None
) -> Callable[[], float]:
    """Seconds from start to end of a viewer's process; what it prints goes to a file."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", module, "-m", "time/ms", *arguments, str(path)]

    def run() -> float:
        with tempfile.TemporaryFile() as out:
            start = time.perf_counter()
            subprocess.run(command, env=environment, stdout=out, check=True, timeout=limit_s)
            return time.perf_counter() - start

    return run


def measure(path: Path, scopes: int, rounds: int) -> list[Result]:
    samples = interleave(
        {
            "bare": bare_load(path),
            "all": viewing("proton.viewer", path),
            "filtered": viewing("proton.viewer", path, "-i", FILTER),
            "sorted": viewing("proton.viewer", path, "--print-sorted"),
        },
        rounds=rounds,
    )
    results = [Result("bare json.load of the file", "s", estimate(samples["bare"]))]
    for name, what in (("all", ""), ("filtered", ", -i"), ("sorted", ", --print-sorted")):
        figure = f"open and print {scopes} scopes{what}"
        times = ratio(samples[name], samples["bare"])
        results.append(Result(figure, "s", estimate(samples[name]), bar=1.5))
        results.append(Result(figure, "x json.load", times, bar=6))
    return results


def compare(path: Path, scopes: int, limit_s: float) -> list[Result]:
    """Both viewers on one smaller file, by turns; the known one may run out of time."""
    results = []
    end = time.monotonic() + limit_s
    for what, arguments in (("", ()), (", -i", ("-i", FILTER))):
        ours, known = [], []
        for _ in range(3):
            left_s = end - time.monotonic()
            if left_s < 2 * max(known, default=0.0) or left_s <= 0:
                break
            ours.append(viewing("proton.viewer", path, *arguments)())
            try:
                known.append(viewing("triton.profiler.viewer", path, *arguments, limit_s=left_s)())
            except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                print(f"the known viewer: {error}")
                break
        if not ours:
            continue
        figure, note = f"open and print {scopes} scopes{what}", "the known tool beside ours"
        theirs = estimate(known) if known else None
        results.append(Result(figure, "s", estimate(ours), known=theirs, note=note))
    return results


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--scopes", type=int, default=50_000, help="scopes of the large file")
    arguments.add_argument("--known", action="store_true", help="run Triton's viewer too")
    arguments.add_argument("--known-alone", action="store_true", help="run it and nothing else")
    arguments.add_argument("--known-scopes", type=int, default=1000, help="scopes of its file")
    arguments.add_argument("--known-limit", type=float, default=80, help="seconds for it")
    options = arguments.parse_args()
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder, "large.hatchet"), Path(folder, "small.hatchet")
        if not options.known_alone:
            write_profile(large, options.scopes)
            results += measure(large, options.scopes, max(options.rounds, MIN_PAIRS))
        if options.known or options.known_alone:
            write_profile(small, options.known_scopes)
            results += compare(small, options.known_scopes, options.known_limit)
    report(results, options.json)


if __name__ == "__main__":
    main()
