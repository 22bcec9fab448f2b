"""The thread beside the program: it comes and goes with sessions, forks and signals."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time

import pytest

from proton._native import Termination
from proton.runtime.background import BackgroundThread
from tests.support.waiting import wait_for


def threads() -> set[str]:
    """Those of the process, whoever made them; some of other tests' may be about to end."""
    return set(os.listdir("/proc/self/task"))


def test_steps_are_taken_when_they_say_and_when_woken() -> None:
    taken: list[float] = []

    def step() -> float:
        taken.append(time.monotonic())
        return 0.02 if len(taken) < 5 else 1000.0

    background = BackgroundThread(lambda: [step], lambda: None)
    background.start(catches_signals=False)
    wait_for(lambda: len(taken) >= 5, "five steps")
    count = len(taken)
    background.wake()
    wait_for(lambda: len(taken) > count, "a step after waking")
    background.stop()
    assert not background.is_running


def test_a_step_that_fails_is_logged_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[int] = []

    def broken() -> float:
        raise RuntimeError("a bug")

    def fine() -> float:
        taken.append(1)
        return 1000.0

    background = BackgroundThread(lambda: [broken, fine], lambda: None)
    with caplog.at_level(logging.ERROR, "proton"):
        background.start(catches_signals=False)
        wait_for(lambda: taken, "a step")
        background.stop()
    assert "keeping a session safe failed" in caplog.text
    assert "a bug" in caplog.text


def test_starting_twice_is_one_thread_and_stopping_twice_is_harmless() -> None:
    background = BackgroundThread(lambda: [], lambda: None)
    before, known = threads(), threading.active_count()
    background.start(catches_signals=False)
    background.start(catches_signals=False)
    ours = threads() - before
    assert len(ours) == 1
    assert threading.active_count() == known  # programs count theirs
    background.stop()
    background.stop()
    wait_for(lambda: not ours & threads(), "the thread to end")


def test_the_thread_is_away_while_a_fork_is_under_way() -> None:
    background = BackgroundThread(lambda: [], lambda: None)
    background.start(catches_signals=False)
    background.before_fork()
    assert not background.is_running
    background.start(catches_signals=False)
    assert background.is_running
    background.stop()
    background.before_fork()  # with no thread there is nothing to do
    background.after_fork_in_parent()
    assert not background.is_running


def test_signals_are_caught_only_where_they_had_their_default_action() -> None:
    background = BackgroundThread(lambda: [], lambda: None)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        background.start(catches_signals=True)
        assert Termination.catches(signal.SIGTERM)
        assert not Termination.catches(signal.SIGHUP)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL  # Python sees no difference
        signal.signal(signal.SIGTERM, lambda *_: None)  # the program's own wins
        assert not Termination.catches(signal.SIGTERM)
        background.stop()
        assert callable(signal.getsignal(signal.SIGTERM))
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, before)


def test_stopping_gives_the_signals_back() -> None:
    background = BackgroundThread(lambda: [], lambda: None)
    background.start(catches_signals=True)
    background.stop()
    assert not Termination.catches(signal.SIGTERM)
    assert not Termination.catches(signal.SIGHUP)
