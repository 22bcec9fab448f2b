"""Problems of sampling, told as they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from proton import _native
from proton.backends.cupti import hub


class Sink:
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


def test_every_session_that_samples_is_warned_and_the_log_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    listeners: list[Callable[[list[str]], Any]] = []
    monkeypatch.setattr(_native.Cupti, "set_problem_listener", listeners.append, raising=False)
    first, second, gone = cast(Any, Sink()), cast(Any, Sink()), cast(Any, Sink())
    for sink in (first, second, gone):
        hub.follow_problems(sink)
    hub.unfollow_problems(gone)
    hub.unfollow_problems(gone)
    listeners[-1](["a context refuses", "a buffer is full"])
    hub.unfollow_problems(first)
    hub.unfollow_problems(second)
    assert first.warnings == second.warnings == ["a context refuses", "a buffer is full"]
    assert gone.warnings == []
    assert caplog.messages == ["a context refuses", "a buffer is full"]
