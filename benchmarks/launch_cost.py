"""What Proton adds to a kernel launch on the host, on the fake driver (tests/native/fake_cuda).

Usage: python benchmarks/launch_cost.py [--rounds N] [--json PATH]
The floor is the same driver with a profiler that does nothing: callbacks and records, but nobody
who reads them. Time is processor time of the launching thread, or of all threads where the decoding
of records counts too. Instructions are counted by callgrind, where valgrind is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stats import Estimate, Result, difference, estimate, interleave, parser, report

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from proton import _native  # noqa: E402
from tests.native.fake_cuda.driver import FakeDriver, build_driver  # noqa: E402

COUNT = 200_000
COUNTED = 20_000  # under callgrind
BURSTS = 3
BAR_NS = 150

Clock = Callable[[], int]


def launches(driver: FakeDriver, count: int, clock: Clock) -> float:
    """Nanoseconds per launch of `count` launches by one thread.

    Time of the process covers the worker too, so it is waited for.
    """
    function = driver.function("k", 1)
    start = clock()
    driver.calls.fake_launch_many(function, count, None)
    if clock is time.process_time_ns:
        driver.calls.fake_work()  # the worker has read what was full
    time_ns = clock() - start
    driver.calls.fake_work()
    return time_ns / count


def without(driver: FakeDriver, run: Callable[[], float]) -> float:
    """`run` with the profiler that does nothing."""
    assert driver.calls.fake_null_profiler(1) == 0
    try:
        return run()
    finally:
        driver.calls.fake_null_profiler(0)


def with_session(context: str, data: str, run: Callable[[], float]) -> float:
    """`run` in a session of the native core."""
    session = _native.Session(0, context=context, data=data)
    session.activate()
    _native.Cupti.start(session)
    try:
        with _native.Scope("outer"), _native.Scope("inner"):
            return run()
    finally:
        _native.Cupti.flush(30.0)
        _native.Cupti.stop(session)
        session.close()


SESSIONS = {"tree": ("shadow", "tree"), "python": ("python", "tree"), "trace": ("shadow", "trace")}


def counted(kind: str) -> None:
    """What callgrind counts: launches, in a process of its own."""
    driver = open_driver()
    run = lambda: launches(driver, COUNTED, time.perf_counter_ns)  # noqa: E731
    if kind == "floor":
        without(driver, run)
    else:
        with_session(*SESSIONS[kind], run)


def open_driver() -> FakeDriver:
    """The fake driver, also opened by the core."""
    driver = FakeDriver(build_driver())
    _native.Cupti.load(driver.library, driver.library)
    return driver


def instructions(kind: str) -> float | None:
    """Instructions of the launching thread per launch; None without valgrind."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "callgrind.out")
        command = [
            valgrind,
            "--tool=callgrind",
            f"--callgrind-out-file={output}",
            "--toggle-collect=fake::submit*",
            sys.executable,
            __file__,
            "--counted",
            kind,
        ]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            print(f"callgrind cannot run it: {run.stderr[-300:]}")
            return None
        text = Path(output).read_text()
    found = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
    return int(found[1]) / COUNTED if found else None


def exact(value: float) -> Estimate:
    """A count has no spread."""
    return Estimate(value, value, value, 1)


def measure(rounds: int) -> list[Result]:
    """Every figure."""
    driver = open_driver()
    own: Clock = time.thread_time_ns
    everything: Clock = time.process_time_ns

    def best(run: Callable[[], float]) -> float:
        return min(run() for _ in range(BURSTS))

    runs: dict[str, Callable[[], float]] = {}
    for name, clock in (("own", own), ("cpu", everything)):
        burst = lambda clock=clock: launches(driver, COUNT, clock)  # noqa: E731
        runs[f"floor {name}"] = lambda burst=burst: without(driver, lambda: best(burst))
        for kind, (context, data) in SESSIONS.items():
            runs[f"{kind} {name}"] = lambda burst=burst, context=context, data=data: with_session(
                context, data, lambda: best(burst)
            )
    samples = interleave(runs, rounds=rounds)
    results = []
    for kind in SESSIONS:
        for name, words in (("own", "launching thread"), ("cpu", "all threads")):
            figure = f"added to a launch on the fake driver, {kind}, {words}"
            added = difference(samples[f"{kind} {name}"], samples[f"floor {name}"])
            bar = BAR_NS if kind == "tree" else None
            results.append(Result(figure, "ns", added, bar))
    results.append(Result("a launch on the fake driver", "ns", estimate(samples["floor own"])))
    floor = instructions("floor")
    ours = instructions("tree") if floor is not None else None
    if floor is not None and ours is not None:
        figure = "added to a launch on the fake driver, tree, launching thread"
        results.append(Result(figure, "instructions", exact(ours - floor)))
    return results


def main() -> None:
    """Measure, or run what callgrind counts."""
    arguments_parser = parser(__doc__)
    arguments_parser.add_argument("--counted", choices=("floor", *SESSIONS), help=argparse.SUPPRESS)
    arguments = arguments_parser.parse_args()
    if arguments.counted:
        counted(arguments.counted)
        return
    report(measure(arguments.rounds), arguments.json)


if __name__ == "__main__":
    main()
