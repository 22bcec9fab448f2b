"""What the tiers `blame` and `ops` add to torch on the CPU, beside torch.profiler.

Usage: python benchmarks/op_cost.py [--rounds N] [--json PATH]
Measured is `torch.add(a, b, out=c)` of four elements and a training step of a small MLP, whose
operators do little but dispatch: the worst case. Every way to record is a process of its own, and
so is torch alone, as observers that are switched off cost something too; all are asked in turn.
Figures are the thread's processor time, the fastest of a few bursts. torch.profiler's are without
what it does when it stops. An observer of operators and nodes that does nothing shows what torch
itself takes for any.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from stats import Estimate, Result, difference, interleave, parser, ratio, report

OPERATORS = 2000
STEPS = 20
BURSTS = 5
WAYS = ("alone", "blame", "ops", "nothing", "torch.profiler")
ROOT = Path(__file__).resolve().parents[1]


def operators(torch: Any) -> Callable[[], float]:
    """Nanoseconds per operator."""
    left, right, out = (torch.ones(4) for _ in range(3))
    add = torch.add

    def run() -> float:
        start = time.thread_time_ns()
        for _ in range(OPERATORS):
            add(left, right, out=out)
        return (time.thread_time_ns() - start) / OPERATORS

    return run


def training(torch: Any) -> Callable[[], float]:
    """Nanoseconds per step of an MLP of four layers: some 280 observed calls."""
    layers = [part for _ in range(4) for part in (torch.nn.Linear(64, 64), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batch = torch.randn(32, 64)

    def run() -> float:
        start = time.thread_time_ns()
        for _ in range(STEPS):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
        return (time.thread_time_ns() - start) / STEPS

    return run


def empty_observer(torch: Any) -> Callable[[], AbstractContextManager[Any]]:
    """What observes operators and nodes, and does nothing."""
    sys.path.insert(0, str(ROOT))
    from tests.native.frameworks.library import Observer

    observer = Observer(torch)
    handles = [observer.add_empty(scope) for scope in (0, 1)]

    @contextlib.contextmanager
    def observe() -> Any:
        for handle in handles:
            observer.switch_empty(handle, is_on=True)
        yield
        for handle in handles:
            observer.switch_empty(handle, is_on=False)

    return observe


def recorder(way: str, torch: Any, folder: str) -> Callable[[], AbstractContextManager[Any]]:
    """What records for as long as it is entered."""
    if way == "alone":
        return contextlib.nullcontext
    if way == "torch.profiler":
        return lambda: torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    if way == "nothing":
        return empty_observer(torch)
    import proton

    session = proton.start(f"{folder}/{way}", context=way)
    assert session is not None
    proton.deactivate(session)

    @contextlib.contextmanager
    def record() -> Any:
        proton.activate(session)
        yield
        proton.deactivate(session)

    return record


def work(way: str) -> None:
    """Measure what each line of the input asks for, until it ends."""
    import torch

    torch.set_num_threads(1)
    runs = {"operators": operators(torch), "training": training(torch)}
    with tempfile.TemporaryDirectory() as folder:
        record = recorder(way, torch, folder)
        for line in sys.stdin:
            run = runs[line.strip()]
            with record():
                run()
                print(min(run() for _ in range(BURSTS)), flush=True)
        if way in ("blame", "ops"):
            import proton
            from proton.errors import ProtonWarning

            with warnings.catch_warnings():  # with `blame` nothing is recorded without a GPU
                warnings.simplefilter("ignore", ProtonWarning)
                proton.finalize()


class Worker:
    """A process that records in one way."""

    def __init__(self, way: str) -> None:
        command = [sys.executable, str(Path(__file__)), "--work", way]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: str) -> float:
        """One sample."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(what, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def end(self) -> None:
        """Let it finish."""
        self._process.communicate()


def measure(rounds: int) -> list[Result]:
    """All figures."""
    workers = {way: Worker(way) for way in WAYS}
    try:
        samples = {
            what: interleave({way: partial(workers[way].ask, what) for way in WAYS}, rounds=rounds)
            for what in ("operators", "training")
        }
    finally:
        for worker in workers.values():
            worker.end()

    def added(way: str) -> Estimate:
        return difference(samples["operators"][way], samples["operators"]["alone"])

    def times(way: str) -> Estimate:
        return ratio(samples["training"][way], samples["training"]["alone"])

    note = "known tool: torch.profiler"
    peer, peer_times = added(WAYS[-1]), times(WAYS[-1])
    return [
        Result("added to an operator, context ops", "ns", added("ops"), 150, peer, note),
        Result("added to an operator, context blame", "ns", added("blame"), 5, peer, note),
        Result("added to an operator, observer that does nothing", "ns", added("nothing")),
        Result("training step, context ops", "times", times("ops"), 1.25, peer_times, note),
        Result("training step, context blame", "times", times("blame"), 1.06, peer_times, note),
        Result("training step, observer that does nothing", "times", times("nothing")),
    ]


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--work", choices=WAYS, help=argparse.SUPPRESS)
    arguments = options.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("op_cost.py needs torch", file=sys.stderr)
        return 1
    if arguments.work:
        work(arguments.work)
    else:
        report(measure(arguments.rounds), arguments.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
