"""When CUPTI lets go: at once for the first sessions, then after a while without one."""

from __future__ import annotations

import threading

import pytest

from proton.backends.cupti.hub import AT_ONCE, LONGEST_S, DetachTimer
from tests.support.waiting import wait_for


class Clock:
    """Stands until it is told otherwise, and counts who looks at it."""

    now = 100.0
    looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


class Hub:
    """Counts departures."""

    def __init__(self) -> None:
        self.count = 0
        self.has_gone = threading.Event()

    def let_go(self) -> bool:
        self.count += 1
        self.has_gone.set()
        return True


@pytest.fixture
def others() -> set[threading.Thread]:
    """Threads of sessions that other tests of this process have ended."""
    return set(threading.enumerate())


def waiters(others: set[threading.Thread]) -> list[threading.Thread]:
    return [
        thread
        for thread in threading.enumerate()
        if thread.name == "proton-detach" and thread not in others
    ]


def spent(hub: Hub, clock: Clock) -> DetachTimer:
    """With none left that goes at once."""
    departure = DetachTimer(hub.let_go, clock=clock)
    for _ in range(AT_ONCE):
        departure.ask()
    hub.has_gone.clear()
    return departure


def test_the_first_go_at_once(
    others: set[threading.Thread],
) -> None:
    hub = Hub()
    departure = DetachTimer(hub.let_go, clock=Clock())
    for number in range(AT_ONCE):
        departure.ask()
        assert hub.count == number + 1
    assert not waiters(others)


def test_a_thousand_sessions_in_a_row_do_not_go_a_thousand_times(
    others: set[threading.Thread],
) -> None:
    hub, clock = Hub(), Clock()
    departure = spent(hub, clock)
    for _ in range(1000):
        clock.now += 0.005
        departure.ask()
    assert hub.count == AT_ONCE
    assert len(waiters(others)) == 1
    departure.end()
    assert not waiters(others)
    assert hub.count == AT_ONCE


def test_later_ones_go_when_no_session_came_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.backends.cupti.hub.SHORTEST_S", 0.05)
    hub, clock = Hub(), Clock()
    departure = spent(hub, clock)
    departure.ask()
    assert not hub.has_gone.is_set()
    clock.now += 0.05
    assert hub.has_gone.wait(10.0)
    assert hub.count == AT_ONCE + 1
    departure.end()


def test_a_session_in_between_makes_it_wait_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.backends.cupti.hub.SHORTEST_S", 0.05)
    hub, clock = Hub(), Clock()
    departure = spent(hub, clock)
    departure.ask()
    clock.now += 0.04
    departure.ask()
    clock.now += 0.04  # too late for the first, too early for the second
    looks = clock.looks
    wait_for(lambda: clock.looks >= looks + 2, "the thread to look at the clock again")
    assert not hub.has_gone.is_set()
    clock.now += 0.04
    assert hub.has_gone.wait(10.0)
    assert hub.count == AT_ONCE + 1
    departure.end()


def test_the_older_the_program_the_longer_it_waits_up_to_a_limit() -> None:
    hub, clock = Hub(), Clock()
    departure = spent(hub, clock)
    clock.now += 5000
    departure.ask()
    assert departure.wait_s() == pytest.approx(100)
    clock.now += 1e6
    departure.ask()
    assert departure.wait_s() == LONGEST_S
    departure.end()


def test_after_the_end_of_the_process_nobody_waits(
    others: set[threading.Thread],
) -> None:
    hub, clock = Hub(), Clock()
    departure = spent(hub, clock)
    departure.end()
    departure.ask()
    assert not waiters(others)


def test_the_end_of_the_process_waits_for_one_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.backends.cupti.hub.SHORTEST_S", 0.0)
    monkeypatch.setattr("proton.backends.cupti.hub.AT_ONCE", 0)
    has_begun, may_end, has_ended = threading.Event(), threading.Event(), threading.Event()
    was_awaited: list[bool] = []

    def let_go() -> bool:
        has_begun.set()
        may_end.wait(10.0)
        has_ended.set()
        return True

    def end() -> None:
        departure.end()
        was_awaited.append(has_ended.is_set())

    departure = DetachTimer(let_go)
    departure.ask()
    assert has_begun.wait(10.0)
    ending = threading.Thread(target=end)
    ending.start()
    may_end.set()
    ending.join(10.0)
    assert was_awaited == [True]
