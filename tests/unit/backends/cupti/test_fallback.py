"""Kernels timed by launch hooks and CUDA events; torch's events are stand-ins."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from proton import _torch
from proton.backends.cupti.fallback import EventTimer


class Sink:
    """A session that keeps kernels and losses."""

    is_active = True

    def __init__(self) -> None:
        self.kernels: list[tuple[str, int, int]] = []
        self.losses: list[str] = []

    def on_kernel(self, name: str, start_ns: int, end_ns: int, **options: Any) -> None:
        self.kernels.append((name, end_ns - start_ns, options["device_id"]))

    def count_loss(self, kind: str, count: int = 1) -> None:
        self.losses.append(kind)


@pytest.fixture
def timer(monkeypatch: pytest.MonkeyPatch) -> EventTimer:
    """A timer whose kernels take 5 microseconds on device 1."""
    monkeypatch.setattr(_torch, "is_capturing", lambda: False)
    monkeypatch.setattr(_torch, "record_event", lambda stream: stream)
    monkeypatch.setattr(_torch, "elapsed_ns", lambda first, last: (1, 5000))
    sink: Any = Sink()
    return EventTimer(sink)


def launch(timer: EventTimer, name: str = "k") -> None:
    metadata = SimpleNamespace(data={"name": name, "stream": 7})
    timer._enter(metadata)
    timer._exit(metadata)


def kept(timer: EventTimer) -> Any:
    return timer._sink


def test_a_launch_becomes_a_kernel_of_its_time_and_device(timer: EventTimer) -> None:
    launch(timer)
    assert kept(timer).kernels == [("k", 5000, 1)]


def test_a_paused_session_gets_nothing(timer: EventTimer) -> None:
    kept(timer).is_active = False
    launch(timer)
    assert kept(timer).kernels == []


def test_a_captured_launch_is_counted_as_lost(
    timer: EventTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_torch, "is_capturing", lambda: True)
    launch(timer)
    assert (kept(timer).kernels, kept(timer).losses) == ([], ["captured_launch"])


def test_a_forked_child_leaves_its_parents_session_alone(
    timer: EventTimer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", os.getppid)
    launch(timer)
    assert kept(timer).kernels == []


def test_nothing_is_left_in_tritons_hooks(timer: EventTimer) -> None:
    timer.start()
    timer.stop()
    timer.stop()
