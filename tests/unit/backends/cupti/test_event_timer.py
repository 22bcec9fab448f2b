"""Kernels timed by launch hooks and CUDA events; the driver's events are stand-ins."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from proton.backends.cupti import event_timer as fallback
from proton.backends.cupti.cuda_events import Place
from proton.backends.cupti.event_timer import EventTimer


class Sink:
    """A session that keeps kernels and losses."""

    is_active = True

    def __init__(self) -> None:
        self.kernels: list[tuple[str, int, int]] = []
        self.places: list[tuple[int, int]] = []
        self.starts: list[int] = []
        self.losses: list[str] = []
        self.context = 5

    def launch_context(self) -> int:
        return self.context

    def on_kernel(self, name: str, start_ns: int, end_ns: int, **options: Any) -> None:
        self.kernels.append((name, end_ns - start_ns, options["device_id"]))
        self.places.append((options["context"], options["lane"]))
        self.starts.append(start_ns)

    def count_loss(self, kind: str, count: int = 1) -> None:
        self.losses.append(kind)


class Events:
    """A GPU that runs `done` events' worth of work, each event 5 microseconds after the last."""

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit
        self.recorded = 0
        self.done = 10**9
        self.is_capturing_now = False
        self.is_broken = False
        self.idle = 0
        self.outside = 0  # queries made without care for captures
        self.is_careful = False

    def place(self, stream: int) -> Place:
        return Place(17, 1, stream)

    def is_capturing(self, stream: int) -> bool:
        return self.is_capturing_now

    def record(self, place: Place) -> int | None:
        if self.recorded - self.idle >= self.limit:
            return None
        self.recorded += 1
        return self.recorded

    def is_done(self, event: int) -> bool | None:
        self.outside += not self.is_careful
        return None if self.is_broken else event <= self.done

    def elapsed_ns(self, first: int, last: int) -> int | None:
        return (last - first) * 5000

    def give_back(self, context: int, *events: int) -> None:
        self.idle += len(events)

    def forget(self, *events: int) -> None:
        self.idle += len(events)

    def close(self) -> None:
        self.is_closed = True

    @contextmanager
    def beside_captures(self) -> Iterator[None]:
        self.is_careful = True
        yield
        self.is_careful = False


class Bench:
    """A timer with its session and its GPU."""

    def __init__(self, limit: int = 1000) -> None:
        self.sink = Sink()
        self.events = Events(limit)
        sink: Any = self.sink
        events: Any = self.events
        self.timer = EventTimer(sink, events)

    def launch(self, name: str = "k", stream: int = 7) -> None:
        metadata = SimpleNamespace(data={"name": name, "stream": stream})
        self.timer._enter(metadata)
        self.timer._exit(metadata)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_launch_becomes_a_kernel_where_it_was_made(bench: Bench) -> None:
    bench.launch()
    bench.sink.context = 6  # the program goes on; the GPU comes later
    bench.launch("j", stream=9)
    assert bench.sink.kernels == []
    assert bench.timer.flush(1.0) == 0
    assert bench.sink.kernels == [("k", 5000, 1), ("j", 5000, 1)]
    assert bench.sink.places == [(5, 0), (6, 1)]


def test_no_launch_asks_or_waits_for_the_gpu(bench: Bench) -> None:
    bench.events.done = 0
    for _ in range(100):
        bench.launch()
    assert bench.sink.kernels == []
    assert bench.sink.losses == []


def test_kernels_begin_after_their_launch_and_in_the_gpus_order(bench: Bench) -> None:
    before = time.monotonic_ns()
    for _ in range(20):
        bench.launch()
    bench.timer.flush(1.0)
    assert bench.sink.starts[0] >= before
    assert bench.sink.starts == sorted(bench.sink.starts)


def test_times_are_read_along_the_way_so_that_memory_stays_flat(bench: Bench) -> None:
    for _ in range(10_000):
        bench.launch()
    assert len(bench.sink.kernels) > 9_000
    assert bench.events.recorded - bench.events.idle < 600
    assert bench.events.outside == 0


def test_a_gpu_too_far_behind_costs_timings_and_they_are_counted() -> None:
    bench = Bench(limit=10)
    bench.events.done = 0
    for _ in range(8):
        bench.launch()
    assert bench.sink.losses == ["untimed_launch"] * 3
    bench.events.done = 10**9
    bench.launch()
    assert bench.timer.flush(1.0) == 0
    assert len(bench.sink.kernels) == 6


def test_a_context_that_is_gone_costs_its_launches(bench: Bench) -> None:
    bench.launch()
    bench.events.is_broken = True
    assert bench.timer.flush(1.0) == 0
    assert (bench.sink.kernels, bench.sink.losses) == ([], ["untimed_launch"])


def test_a_flush_has_a_limit_and_says_what_is_left(bench: Bench) -> None:
    bench.events.done = 2
    bench.launch()
    bench.launch()
    assert bench.timer.flush(0.01) == 1
    assert len(bench.sink.kernels) == 1


def test_long_runs_measure_from_a_later_event(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "_REBASE_NS", 20_000)
    for _ in range(20):
        bench.launch()
    bench.timer.flush(1.0)
    assert len(bench.sink.kernels) == 20
    assert bench.sink.starts == sorted(bench.sink.starts)
    assert bench.events.recorded - bench.events.idle == 1  # the base alone


def test_a_paused_session_gets_nothing(bench: Bench) -> None:
    bench.sink.is_active = False
    bench.launch()
    assert bench.timer.flush(1.0) == 0
    assert bench.sink.kernels == []


def test_a_captured_launch_is_counted_as_lost(bench: Bench) -> None:
    bench.events.is_capturing_now = True
    bench.launch()
    assert (bench.events.recorded, bench.sink.losses) == (0, ["captured_launch"])


def test_a_forked_child_leaves_its_parents_session_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", os.getppid)
    bench.launch()
    assert bench.events.recorded == 0


def test_nothing_is_left_in_tritons_hooks_or_on_the_gpu(bench: Bench) -> None:
    bench.timer.start()
    bench.events.done = 0
    bench.launch()
    bench.timer.stop()
    bench.timer.stop()
    assert bench.events.idle == bench.events.recorded
    assert bench.events.is_closed


def test_a_library_that_is_no_driver_is_no_use() -> None:
    sink: Any = Sink()
    assert EventTimer.open(sink, "/nowhere/libcuda.so") is None
    assert EventTimer.open(sink, "libc.so.6") is None
