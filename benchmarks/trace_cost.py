"""What a trace of a million kernels costs: memory while recording and writing, time and size.

Usage: python benchmarks/trace_cost.py [--rounds N] [--json PATH] [--kernels N]
Kernels with launches from 12 scopes of 26 kernels each, as in a model step, through
`Session.on_kernel`; durations and gaps are drawn at random (seeded). Time is that of
`Session.write`: taking the log, formatting, compressing, sync and rename. As many kernels are also
launched on the fake driver (tests/native/fake_cuda), recorded through CUPTI and finalized, in a
process of its own, whose memory counts; and once more as replays of a CUDA graph of such a step,
whose scopes stand on a graph lane.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memory_flat import resident_kib
from proton import _native
from proton.files.encoding.schema import SUFFIXES
from stats import Result, estimate, interleave, parser, report, time_ns

FORMATS = ("perfetto", "chrome_trace")
BAR_S, BAR_MB, BAR_SHARE, BAR_RECORD_MIB, BAR_PEAK_MIB = 2.0, 40.0, 0.1, 300.0, 1000.0


def record(session: _native.Session, kernel_count: int) -> None:
    """Give `session` that many kernels, and as many launches."""
    chance = random.Random(1)
    names = [f"kernel_{number}_sm90_128x128x64_bf16" for number in range(60)]
    layers = {f"layer{number}": chance.choices(names, k=26) for number in range(12)}
    now, done = 0, 0
    while done < kernel_count:
        with _native.Scope("step"):
            for layer, kernels in layers.items():
                with _native.Scope(layer):
                    for name in kernels:
                        start = now + chance.randrange(300, 2000)
                        now = start + chance.randrange(1500, 60000)
                        session.on_kernel(name, start, now, device_type="CUDA", device_id=0, lane=7)
                    done += len(kernels)


def writing(
    session: _native.Session, output_format: str, folder: Path, processor_s: list[float]
) -> Callable[[], float]:
    """A function that writes the session once and returns the seconds it took.

    How long processors worked for it goes to `processor_s`: what a busy machine leaves as it is.
    """
    path = str(folder / f"trace_cost.{SUFFIXES[output_format]}")
    header: dict[str, object] = {"session": "trace_cost", "pid": 1}

    def run() -> float:
        begun = time.process_time()
        seconds = time_ns(lambda: session.write(path, output_format, 0, header)) / 1e9
        processor_s.append(time.process_time() - begun)
        return seconds

    return run


def peak_mib() -> float:
    """The most memory that this process ever had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def record_through_cupti(kernel_count: int, *, is_graph: bool) -> None:
    """Run that many kernels on the fake driver in a session; print memory, time and size."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import proton
    from tests.native.fake_cuda.driver import FakeDriver, build_driver

    driver = FakeDriver(build_driver())
    os.environ.update(driver.environment)
    session = proton.start("trace_cost", backend="cupti", data="trace")
    functions = [driver.function(f"kernel_{number}", 2000) for number in range(60)]
    stream = driver.stream() if is_graph else None

    def layer(number: int) -> None:
        with proton.scope("step"), proton.scope(f"layer{number % 12}"):
            for kernel in range(26):
                driver.calls.fake_launch_many(functions[(number * 26 + kernel) % 60], 1, stream)

    if stream is not None:
        driver.calls.fake_capture_begin(stream)
        for number in range(12):
            layer(number)
        executable = driver.instantiate(driver.calls.fake_capture_end(stream))
        for _ in range(0, kernel_count, 12 * 26):
            driver.replay(executable, stream)
    else:
        for number in range(-(-kernel_count // 26)):
            layer(number)
    seconds = time_ns(lambda: proton.finalize(session, output_format="perfetto")) / 1e9
    print(peak_mib(), seconds, Path("trace_cost.pftrace").stat().st_size / 1e6)


def through_cupti(kernel_count: int, kind: str) -> list[float]:
    """Most memory (MiB), seconds to finalize and size (MB) of `record_through_cupti`."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, str(Path(__file__).resolve()), "--through-cupti", kind]
        done = subprocess.run(
            [*command, "--kernels", str(kernel_count)],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=600,
        )
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    options = parser(__doc__)
    options.add_argument("--kernels", type=int, default=1_000_000)
    kinds = ("launches", "graphs")
    options.add_argument("--through-cupti", choices=kinds, help="only that, in this process")
    arguments = options.parse_args()
    if arguments.through_cupti is not None:
        record_through_cupti(arguments.kernels, is_graph=arguments.through_cupti == "graphs")
        return
    session = _native.Session(0, context="shadow", data="trace")
    session.activate()
    before_mib = resident_kib() / 1024
    record(session, arguments.kernels)
    session.deactivate()
    recorded_mib = resident_kib() / 1024 - before_mib
    with tempfile.TemporaryDirectory(dir=".") as folder:
        processor_s: dict[str, list[float]] = {name: [] for name in FORMATS}
        runs = {
            name: writing(session, name, Path(folder), spent) for name, spent in processor_s.items()
        }
        peak_of: dict[str, float] = {}
        for name, run in runs.items():  # the compact one first: peaks only ever grow
            run()
            peak_of[name] = peak_mib()
        samples = interleave(runs, rounds=min(arguments.rounds, 5))
        sizes = {
            name: (Path(folder) / f"trace_cost.{SUFFIXES[name]}").stat().st_size for name in FORMATS
        }
    session.close()
    kernels = f"{arguments.kernels} kernels"
    share = sizes["perfetto"] / sizes["chrome_trace"]
    launched_mib, _, _ = through_cupti(arguments.kernels, "launches")
    replayed_mib, replayed_s, replayed_mb = through_cupti(arguments.kernels, "graphs")
    report(
        [
            Result(f"memory of {kernels}", "MiB", estimate([recorded_mib]), BAR_RECORD_MIB),
            Result(
                "most memory while writing", "MiB", estimate([peak_of["perfetto"]]), BAR_PEAK_MIB
            ),
            Result(
                f"most memory with {kernels} recorded through CUPTI",
                "MiB",
                estimate([launched_mib]),
                BAR_PEAK_MIB,
            ),
            Result(
                f"most memory with {kernels} of replayed graphs",
                "MiB",
                estimate([replayed_mib]),
                BAR_PEAK_MIB,
            ),
            Result(f"finalize {kernels} of replayed graphs", "s", estimate([replayed_s])),
            Result("size of them", "MB", estimate([replayed_mb]), BAR_MB),
            Result(f"write {kernels} as perfetto", "s", estimate(samples["perfetto"]), BAR_S),
            Result("of it, processor time", "s", estimate(processor_s["perfetto"]), BAR_S),
            Result("size of it", "MB", estimate([sizes["perfetto"] / 1e6]), BAR_MB),
            Result(f"write {kernels} as chrome_trace", "s", estimate(samples["chrome_trace"])),
            Result("of it, processor time", "s", estimate(processor_s["chrome_trace"])),
            Result("size of it, chrome_trace", "MB", estimate([sizes["chrome_trace"] / 1e6])),
            Result("perfetto's share of that size", "", estimate([share]), BAR_SHARE),
        ],
        arguments.json,
    )


if __name__ == "__main__":
    main()
