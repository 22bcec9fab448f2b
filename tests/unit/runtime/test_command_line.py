"""The session of the `proton` command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import UsageError
from proton.flags import flags
from proton.runtime import command_line, sessions
from proton.runtime.command_line import Ending
from proton.runtime.request import SessionRequest


@pytest.fixture(autouse=True)
def gpu(fake_gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_cwd / "temporary"))
    (tmp_cwd / "temporary").mkdir()
    return fake_gpu


def test_the_targets_start_answers_with_the_commands_session(gpu: Any) -> None:
    session = command_line.start(SessionRequest(name="run"))
    assert proton.start("other", context="python") == session
    assert len(sessions.open_sessions()) == 1
    command_line.discard()


def test_the_targets_finalize_does_nothing(gpu: Any, tmp_cwd: Path) -> None:
    command_line.start(SessionRequest(name="run"))
    gpu.launch("k")
    proton.finalize()
    proton.finalize(0)
    assert list(tmp_cwd.glob("*.hatchet")) == []
    command_line.finish()
    assert (tmp_cwd / "run.hatchet").exists()


def test_the_target_can_pause_the_session_it_was_given(gpu: Any, profile_of: Any) -> None:
    command_line.start(SessionRequest(name="run"))
    session = proton.start()
    proton.deactivate(session)
    gpu.launch("paused")
    proton.activate(session)
    gpu.launch("k")
    command_line.finish()
    assert profile_of("run.hatchet").paths() == ["k"]


def test_a_profiled_function_of_the_target_does_not_pause_the_session(
    gpu: Any, profile_of: Any
) -> None:
    command_line.start(SessionRequest(name="run"))
    proton.profile(lambda: gpu.launch("inside"))()
    gpu.launch("outside")
    command_line.finish()
    assert profile_of("run.hatchet").paths() == ["inside", "outside"]


def test_the_ending_names_what_was_written(gpu: Any, tmp_cwd: Path) -> None:
    command_line.start(SessionRequest(name="run", output_format="hatchet_msgpack"))
    gpu.launch("k")
    assert command_line.finish() == Ending(paths=(str(tmp_cwd / "run.hatchet_msgpack"),))
    assert not flags.command_line


def test_the_ending_says_why_nothing_was_captured(gpu: Any) -> None:
    command_line.start(SessionRequest(name="run"))
    assert command_line.is_empty()
    ending = command_line.finish()
    assert ending.is_empty
    assert ending.missed == ""  # there was nothing to miss


def test_the_ending_tells_what_an_empty_session_missed(gpu: Any) -> None:
    command_line.start(SessionRequest(name="run"))
    (recording,) = sessions.open_sessions()
    recording.native.count_loss("dropped_event", 3)
    recording.native.warn("another tool took it")
    ending = command_line.finish()
    assert ending.missed == (
        "all that was seen was lost: 3 dropped_event; the session was warned: another tool took it"
    )


def test_the_ending_tells_of_a_fallback(gpu: Any, tmp_cwd: Path) -> None:
    command_line.start(SessionRequest(name="missing/run"))
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    ending = command_line.finish()
    assert "missing/run.hatchet: cannot write the profile: " in ending.error
    assert Path(ending.paths[0]).exists()


def test_the_ending_tells_of_every_phase_that_went_elsewhere(gpu: Any, tmp_cwd: Path) -> None:
    session = command_line.start(SessionRequest(name="missing/run"))
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    proton.data.advance_phase(session)
    gpu.launch("k")
    lines = command_line.finish().error.splitlines()
    assert ["run.part_0.hatchet: cannot write" in line for line in lines] == [True, False]
    assert ["run.part_1.hatchet: cannot write" in line for line in lines] == [False, True]


def test_the_ending_counts_losses(gpu: Any) -> None:
    command_line.start(SessionRequest(name="run"))
    gpu.launch("k")
    gpu.sinks[0].count_loss("dropped", 3)
    assert command_line.finish().losses == {"dropped": 3}


def test_a_discarded_session_writes_nothing(gpu: Any, tmp_cwd: Path) -> None:
    command_line.start(SessionRequest(name="run"))
    gpu.launch("k")
    command_line.discard()
    assert list(tmp_cwd.glob("*.hatchet")) == []
    assert not flags.command_line


def test_a_format_that_does_not_suit_is_refused_before_the_target_runs() -> None:
    with pytest.raises(UsageError, match="'chrome_trace' cannot hold a tree session"):
        command_line.start(SessionRequest(name="run", output_format="chrome_trace"))
    assert sessions.open_sessions() == []


def test_a_refused_start_leaves_start_to_the_target(gpu: Any) -> None:
    with pytest.raises(UsageError):
        command_line.start(SessionRequest(name="run", backend="x"))
    assert not flags.command_line


def test_forgetting_gives_start_back_to_a_forked_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "command_line", True)
    command_line.forget()
    assert not flags.command_line


def test_a_disabled_profiler_leaves_the_target_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_PROTON_DISABLE", "1")
    assert command_line.start(SessionRequest(name="run")) is None
    assert proton.start("other") is None
    assert command_line.finish() == Ending()


def test_an_empty_profile_leaves_an_earlier_one_where_that_is_asked(
    gpu: Any, tmp_cwd: Path
) -> None:
    earlier = tmp_cwd / "run.hatchet"
    earlier.write_text("earlier")
    command_line.start(SessionRequest(name="run"))
    assert command_line.finish(keeps_earlier=True) == Ending(is_empty=True, kept=str(earlier))
    assert earlier.read_text() == "earlier"
    command_line.start(SessionRequest(name="run"))
    gpu.launch("k")
    assert command_line.finish(keeps_earlier=True) == Ending(paths=(str(earlier),))
