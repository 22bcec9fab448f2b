"""Statistics shared by the benchmarks: interleaved runs, medians, 95 % intervals, JSON results.

A benchmark script imports this as `from stats import ...` (scripts are run from their own folder
or by path, so `benchmarks/` is on `sys.path`). It prints its results with `report`, which also
writes them where `--json PATH` says, so that `run_all.py` can build docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MIN_PAIRS = 11  # fewer interleaved pairs give no usable 95 % interval of the median
MIN_PROCESSES = 4
RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A median and the 95 % interval of that median, in the unit of the samples."""

    median: float
    low: float
    high: float
    samples: int

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit."""
        return Estimate(self.median * factor, self.low * factor, self.high * factor, self.samples)

    def __str__(self) -> str:
        return f"{self.median:.4g} [{self.low:.4g}, {self.high:.4g}] (n={self.samples})"


@dataclass(frozen=True)
class Result:
    """One figure: what was measured, the bar it must reach, what the known tool does.

    `bar` is an upper limit in `unit`. `known` is the same figure of triton.profiler in this run;
    None where it was not measured.
    """

    figure: str
    unit: str
    estimate: Estimate
    bar: float | None = None
    known: Estimate | None = None
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the interval reaches the bar; None without a bar."""
        return None if self.bar is None else self.estimate.low <= self.bar

    @property
    def verdict(self) -> str:
        """`met`, `MISSED`, or that the run cannot tell; a dash without a bar."""
        if self.bar is None:
            return "-"
        if self.estimate.median <= self.bar:
            return "met"
        return "undecided" if self.is_met else "MISSED"


def estimate(samples: Sequence[float]) -> Estimate:
    """Median of `samples` with the 95 % interval from order statistics (no assumption on shape).

    Below 6 samples no such interval exists; the extremes stand in for it.
    """
    ordered = sorted(samples)
    count = len(ordered)
    if count == 0:
        raise ValueError("no samples to summarise")
    # P(X <= k) for X ~ Binomial(n, 1/2): the largest k with both tails at most 2.5 %.
    rank, tail = 0, 0.0
    for k in range(count // 2):
        tail += math.comb(count, k) * 0.5**count
        if tail > 0.025:
            break
        rank = k
    return Estimate(statistics.median(ordered), ordered[rank], ordered[-1 - rank], count)


def estimate_groups(groups: Sequence[Sequence[float]]) -> Estimate:
    """Median of samples that come in groups, one a process, with its 95 % interval.

    Samples of one process resemble each other, so the interval is that of a bootstrap over whole
    processes. Below four processes no such interval is worth its name: the extremes stand in.
    """
    groups = [group for group in groups if group]
    everything = [sample for group in groups for sample in group]
    if not everything:
        raise ValueError("no samples to summarise")
    middle = statistics.median(everything)
    if len(groups) < MIN_PROCESSES:
        return Estimate(middle, min(everything), max(everything), len(everything))
    draw = random.Random(0)
    medians = sorted(
        statistics.median(
            [sample for group in draw.choices(groups, k=len(groups)) for sample in group]
        )
        for _ in range(RESAMPLES)
    )
    cut = RESAMPLES // 40
    return Estimate(middle, medians[cut], medians[-1 - cut], len(everything))


def time_ns(run: Callable[[], object]) -> int:
    """Wall time of one call of `run`, in nanoseconds."""
    start = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - start


def interleave(
    runs: Mapping[str, Callable[[], float]], *, rounds: int = MIN_PAIRS, warm_up: int = 1
) -> dict[str, list[float]]:
    """Call every function of `runs` once a round, turning the order round each time.

    Each function measures itself and returns its sample. Interleaving spreads slow drifts of the
    machine (clocks, neighbours) evenly over what is compared.
    """
    samples: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for round_number in range(-warm_up, rounds):
        for name in names:
            sample = runs[name]()
            if round_number >= 0:
                samples[name].append(sample)
        names.reverse()
    return samples


def ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """Median of the ratios of interleaved pairs, with its 95 % interval."""
    return estimate([top / bottom for top, bottom in zip(numerators, denominators, strict=True)])


def difference(larger: Sequence[float], smaller: Sequence[float]) -> Estimate:
    """Median of the differences of interleaved pairs, with its 95 % interval."""
    return estimate([a - b for a, b in zip(larger, smaller, strict=True)])


def machine() -> str:
    """The machine in one line: processor, cores, GPUs, operating system, Python."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    return ", ".join(
        [
            processor,
            f"{os.cpu_count()} cores",
            *gpus(),
            platform.system(),
            f"Python {platform.python_version()}",
        ]
    )


def gpus() -> list[str]:
    """The models of the NVIDIA GPUs, as the driver shows them."""
    lines = []
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        lines += path.read_text(errors="replace").splitlines()
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options every benchmark has: `--json PATH` and `--rounds N`."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--json", type=Path, metavar="PATH", help="write the results there too")
    result.add_argument(
        "--rounds", type=int, default=MIN_PAIRS, help=f"interleaved rounds (default {MIN_PAIRS})"
    )
    return result


def report(results: Sequence[Result], json_path: Path | None = None) -> None:
    """Print the results as lines and, with `json_path`, write them as JSON."""
    for result in results:
        bar = "" if result.bar is None else f"  bar {result.bar:g}"
        known = "" if result.known is None else f"  known tool {result.known}"
        note = f"  ({result.note})" if result.note else ""
        print(
            f"{result.figure}: {result.estimate} {result.unit}{bar}  {result.verdict}{known}{note}"
        )
    if json_path is not None:
        document = {
            "machine": machine(),
            "date": time.strftime("%Y-%m-%d"),
            "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
            "results": [asdict(result) for result in results],
        }
        json_path.write_text(json.dumps(document, indent=1) + "\n")
