"""Tests of the ways out of a process; the real ones are tested with processes."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from typing import Any

import pytest

from proton.cli.profiled_run import before_exit


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What happened, with functions in place of those that end a process."""
    happened: list[str] = []

    def ending(name: str) -> Any:
        return lambda *args: happened.append(name)

    for name in ("_exit", "execv", "execve"):
        monkeypatch.setattr(os, name, ending(name))

    def finish(*, may_fail: bool = True) -> None:
        happened.append("finish or fail" if may_fail else "finish")

    before_exit(finish)
    yield happened
    atexit.unregister(finish)


@pytest.mark.parametrize(("status", "first"), [(3, "finish"), (0, "finish or fail")])
def test_an_exit_without_handlers_writes_first(status: int, first: str, events: list[str]) -> None:
    os._exit(status)
    assert events == [first, "_exit"]


def test_becoming_another_program_writes_first(events: list[str]) -> None:
    os.execl("/bin/sh", "sh")
    assert events == ["finish", "execv"]


def test_trying_a_program_that_is_not_there_writes_nothing(events: list[str]) -> None:
    os.execve("/bin/no-such-program", ["x"], {})
    os.execv("/", ["a folder"])
    assert events == ["execve", "execv"]


def test_a_path_that_is_none_is_left_to_python(events: list[str]) -> None:
    os.execv("\0", ["x"])
    assert events == ["execv"]
