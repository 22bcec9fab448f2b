"""The thread beside the program: it comes and goes with sessions, forks and signals."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from proton._native import Termination
from proton.runtime.keeper import Keeper


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited 20 s for it"
        time.sleep(0.005)


def threads() -> set[str]:
    """Those of the process, whoever made them; some of other tests' may be about to end."""
    return set(os.listdir("/proc/self/task"))


def test_steps_are_taken_when_they_say_and_when_woken() -> None:
    taken: list[float] = []

    def step() -> float:
        taken.append(time.monotonic())
        return 0.02 if len(taken) < 5 else 1000.0

    keeper = Keeper(lambda: [step], lambda: None)
    keeper.start(catches_signals=False)
    wait_until(lambda: len(taken) >= 5)
    count = len(taken)
    keeper.wake()
    wait_until(lambda: len(taken) > count)
    keeper.stop()
    assert not keeper.is_running


def test_a_step_that_fails_is_logged_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[int] = []

    def broken() -> float:
        raise RuntimeError("a bug")

    def fine() -> float:
        taken.append(1)
        return 1000.0

    keeper = Keeper(lambda: [broken, fine], lambda: None)
    with caplog.at_level(logging.ERROR, "proton"):
        keeper.start(catches_signals=False)
        wait_until(lambda: bool(taken))
        keeper.stop()
    assert "keeping a session safe failed" in caplog.text
    assert "a bug" in caplog.text


def test_starting_twice_is_one_thread_and_stopping_twice_is_harmless() -> None:
    keeper = Keeper(lambda: [], lambda: None)
    before, known = threads(), threading.active_count()
    keeper.start(catches_signals=False)
    keeper.start(catches_signals=False)
    ours = threads() - before
    assert len(ours) == 1
    assert threading.active_count() == known  # programs count theirs
    keeper.stop()
    keeper.stop()
    wait_until(lambda: not ours & threads())


def test_the_thread_is_away_while_a_fork_is_under_way() -> None:
    keeper = Keeper(lambda: [], lambda: None)
    keeper.start(catches_signals=False)
    keeper.before_fork()
    assert not keeper.is_running
    keeper.start(catches_signals=False)
    assert keeper.is_running
    keeper.stop()
    keeper.before_fork()  # with no thread there is nothing to do
    keeper.after_fork_in_parent()
    assert not keeper.is_running


def test_signals_are_caught_only_where_they_had_their_default_action() -> None:
    keeper = Keeper(lambda: [], lambda: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        keeper.start(catches_signals=True)
        assert Termination.catches(signal.SIGTERM)
        assert not Termination.catches(signal.SIGHUP)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # Python sees no difference
        signal.signal(signal.SIGTERM, lambda *_: None)  # the program's own wins
        assert not Termination.catches(signal.SIGTERM)
        keeper.stop()
        assert callable(signal.getsignal(signal.SIGTERM))
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, before)


def test_stopping_gives_the_signals_back() -> None:
    keeper = Keeper(lambda: [], lambda: None)
    keeper.start(catches_signals=True)
    keeper.stop()
    assert not Termination.catches(signal.SIGTERM)
    assert not Termination.catches(signal.SIGHUP)
