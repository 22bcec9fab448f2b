"""Steps of autosave, with a clock of the test's: what is written when, and when not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.files.detect import open_profile
from proton.runtime import autosave
from proton.runtime.open_session import OpenSession
from proton.runtime.sessions import open_sessions
from tests.support.profiles import tree_in

pytestmark = pytest.mark.usefixtures("fake_gpu", "tmp_cwd")


class Clock:
    """Stands in for `time` in the module; the background thread is kept away."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(autosave, "time", clock)
    monkeypatch.setattr("proton.runtime.sessions.background.start", lambda **_: None)
    return clock


def start(**options: Any) -> OpenSession:
    proton.start("run", **options)
    (recording,) = open_sessions()
    return recording


def finish() -> None:
    proton.finalize()


def test_the_open_phase_is_saved_early_and_then_less_often(clock: Clock, fake_gpu: Any) -> None:
    recording = start()
    waits = []
    for _ in range(6):
        fake_gpu.launch("k")
        waits.append(recording.autosave.step())
        clock.now += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert os.listdir() == ["run.partial"]
    tree = tree_in(open_profile("run.partial"))
    assert tree.root.total("count") == 6
    finish()
    assert os.listdir() == ["run.hatchet"]


def test_nothing_new_is_not_saved_again(clock: Clock, fake_gpu: Any, tmp_cwd: Path) -> None:
    recording = start()
    recording.autosave.step()
    clock.now += 1
    recording.autosave.step()
    assert os.listdir() == []  # nothing was recorded at all
    fake_gpu.launch("k")
    clock.now += 10
    recording.autosave.step()
    before = (tmp_cwd / "run.partial").stat()
    clock.now += 10
    recording.autosave.step()
    assert (tmp_cwd / "run.partial").stat().st_ino == before.st_ino
    with proton.scope("s", {"x": 1}):
        pass
    clock.now += 10
    recording.autosave.step()
    assert (tmp_cwd / "run.partial").stat().st_ino != before.st_ino
    finish()


def test_a_save_that_takes_long_is_made_less_often(
    clock: Clock, fake_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = start()
    monkeypatch.setattr(
        "proton.runtime.autosave.Journal.save",
        lambda *_: setattr(clock, "now", clock.now + 2.0),
    )
    fake_gpu.launch("k")
    clock.now += 1
    assert recording.autosave.step() == autosave.SHARE * 2.0
    finish()


def test_a_phase_that_was_left_is_in_its_file_a_second_later(clock: Clock, fake_gpu: Any) -> None:
    recording = start()
    fake_gpu.launch("first")
    proton.data.advance_phase(recording.id)
    recording.autosave.step()
    assert os.listdir() == []
    clock.now += 1
    recording.autosave.step()
    assert os.listdir() == ["run.part_0.hatchet"]
    tree = tree_in(open_profile("run.part_0.hatchet"))
    assert tree.root.total("count") == 1
    fake_gpu.launch("second")
    finish()
    assert sorted(os.listdir()) == ["run.part_0.hatchet", "run.part_1.hatchet"]


def test_a_phase_that_is_cleared_takes_its_file_with_it(clock: Clock, fake_gpu: Any) -> None:
    recording = start()
    fake_gpu.launch("first")
    proton.data.advance_phase(recording.id)
    clock.now += 1
    recording.autosave.step()
    proton.data.clear(recording.id, 0)
    assert os.listdir() == []
    fake_gpu.launch("second")
    finish()
    assert os.listdir() == ["run.part_1.hatchet"]


def test_another_format_at_the_end_replaces_what_was_written_early(
    clock: Clock, fake_gpu: Any
) -> None:
    recording = start()
    fake_gpu.launch("first")
    proton.data.advance_phase(recording.id)
    clock.now += 1
    recording.autosave.step()
    fake_gpu.launch("second")
    proton.finalize(output_format="hatchet_msgpack")
    assert sorted(os.listdir()) == ["run.part_0.hatchet_msgpack", "run.part_1.hatchet_msgpack"]


def test_a_discarded_session_leaves_nothing(clock: Clock, fake_gpu: Any) -> None:
    recording = start()
    fake_gpu.launch("first")
    proton.data.advance_phase(recording.id)
    clock.now += 1
    recording.autosave.step()
    fake_gpu.launch("second")
    clock.now += 2
    recording.autosave.step()
    assert sorted(os.listdir()) == ["run.part_0.hatchet", "run.partial"]
    from proton.runtime.sessions import discard_sessions

    discard_sessions()
    assert os.listdir() == []


def test_the_journal_goes_on_only_once_the_phase_before_has_its_file(
    clock: Clock, fake_gpu: Any
) -> None:
    recording = start()
    fake_gpu.launch("first")
    clock.now += 1
    recording.autosave.step()
    proton.data.advance_phase(recording.id)
    fake_gpu.launch("second")
    clock.now += 0.5
    recording.autosave.step()
    assert open_profile("run.partial").phases == (0,)
    clock.now += 2
    recording.autosave.step()
    assert open_profile("run.partial").phases == (1,)
    finish()


def test_without_an_interval_there_is_no_journal(
    clock: Clock, fake_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTON_JOURNAL_INTERVAL", "0")
    recording = start()
    fake_gpu.launch("k")
    clock.now += 100
    recording.autosave.step()
    assert os.listdir() == []
    finish()


def test_a_full_disk_is_said_once_and_the_profile_is_written(
    clock: Clock, fake_gpu: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    recording = start()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("proton.runtime.autosave.Journal.save", fail)
        for _ in range(3):
            fake_gpu.launch("k")
            clock.now += 20
            recording.autosave.step()
    (record,) = caplog.records
    assert "run.partial: cannot write the journal: No space left on device" in record.getMessage()
    assert "PROTON_JOURNAL_INTERVAL=0" in record.getMessage()
    finish()
    assert os.listdir() == ["run.hatchet"]


def test_a_phase_that_cannot_be_written_is_tried_again_less_and_less_often(
    clock: Clock, fake_gpu: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PROTON_JOURNAL_INTERVAL", "0")
    recording = start()
    fake_gpu.launch("k")
    proton.data.advance_phase(recording.id)
    os.mkdir("run.part_0.hatchet")  # in the way
    clock.now += autosave.GIVE_UP_S + 1  # the phase counts as complete
    waits = []
    for _ in range(8):
        waits.append(recording.autosave.step())
        clock.now += waits[-1]
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    (record,) = caplog.records
    assert "run: phase 0 could not be written early: Is a directory" in record.getMessage()
    os.rmdir("run.part_0.hatchet")
    recording.autosave.step()
    assert open_profile("run.part_0.hatchet").phases == (0,)
    finish()


def test_a_session_on_standard_output_keeps_nobody_busy(clock: Clock, fake_gpu: Any) -> None:
    proton.start("-")
    (recording,) = open_sessions()
    fake_gpu.launch("k")
    proton.data.advance_phase(recording.id)
    clock.now += autosave.GIVE_UP_S + 1  # the phase counts as complete
    assert recording.autosave.step() == autosave.GIVE_UP_S
    finish()


def test_a_step_of_a_closed_session_is_harmless(clock: Clock, fake_gpu: Any) -> None:
    recording = start()
    fake_gpu.launch("k")
    finish()
    clock.now += 100
    assert recording.autosave.step() > 0
    assert os.listdir() == ["run.hatchet"]
