"""Tests of recordings as they lie in a folder, whole or still being written."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError, StillGrowing
from proton.files.growing import find_recording, find_recordings, open_growing, stamp
from proton.files.journal.format import DATA, facts_of_process, pack_chunk, pack_facts
from proton.files.write import write_profile
from proton.model.profile import Header, TreeProfile
from tests.support.profiles import profile_of, tree_in


def write(path: str, time_ns: int = 5, pid: int = 1, **times: Any) -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns})])
    write_profile(replace(profile, header=Header(pid=pid, proton_version="0.1.0", **times)), path)


def write_journal(
    path: str, phase: int, time_ns: int, *, is_alive: bool = True, **times: Any
) -> None:
    """A journal of this process, or of one that is no more."""
    write("chunk.hatchet_msgpack", time_ns, os.getpid(), **times)
    facts = {**facts_of_process(), "phase": phase, "data": "tree"}
    if not is_alive:
        facts["process_start"] = 1
    content = Path("chunk.hatchet_msgpack").read_bytes()
    Path("chunk.hatchet_msgpack").unlink()
    Path(path).write_bytes(pack_facts(facts) + pack_chunk(DATA, content))


def time_of(name: str) -> object:
    tree = tree_in(open_growing(find_recording(name)))
    return tree.own[1]["time (ns)"]


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path) -> Path:
    return tmp_cwd


def test_a_folder_lists_files_sessions_and_journals_and_nothing_else(folder: Path) -> None:
    for name in ("b.hatchet", "a.chrome_trace", "s.part_0.hatchet", "s.part_10.hatchet"):
        write(name) if name.endswith("hatchet") else Path(name).write_text('{"traceEvents":[]}')
    write("s.part_2.hatchet")
    write_journal("s.partial", 11, 5)
    write_journal("j.partial", 0, 5)
    Path("notes.txt").touch()
    Path("flat.speedscope.json").touch()
    Path("d.hatchet").mkdir()
    found = {each.name: [path.name for path in each.files] for each in find_recordings(folder)}
    assert found == {
        "a.chrome_trace": ["a.chrome_trace"],
        "b.hatchet": ["b.hatchet"],
        "j": ["j.partial"],
        "s": ["s.part_0.hatchet", "s.part_2.hatchet", "s.part_10.hatchet", "s.partial"],
    }


def test_links_that_lead_out_of_the_folder_are_left_out(folder: Path) -> None:
    inside = folder / "inside"
    inside.mkdir()
    write("outside.hatchet")
    write("inside/real.hatchet")
    (inside / "link.hatchet").symlink_to(folder / "outside.hatchet")
    (inside / "s.part_0.hatchet").symlink_to(folder / "outside.hatchet")
    (inside / "gone.hatchet").symlink_to(folder / "nowhere.hatchet")
    (inside / "own.hatchet").symlink_to("real.hatchet")
    names = [each.name for each in find_recordings(inside)]
    assert names == ["own.hatchet", "real.hatchet"]


def test_a_folder_that_cannot_be_read_is_one_line(folder: Path) -> None:
    with pytest.raises(FormatError, match=r"nowhere: cannot be read: No such file"):
        find_recordings(folder / "nowhere")


@pytest.mark.parametrize("name", ["run", "run.hatchet", "run.part_1.hatchet", "run.partial"])
def test_a_session_under_way_is_its_phases_and_its_journal(name: str) -> None:
    write("run.part_0.hatchet", 10, os.getpid())
    write("run.part_1.hatchet", 20, os.getpid())
    write_journal("run.partial", 2, 100)
    recording = find_recording(name)
    assert recording.is_open
    assert recording.stem == "run"
    assert time_of(name) == 130
    assert any("still running" in text for text in open_growing(recording).warnings)


def test_phases_of_an_earlier_run_do_not_count() -> None:
    write("run.part_0.hatchet", 10, os.getpid())
    write("run.part_1.hatchet", 20, pid=1)
    write("run.part_2.hatchet", 40, pid=1)
    write_journal("run.partial", 2, 100)
    assert time_of("run") == 110
    assert "1 of 3 parts are missing: phase 1" in open_growing(find_recording("run")).warnings


def test_phases_that_were_written_after_the_journal_count() -> None:
    for phase, time_ns in enumerate((10, 20, 40)):
        write(f"run.part_{phase}.hatchet", time_ns, os.getpid(), end_time_ns=9)
    write_journal("run.partial", 1, 15, end_time_ns=5)
    assert time_of("run") == 70
    [text] = open_growing(find_recording("run")).warnings
    assert text.endswith("data up to 1970-01-01 00:00:00.000 UTC")
    write_journal("run.partial", 1, 25, end_time_ns=11)
    assert time_of("run") == 75


def test_without_a_journal_the_newest_run_counts() -> None:
    for phase, started in enumerate((2, 2, 1)):
        write(f"run.part_{phase}.hatchet", 10, start_time_ns=started)
    assert time_of("run") == 20
    [text] = open_growing(find_recording("run")).warnings
    assert text.startswith("left out: run.part_2.hatchet: of another run")


def test_a_whole_file_comes_before_a_journal_and_old_parts() -> None:
    write("run.part_0.hatchet", 10)
    write_journal("run.partial", 1, 100, is_alive=False)
    assert not find_recording("run").is_open
    write("run.hatchet", 7)
    assert time_of("run") == 7
    assert time_of("run.hatchet") == 7


def test_what_is_cut_of_a_session_is_left_out_and_said() -> None:
    for phase in range(2):
        write(f"run.part_{phase}.hatchet", 10)
    path = Path("run.part_1.hatchet")
    path.write_bytes(path.read_bytes()[:-30])
    os.utime(path, (1, 1))
    profile = open_growing(find_recording("run"))
    assert isinstance(profile, TreeProfile)
    assert profile.tree.own[1]["time (ns)"] == 10
    [text] = profile.warnings
    assert text.startswith("left out: run.part_1.hatchet: truncated")
    assert text.endswith("it was cut: copy or record it again")


@pytest.mark.parametrize("kept", [0, 40])
def test_a_file_that_ends_in_the_middle_grows_or_was_cut(kept: int) -> None:
    write("run.hatchet")
    path = Path("run.hatchet")
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(StillGrowing, match="it is still being written: look again"):
        time_of("run")
    os.utime(path, (1, 1))
    with pytest.raises(FormatError, match="it was cut: copy or record it again") as caught:
        time_of("run")
    assert not isinstance(caught.value, StillGrowing)


def test_what_is_no_profile_says_nothing_of_growing() -> None:
    Path("run.hatchet").write_text("hello")
    with pytest.raises(FormatError, match="not a profile") as caught:
        time_of("run")
    assert not isinstance(caught.value, StillGrowing)


def test_a_tree_and_a_trace_are_not_one_session() -> None:
    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": []}
    Path("run.part_0.hatchet").write_text(json.dumps([root, {}]))
    Path("run.part_1.hatchet").write_text('{"traceEvents":[]}')
    with pytest.raises(FormatError, match="some of its parts are trees and some are traces"):
        time_of("run")


def test_a_session_of_which_nothing_can_be_read_says_why() -> None:
    Path("run.part_0.hatchet").write_text("hello")
    with pytest.raises(FormatError, match=r"run\.part_0\.hatchet: not a profile"):
        time_of("run")


def test_a_missing_recording_is_one_line() -> None:
    with pytest.raises(FormatError, match=r"^gone\.hatchet: no such file$"):
        find_recording("gone.hatchet")


def test_the_stamp_changes_with_every_change_of_a_file() -> None:
    write("run.hatchet")
    recording = find_recording("run")
    first = stamp(recording)
    assert stamp(recording) == first
    write("run.hatchet")  # the same bytes under a new name, moved there
    second = stamp(recording)
    assert second != first
    Path("run.hatchet").unlink()
    assert stamp(recording) == ()
