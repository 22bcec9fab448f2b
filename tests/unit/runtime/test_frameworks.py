"""When sessions of tier blame and ops begin to observe, and what their files say of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from proton import _native, _torch
from proton.errors import BackendUnavailable
from proton.runtime import frameworks
from proton.runtime.frameworks import FrameworkWatch


class Frames:
    """Whether the core was last told to read frames."""

    def __init__(self) -> None:
        self.are_read = False


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> Iterator[Frames]:
    """The core's switch, with nothing observed yet."""
    seen = Frames()

    class Observer:
        @staticmethod
        def read_frames(is_wanted: bool) -> None:
            seen.are_read = is_wanted

        @staticmethod
        def counts() -> dict[str, int]:
            return {"backward_nodes": 2}

        @staticmethod
        def call_of_modules(code: object) -> None: ...

    monkeypatch.setattr(_native, "TorchObserver", Observer)
    monkeypatch.setattr(frameworks, "_refused", None)
    monkeypatch.setattr(_torch, "open_observer", lambda opening: None)
    yield seen
    frameworks.forget()


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Those who wait for torch, which is not imported."""
    waiting: list[Callable[[], None]] = []

    def wait(callback: Callable[[], None]) -> Callable[[], None]:
        waiting.append(callback)
        return lambda: waiting.remove(callback) if callback in waiting else None

    monkeypatch.setattr(_torch, "when_imported", wait)
    fake = ModuleType("torch")
    fake.__dict__.update(Tensor=object, __version__="2.13.0")
    monkeypatch.setitem(sys.modules, "torch", fake)
    return waiting


def watch(*, waits: bool, told: list[str] | None = None) -> FrameworkWatch:
    tell = (told if told is not None else []).append
    return FrameworkWatch(7, "ops", waits=waits, tell=tell)


def test_a_session_that_waits_has_scopes_until_torch_is_imported(
    frames: Frames, imports: list[Callable[[], None]]
) -> None:
    session = watch(waits=True)
    session.start()
    assert (frames.are_read, session.context(), session.header()) == (False, "shadow", {})
    imports[0]()
    assert (frames.are_read, session.context()) == (True, "ops")
    said = session.header()["framework_context"]
    assert isinstance(said, dict)
    assert (said["tier"], said["torch"]) == ("ops", "2.13.0")
    assert said["since_ns"] > 0
    session.stop()
    assert not frames.are_read


def test_a_session_that_was_asked_for_frames_has_them_at_once(
    frames: Frames, imports: list[Callable[[], None]]
) -> None:
    session = watch(waits=False)
    session.start()
    assert (frames.are_read, session.context()) == (True, "ops")
    session.stop()
    session.stop()
    assert (frames.are_read, imports) == (False, [])


def test_frames_are_read_until_the_last_session_ends(
    frames: Frames, imports: list[Callable[[], None]]
) -> None:
    first, second = watch(waits=False), FrameworkWatch(8, "blame", waits=False, tell=print)
    first.start()
    second.start()
    first.stop()
    assert frames.are_read
    second.stop()
    assert not frames.are_read


def test_a_torch_that_is_refused_is_told_once_a_session_and_tried_once(
    frames: Frames, imports: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refuse(opening: object) -> None:
        tries.append(opening)
        raise BackendUnavailable("torch", reason="its layout is not certain", remedy="use another")

    monkeypatch.setattr(_torch, "open_observer", refuse)
    told: list[str] = []
    for _ in range(2):
        session = watch(waits=True, told=told)
        session.start()
        imports.pop()()
        session.stop()
    assert len(tries) == 1
    assert len(told) == 2
    assert told[0].startswith("operators and backward work of torch 2.13.0 are not recorded: ")
    assert session.refused == told[0]
    said = session.header()["framework_context"]
    assert isinstance(said, dict)
    assert said["refused"] == told[0]
    assert frames.are_read is False


def test_a_torch_of_another_make_is_refused_and_its_import_goes_on(
    frames: Frames, imports: list[Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(opening: object) -> None:
        raise AttributeError("no attribute '_sequence_nr'")

    monkeypatch.setattr(_torch, "open_observer", fail)
    told: list[str] = []
    watch(waits=True, told=told).start()
    imports[0]()
    assert told == [
        "operators and backward work of torch 2.13.0 are not recorded: "
        "AttributeError: no attribute '_sequence_nr'"
    ]
