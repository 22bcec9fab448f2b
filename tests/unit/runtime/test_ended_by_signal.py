"""What a session does when a signal ends its process, without the signal."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.files.detect import open_profile
from proton.runtime.autosave import Journal
from proton.runtime.sessions import open_sessions
from tests.support.native import MakeSession
from tests.support.profiles import tree_in


def test_the_profile_says_which_signal_it_was(session: int, gpu: Any) -> None:
    (opened,) = open_sessions()
    assert "ended_by" not in opened.common_header(0)
    gpu.launch("k")
    opened.end_by_signal(signal.SIGHUP, 3.0)
    assert opened.flush_limit_s == 3.0
    proton.finalize()
    profile = open_profile("run.hatchet")
    assert profile.header.ended_by == "SIGHUP"
    assert profile.warnings == (
        "the program was ended by SIGHUP; scopes that were open have their time until then",
    )


def test_an_open_timed_scope_has_its_time_until_the_session_ends_or_pauses(
    session: int, gpu: Any
) -> None:
    with proton.scope("outer"), proton.cpu_timed_scope("open"):
        time.sleep(0.02)
        proton.deactivate(session)
        time.sleep(0.5)
        proton.activate(session)
        time.sleep(0.02)
        proton.finalize()
    tree = tree_in(open_profile("run.hatchet"))
    row = next(row for row, frame in enumerate(tree.frames) if frame.name == "open")
    assert 0.04e9 <= float(tree.own[row]["cpu_time (ns)"]) < 0.5e9  # type: ignore[arg-type]


def test_journals_that_a_child_wrote_go_when_there_is_a_profile(
    tmp_path: Path, make_session: MakeSession
) -> None:
    journal = Journal(str(tmp_path / "run"), session="run", data="tree", output_format="hatchet")
    journal.prepare_rescue(make_session(), {"format": 1}, [])
    (tmp_path / "run.partial").touch()
    journal.adopt_rescue(0)
    journal.remove()
    assert os.listdir(tmp_path) == []


def test_parts_that_a_child_wrote_are_not_taken_for_anothers(session: int, gpu: Any) -> None:
    (opened,) = open_sessions()
    for _ in range(2):
        gpu.launch("k")
        proton.data.advance_phase(session)
    Path("run.part_0.hatchet").touch()
    spare = Path(f"run.pid_{os.getpid()}.part_1.hatchet")
    spare.touch()
    opened.autosave.adopt_rescue()
    gpu.launch("k")
    proton.finalize()
    assert sorted(os.listdir()) == [f"run.part_{phase}.hatchet" for phase in range(3)]
    assert tree_in(open_profile("run")).root.total("count") == 3


@pytest.mark.parametrize("has_journal", [True, False])
def test_sessions_hand_it_on_to_their_journal(
    has_journal: bool, session: int, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (opened,) = open_sessions()
    if not has_journal:
        opened.autosave.end()
    Path("run.partial").touch()
    opened.autosave.adopt_rescue()
    opened.autosave.end()
    assert Path("run.partial").exists() is not has_journal
