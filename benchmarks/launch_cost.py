"""What Proton adds to a kernel launch on the host, on the fake driver (tests/native/fake_cuda).

Usage: python benchmarks/launch_cost.py [--rounds N] [--json PATH]
The floor is the same driver with a profiler that does nothing: callbacks and records, but nobody
who reads them. Time is processor time of the launching thread, or of all threads: callback,
decoding and booking. Python context is measured below 30 frames that stay as they are. Instructions
of all threads are counted by callgrind in `launch_cost.cpp`, where valgrind is installed.
"""

from __future__ import annotations

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
COUNTED = 64_000  # under callgrind
FRAMES = 30
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


def below(frames: int, run: Callable[[], float]) -> float:
    """`run`, called from so many frames."""
    return run() if frames <= 1 else below(frames - 1, run)


def open_driver() -> FakeDriver:
    """The fake driver, also opened by the core."""
    driver = FakeDriver(build_driver())
    _native.Cupti.load(driver.library, driver.library)
    return driver


def build_program(folder: str) -> str:
    """`launch_cost.cpp` with the core that it needs; its path."""
    native = ROOT / "src" / "native"
    rooms = (
        "base",
        "model",
        "cubin",
        "session",
        "backends/common",
        "backends/cuda",
        "backends/cupti",
    )
    sources = [path for room in rooms for path in sorted((native / room).rglob("*.cpp"))]
    sources.append(ROOT / "benchmarks" / "launch_cost.cpp")
    program = os.path.join(folder, "launch_cost")
    flags = ["-std=c++20", "-O3", f"-I{native}", f"-I{ROOT / 'tests' / 'native'}"]
    macro = '-DFAKE_CUDA_PATH=""'  # the environment says it
    command = ["g++", *flags, macro, *map(str, sources), "-o", program, "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=600)
    return program


def count_instructions(program: str, tool: str, work: str, library: str) -> int:
    """Of one run of the program, in all its threads."""
    output = f"{program}.{tool}.{work}"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output}", program]
    environment = {**os.environ, "FAKE_CUDA_PATH": library}
    subprocess.run(
        [*command, tool, work, str(COUNTED)],
        check=True,
        env=environment,
        capture_output=True,
        timeout=600,
    )
    found = re.search(r"^(?:summary|totals): (\d+)", Path(output).read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def instruction_results(library: str) -> list[Result]:
    """Instructions that a launch adds, callback and record; none without valgrind or a compiler."""
    if shutil.which("valgrind") is None or shutil.which("g++") is None:
        return []
    works = {"same": "one kernel", "mixed": "64 kernels in 16 scopes", "graph": "nodes of graphs"}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = build_program(folder)
            for work, words in works.items():
                ours, floor = (
                    count_instructions(program, tool, work, library) for tool in ("proton", "none")
                )
                figure = f"added to a launch on the fake driver, {words}, all threads"
                added = exact((ours - floor) / COUNTED)
                results.append(Result(figure, "instructions", added))
                if work != "same":
                    continue
                for tool, more in (
                    ("sampled", "instructions may be sampled"),
                    ("stepped", "the program marks steps"),
                ):
                    counted = count_instructions(program, tool, work, library)
                    figure = f"added to that where {more}"
                    added = exact((counted - ours) / COUNTED)
                    results.append(Result(figure, "instructions", added))
        except subprocess.SubprocessError as error:
            print(f"instructions were not counted: {error}")
    return results


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
            frames = FRAMES if kind == "python" else 1
            runs[f"{kind} {name}"] = lambda burst=burst, c=context, d=data, frames=frames: (
                with_session(c, d, lambda: below(frames, lambda: best(burst)))
            )
    samples = interleave(runs, rounds=rounds)
    results = []
    for kind in SESSIONS:
        for name, words in (("own", "launching thread"), ("cpu", "all threads")):
            below_frames = f", {FRAMES} frames" if kind == "python" else ""
            figure = f"added to a launch on the fake driver, {kind}{below_frames}, {words}"
            added = difference(samples[f"{kind} {name}"], samples[f"floor {name}"])
            bar = BAR_NS if kind == "tree" else None
            results.append(Result(figure, "ns", added, bar))
    results.append(Result("a launch on the fake driver", "ns", estimate(samples["floor own"])))
    return results + instruction_results(driver.library)


def main() -> None:
    arguments = parser(__doc__).parse_args()
    report(measure(arguments.rounds), arguments.json)


if __name__ == "__main__":
    main()
