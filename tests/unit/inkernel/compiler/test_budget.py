"""Budgets: kernels are tried plain and recorded in turn, and thinned out until they are in time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from proton._triton import compiler as _triton_compiler
from proton.inkernel.compiler.budget import SAMPLES, Budgets
from proton.inkernel.compiler.mode_passes import THINNING
from proton.inkernel.compiler.recording_choice import ChosenMode, choice
from proton.inkernel.modes.mode_table import Loops


class Clock:
    """A stream whose time passes when a kernel is launched."""

    now = 0.0
    is_done = True


class Event:
    def __init__(self, clock: Clock) -> None:
        self.clock, self.at = clock, 0.0

    def record(self) -> None:
        self.at = self.clock.now

    def query(self) -> bool:
        return self.clock.is_done

    def elapsed_time(self, end: Event) -> float:
        return end.at - self.at


class Kernel:
    __name__ = "matmul"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(_triton_compiler, "event_maker", lambda: lambda: Event(clock))
    yield clock
    choice.set_session(None)


class Bench:
    """Launches a kernel whose records cost `cost[thinning]` of its plain time."""

    def __init__(self, clock: Clock, percent: float, cost: tuple[float, ...]) -> None:
        self.clock, self.cost, self.kernel = clock, cost, Kernel()
        self.warnings: list[str] = []
        self.budgets = Budgets(self.warnings.append)
        self.plain: list[bool] = []
        self.work: tuple[float, ...] = (1.0,)  # of launches in turn
        choice.set_session(Loops(budget=percent))
        self.launch_all: Callable[[int], None] = self._launch_all

    def _current(self) -> ChosenMode | None:
        with choice.launching(self.kernel):
            return choice.current()

    def _launch_all(self, count: int) -> None:
        for _ in range(count):
            chosen = self._current()
            assert chosen is not None
            self.budgets.launch(self.kernel, chosen, self._launch)

    def _launch(self) -> None:
        chosen = self._current()
        self.plain.append(chosen is None)
        work = self.work[(len(self.plain) - 1) % len(self.work)]
        self.clock.now += work * (1.0 if chosen is None else 1.0 + self.cost[chosen.thinning])

    @property
    def thinning(self) -> int:
        chosen = self._current()
        assert chosen is not None
        return chosen.thinning


def test_a_kernel_within_its_budget_keeps_all_its_records(clock: Clock) -> None:
    bench = Bench(clock, 3.0, (0.02,))
    bench.launch_all(40)
    assert bench.thinning == 0
    assert SAMPLES < bench.plain.count(True) <= SAMPLES + 2, "no plain launch once it is judged"
    assert not any(bench.plain[-10:])


def test_a_kernel_is_thinned_until_it_is_within_its_budget(clock: Clock) -> None:
    bench = Bench(clock, 3.0, (0.2, 0.1, 0.02, 0.0, 0.0))
    bench.launch_all(200)
    assert bench.thinning == 2
    assert bench.warnings == []


def test_a_kernel_that_cannot_be_thinned_enough_is_named(clock: Clock) -> None:
    bench = Bench(clock, 3.0, (0.5,) * len(THINNING))
    bench.launch_all(400)
    assert bench.thinning == len(THINNING) - 1
    (warning,) = bench.warnings
    assert "kernel 'matmul' slows by 50.0 % with the fewest records, above its budget" in warning


def test_launches_are_never_waited_for(clock: Clock) -> None:
    clock.is_done = False
    bench = Bench(clock, 3.0, (0.5,) * len(THINNING))
    bench.launch_all(300)
    assert len(bench.plain) == 300
    assert bench.thinning == 0
    clock.is_done = True
    bench.launch_all(1)
    assert bench.thinning == 1


def test_without_a_clock_every_launch_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_triton_compiler, "event_maker", lambda: None)
    bench = Bench(Clock(), 3.0, (0.5,))
    try:
        bench.launch_all(20)
    finally:
        choice.set_session(None)
    assert not any(bench.plain)


@pytest.mark.parametrize(
    "work", [(1.0, 10.0), (10.0, 1.0), (1.0, 1.0, 10.0), (10.0, 1.0, 3.0, 1.0)]
)
def test_launches_that_differ_in_turn_are_not_taken_for_the_cost_of_records(
    clock: Clock, work: tuple[float, ...]
) -> None:
    bench = Bench(clock, 3.0, (0.02,) * len(THINNING))
    bench.work = work
    bench.launch_all(200)
    assert bench.thinning == 0
    slow = Bench(clock, 3.0, (0.2, 0.1, 0.02, 0.0, 0.0))
    slow.work = work
    slow.launch_all(400)
    assert slow.thinning == 2


def test_where_launches_cannot_be_timed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def event_maker() -> None:
        raise _triton_compiler.NoClockError("that takes torch (no module)")

    monkeypatch.setattr(_triton_compiler, "event_maker", event_maker)
    bench = Bench(Clock(), 3.0, (0.5,))
    try:
        bench.launch_all(20)
    finally:
        choice.set_session(None)
    assert not any(bench.plain)
    (warning,) = bench.warnings
    assert warning == (
        "no budget is kept: launches cannot be timed, because that takes torch (no module)"
    )
