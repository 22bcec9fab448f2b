"""Tests of a run's session with a stand-in for the recording half."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import pytest

from proton.cli import profiled_run
from proton.cli.profiled_run import ProfiledRun
from proton.errors import ProtonWarning
from proton.runtime.command_line import Ending
from proton.runtime.request import SessionRequest


class Recorder:
    """Stands in for `runtime.command_line` and keeps what was asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.session: int | None = 0
        self.ending = Ending(paths=("/x.hatchet",))
        self.has_nothing = False

    def start(self, request: SessionRequest) -> int | None:
        self.calls.append(f"start {request.name}")
        return self.session

    def finish(self, *, keeps_earlier: bool = False) -> Ending:
        self.calls.append("finish")
        warnings.warn("renamed", ProtonWarning, stacklevel=1)
        return self.ending

    def is_empty(self) -> bool:
        return self.has_nothing

    def discard(self) -> None:
        self.calls.append("discard")

    def forget(self) -> None:
        self.calls.append("forget")

    def call_at_signal(self, function: Callable[[], None]) -> None:
        self.at_signal = function


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(profiled_run, "command_line", recorder)
    monkeypatch.setattr(profiled_run, "before_exit", lambda finish: None)
    return recorder


def new_run(*, is_child: bool = False) -> ProfiledRun:
    run = ProfiledRun(SessionRequest(), is_child=is_child)
    run.start("name")
    return run


def test_a_run_is_finished_once(recorder: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    run = new_run()
    run.finish()
    run.finish()
    assert recorder.calls == ["start name", "finish"]
    assert capsys.readouterr().err.splitlines() == [
        "proton: renamed",
        "proton: wrote /x.hatchet; see it with: proton-viewer /x.hatchet",
    ]


def test_another_process_does_not_finish_it(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    run.finish()
    assert recorder.calls == ["start name"]


def test_a_discarded_run_writes_nothing(recorder: Recorder) -> None:
    run = new_run()
    run.discard()
    run.finish()
    assert recorder.calls == ["start name", "discard"]


def test_a_child_with_nothing_to_show_leaves_nothing(
    recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder.has_nothing = True
    new_run(is_child=True).finish()
    assert recorder.calls == ["start name", "discard"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("succeeded", "may_fail", "is_child", "codes"),
    [
        (True, True, False, [1]),
        (False, True, False, []),
        (True, False, False, []),
        (True, True, True, []),
    ],
)
def test_a_profile_that_is_lost_fails_only_a_run_that_succeeded(
    succeeded: bool,
    may_fail: bool,
    is_child: bool,
    codes: list[int],
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exits: list[int] = []
    monkeypatch.setattr(os, "_exit", exits.append)
    monkeypatch.setattr("logging.shutdown", lambda: None)
    recorder.ending = Ending(error="disk full")
    run = new_run(is_child=is_child)
    run.target_succeeded = succeeded
    run.finish(may_fail=may_fail)
    assert exits == codes


def test_a_disabled_profiler_hands_the_flag_back(
    recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder.session = None
    new_run().finish()
    assert recorder.calls == ["start name", "forget"]
    assert "TRITON_PROTON_DISABLE is set" in capsys.readouterr().err
