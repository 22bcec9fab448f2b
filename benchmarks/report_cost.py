"""How long `proton report` takes for a trace of a million spans, and how much memory.

The trace has 1 000 016 spans in 991 numbered steps, each of which is a context with a hundred below
it. A sample is a whole process, from its start to its end; the most memory it had at once is what
the system counts for it. With `--other TREE`, the folder of another version's working tree with its
extension built, the two run by turns on the same files, which that version wrote; the ratio is that
of neighbours, so that a busy machine is busy for both.

    python benchmarks/report_cost.py [--other TREE] [--spans N] [--steps N] [--rounds N]
        [--json PATH]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from stats import Result, estimate, interleave, parser, ratio, report

HERE = Path(__file__).resolve().parent
OURS = HERE.parent
FORMATS = {"pftrace": 600.0, "chrome_trace": 600.0}  # the most memory of a process, in MB
MAKE = """
import sys
import proton.model.profile as model
if not hasattr(model, "TraceProfile"):  # versions with one type for all profiles
    model.TraceProfile = model.TreeProfile = model.Profile
sys.path.insert(0, sys.argv[1])
from web_work import stepped_trace
from proton.files.write import write_profile
profile = stepped_trace(int(sys.argv[2]), int(sys.argv[3]))
for path in sys.argv[4:]:
    write_profile(profile, path)
"""


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree / "src")}


def write_traces(tree: Path, folder: Path, spans: int, steps: int) -> dict[str, Path]:
    """The same trace in every format, as that version writes it."""
    paths = {name: folder / f"steps.{name}" for name in FORMATS}
    command = [sys.executable, "-c", MAKE, str(HERE), str(spans), str(steps)]
    subprocess.run([*command, *map(str, paths.values())], env=environment(tree), check=True)
    return paths


class Spent(NamedTuple):
    """What a process took."""

    wall_s: float
    processor_s: float  # of the program and of the system for it
    memory_mb: float  # the most at once


def reporting(tree: Path, path: Path, spent: list[Spent]) -> Callable[[], float]:
    """Seconds of `proton report` of that version; what it took goes to `spent`."""

    def run() -> float:
        with tempfile.TemporaryDirectory() as place:
            page = str(Path(place, "page.html"))
            command = [sys.executable, "-m", "proton", "report", str(path), "-o", page]
            start = time.perf_counter()
            process = subprocess.Popen(command, env=environment(tree), stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            wall_s = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0 or not os.path.getsize(page):
                raise SystemExit(f"report_cost: {tree}: proton report failed on {path.name}")
        processor_s = usage.ru_utime + usage.ru_stime
        spent.append(Spent(wall_s, processor_s, usage.ru_maxrss * 1024 / 1e6))
        return wall_s

    return run


def measure(path: Path, other: Path | None, rounds: int, limit_mb: float) -> list[Result]:
    ours: list[Spent] = []
    theirs: list[Spent] = []
    runs = {"ours": reporting(OURS, path, ours)}
    if other is not None:
        runs["other"] = reporting(other, path, theirs)
    interleave(runs, rounds=rounds, warm_up=0)
    what = f"report of {path.suffix} ({path.stat().st_size / 1e6:.0f} MB)"
    found = []
    for name, at, bar in (("wall", 0, 0.25), ("processor time", 1, None)):
        our_s, other_s = ([each[at] for each in spent] for spent in (ours, theirs))
        found.append(Result(f"{what}: {name}", "s", estimate(our_s)))
        if other is not None:
            found.append(Result(f"{what}: {name} of the other version", "s", estimate(other_s)))
            figure = f"{what}: {name}, to the other version's"
            found.append(Result(figure, "x", ratio(our_s, other_s), bar=bar))
    memory_mb = estimate([each.memory_mb for each in ours])
    found.append(Result(f"{what}: most memory", "MB", memory_mb, bar=limit_mb))
    if other is not None:
        memory_mb = estimate([each.memory_mb for each in theirs])
        found.append(Result(f"{what}: most memory of the other version", "MB", memory_mb))
    return found


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--other", type=Path, metavar="TREE", help="tree to compare with")
    arguments.add_argument("--spans", type=int, default=1_000_016, help="spans of the trace")
    arguments.add_argument("--steps", type=int, default=991, help="numbered steps they are in")
    arguments.set_defaults(rounds=3)
    options = arguments.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as place:
        paths = write_traces(options.other or OURS, Path(place), options.spans, options.steps)
        for name, limit_mb in FORMATS.items():
            results += measure(paths[name], options.other, options.rounds, limit_mb)
    report(results, options.json)


if __name__ == "__main__":
    main()
