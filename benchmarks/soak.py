"""Whether memory stays flat over long runs of the cupti backend, journal and all.

Usage: python benchmarks/soak.py [--json PATH] [--launches N] [--replays N] [--gpu SECONDS]
On the fake driver (tests/native/fake_cuda), or with --gpu on the GPU through torch: as many
launches as the seconds allow, replays of a graph of 20 kernels, and launches again, because a
captured graph may change what a launch leaves behind; the last also after the session, and on the
GPU under CUPTI alone (benchmarks/floor). The figure is the growth of resident memory from the end
of the warm-up (a tenth of the work; on the GPU a million launches more) to the end, in KiB; and the
longest time for which saving a tree of 100 000 nodes keeps a Python thread from running.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import proton
from proton import _native
from stats import Result, estimate, parser, report

BAR_KIB = 4096.0
BURST = 10_000
GRAPH_NODES = 20
TREE_NODES = 100_000
TABLE_LAUNCHES = 1_049_000  # after so many, every page of the table of launches was written to


def resident_kib() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def growth_kib(work: Callable[[int], None], count: int) -> tuple[float, float]:
    """By how much memory grew over the last nine tenths of the work, and the seconds they took."""
    work(count // 10)
    before_kib, start = resident_kib(), time.perf_counter()
    work(count - count // 10)
    return resident_kib() - before_kib, time.perf_counter() - start


class FakeGpu:
    """Work on the fake driver, launched by its own loops."""

    def __init__(self) -> None:
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from tests.native.fake_cuda.driver import FakeDriver, build_driver

        self.driver = FakeDriver(build_driver())
        os.environ.update(self.driver.environment)
        self.functions = [self.driver.function(f"kernel{number}", 5) for number in range(16)]

    def prepare(self) -> None:
        """Capture the graph."""
        calls = self.driver.calls
        stream = calls.fake_stream_create()
        calls.fake_capture_begin(stream)
        for number in range(GRAPH_NODES):
            with proton.scope(f"layer{number}"):
                calls.fake_launch_many(self.functions[number % 16], 1, stream)
        self.graph = self.driver.instantiate(calls.fake_capture_end(stream))

    def launch(self, count: int) -> None:
        """Launches, a burst a scope."""
        for number in range(count // BURST):
            with proton.scope(f"step{number % 8}", {"x": 1}):
                self.driver.calls.fake_launch_many(self.functions[number % 16], BURST, None)
            self.driver.calls.fake_work()  # a GPU is no faster than its records are read

    def replay(self, count: int) -> None:
        """Replays of the graph."""
        launch = self.driver.calls.fake_graph_launch
        with proton.scope("serve"):
            for number in range(count):
                launch(self.graph, None)
                if number % (BURST // GRAPH_NODES) == 0:
                    self.driver.calls.fake_work()


class RealGpu:
    """The same through torch."""

    def __init__(self) -> None:
        import torch

        self.torch: Any = torch
        self.x = torch.ones(16, device="cuda")
        torch.cuda.synchronize()

    def prepare(self) -> None:
        """Capture the graph."""
        self.graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(self.graph):
            for number in range(GRAPH_NODES):
                with proton.scope(f"layer{number}"):
                    self.x.add_(1)

    def launch(self, count: int) -> None:
        """Launches in scopes."""
        for number in range(count // 1000):
            with proton.scope(f"step{number % 8}", {"x": 1}):
                for _ in range(1000):
                    self.x.add_(1)
            self.torch.cuda.synchronize()

    def replay(self, count: int) -> None:
        """Replays, never more than a thousand under way."""
        with proton.scope("serve"):
            for number in range(count):
                self.graph.replay()
                if number % 1000 == 0:
                    self.torch.cuda.synchronize()

    def growth_of_floor(self, count: int) -> tuple[float, float]:
        """What CUPTI leaves behind without Proton, once a graph was captured."""
        from floor.floor import Floor, build
        from overhead_tools import libcupti

        floor = Floor(build(), libcupti())
        floor.start()
        self.prepare()
        grown = growth_kib(self.launch, count)
        floor.stop()
        return grown


def longest_gap_ms() -> float:
    """How long a thread that only runs Python waits while a large tree is saved."""
    session = _native.Session(0, context="shadow", data="tree")
    session.activate()
    for outer in range(100):
        with _native.Scope(f"outer{outer}"):
            for inner in range(TREE_NODES // 400):
                with _native.Scope(f"inner{inner}"):
                    for kernel in range(3):
                        session.on_kernel(f"k{kernel}", 0, 5, device_type="CUDA", device_id=0)
    is_done, gap = False, 0.0

    def spin() -> None:
        nonlocal gap
        last = time.perf_counter()
        while not is_done:
            now = time.perf_counter()
            gap, last = max(gap, now - last), now

    thread = threading.Thread(target=spin)
    thread.start()
    session.serialize("hatchet_msgpack", 0, {})
    is_done = True
    thread.join()
    session.close()
    return 1e3 * gap


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--launches", type=int, default=10_000_000)
    options.add_argument("--replays", type=int, default=1_000_000)
    options.add_argument("--gpu", type=float, default=0.0, metavar="SECONDS")
    arguments = options.parse_args()
    gaps = [longest_gap_ms() for _ in range(5)]
    gpu: FakeGpu | RealGpu = RealGpu() if arguments.gpu else FakeGpu()
    launches, replays = arguments.launches, arguments.replays
    with tempfile.TemporaryDirectory() as folder:
        session = proton.start(os.path.join(folder, "run"), backend="cupti")
        if arguments.gpu:  # as many as there is time for
            start = time.perf_counter()
            gpu.launch(TABLE_LAUNCHES)
            launches = int(TABLE_LAUNCHES * arguments.gpu / (time.perf_counter() - start))
        launched_kib, launched_s = growth_kib(gpu.launch, launches)
        gpu.prepare()
        if arguments.gpu:
            start = time.perf_counter()
            gpu.replay(2_000)
            replays = min(replays, int(2_000 * arguments.gpu / (time.perf_counter() - start)))
        replayed_kib, replayed_s = growth_kib(gpu.replay, replays)
        again_kib, again_s = growth_kib(gpu.launch, launches // 4)
        proton.finalize(session)
    after_kib, after_s = growth_kib(gpu.launch, launches // 4)
    results = [
        Result(
            "growth over launches",
            "KiB",
            estimate([launched_kib]),
            BAR_KIB,
            note=f"{launches} launches, {launched_s:.0f} s",
        ),
        Result(
            "growth over graph replays",
            "KiB",
            estimate([replayed_kib]),
            BAR_KIB,
            note=f"{replays} replays of {GRAPH_NODES} kernels, {replayed_s:.0f} s",
        ),
        Result(
            "growth over launches, a graph captured before",
            "KiB",
            estimate([again_kib]),
            BAR_KIB,
            note=f"{launches // 4} launches, {again_s:.0f} s",
        ),
        Result(
            "growth over launches after the session, its graph alive",
            "KiB",
            estimate([after_kib]),
            BAR_KIB,
            note=f"{launches // 4} launches, {after_s:.0f} s",
        ),
    ]
    if isinstance(gpu, RealGpu):
        floor_kib, floor_s = gpu.growth_of_floor(launches // 4)
        results.append(
            Result(
                "growth over launches under CUPTI alone, a graph captured before",
                "KiB",
                estimate([floor_kib]),
                note=f"{launches // 4} launches, {floor_s:.0f} s",
            )
        )
    results.append(Result("pause while 100 000 nodes are saved", "ms", estimate(gaps)))
    report(results, arguments.json)


if __name__ == "__main__":
    main()
