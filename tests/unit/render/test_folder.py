"""Tests of the index of a folder, and of what it tells of recordings."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from proton.files.growing import StoredProfile, find_recordings
from proton.files.write import write_profile
from proton.render.server import folder as folder_module
from proton.render.server.folder import Facts, FolderFacts, folder_data
from proton.render.server.site import folder_element
from tests.support.profiles import Row, profile_of


def write(path: str, time_ns: int = 5, count: int = 2, contexts: int = 1) -> None:
    rows = [(1, f"k{at}", {"time (ns)": time_ns, "count": count}) for at in range(contexts)]
    write_profile(profile_of([(0, "ROOT", {}), *rows]), path)


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path) -> Path:
    return tmp_cwd


def facts(known: FolderFacts, folder: Path) -> dict[str, Facts]:
    return {each.name: known.of(each) for each in find_recordings(folder)}


def test_device_runs_and_time_are_told(folder: Path) -> None:
    write("a.hatchet", 88_000_000, 1080)
    Path("b.hatchet").write_text("hello")
    known = FolderFacts()
    assert facts(known, folder) == {"a.hatchet": Facts(), "b.hatchet": Facts()}
    assert known.learn(find_recordings(folder), 60) == 2
    told = facts(known, folder)
    assert told["a.hatchet"] == Facts("NVIDIA H200", 1080, 88_000_000, note="")
    assert told["b.hatchet"].problem.startswith(f"{folder}/b.hatchet: not a profile")


def test_autotuning_is_left_out(folder: Path) -> None:
    tried, ran = {"time (ns)": 90, "count": 9}, {"time (ns)": 10, "count": 1}
    rows: list[Row] = [(0, "ROOT", {}), (1, "<autotune>", {}), (2, "k", tried), (1, "k", ran)]
    write_profile(profile_of(rows), "a.hatchet")
    known = FolderFacts()
    known.learn(find_recordings(folder), 60)
    told = facts(known, folder)["a.hatchet"]
    assert (told.kernels, told.time_ns) == (1, 10)


def test_a_sound_file_in_which_nothing_was_recorded_is_no_broken_one(folder: Path) -> None:
    write_profile(profile_of([(0, "ROOT", {})]), "a.hatchet")
    known = FolderFacts()
    known.learn(find_recordings(folder), 60)
    assert facts(known, folder)["a.hatchet"] == Facts(note="nothing was recorded")


def test_what_was_not_measured_is_empty(folder: Path) -> None:
    write_profile(profile_of([(0, "ROOT", {}), (1, "scope", {"tokens": 1})]), "a.hatchet")
    known = FolderFacts()
    known.learn(find_recordings(folder), 60)
    assert facts(known, folder)["a.hatchet"] == Facts("NVIDIA H200", note="")


def test_a_file_is_read_once_and_again_when_it_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = folder_module.facts_of

    def note(each: StoredProfile) -> Facts:
        read.append(each.name)
        return real(each)

    monkeypatch.setattr(folder_module, "facts_of", note)
    write("a.hatchet")
    write("b.hatchet", contexts=3)
    known = FolderFacts()
    for _ in range(3):
        known.learn(find_recordings(folder), 60)
    assert read == ["a.hatchet", "b.hatchet"]  # the small one first
    write("b.hatchet", 7)
    known.learn(find_recordings(folder), 60)
    assert read[2:] == ["b.hatchet"]
    Path("a.hatchet").unlink()
    assert known.learn(find_recordings(folder), 60) == 1


def test_no_more_time_is_taken_than_was_given(folder: Path) -> None:
    write("a.hatchet")
    known = FolderFacts()
    assert known.learn(find_recordings(folder), -1) == 0
    assert known.learn(find_recordings(folder), 60) == 1


def test_large_files_and_what_others_read_just_now_are_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.hatchet")
    known = FolderFacts()
    with known._learning:
        assert known.learn(find_recordings(folder), 60) == 0
    monkeypatch.setattr(folder_module, "_MOST_BYTES", 10)
    assert known.learn(find_recordings(folder), 60) == 0


def touch(name: str, changed_s: int, size: int = 10) -> None:
    Path(name).write_bytes(b"x" * size)
    os.utime(name, (changed_s, changed_s))


def test_recordings_stand_by_date_newest_first(folder: Path) -> None:
    touch("old.hatchet", 1_700_000_000)
    touch("new.chrome_trace", 1_800_000_000, 1_234_567)
    touch("mid.part_0.hatchet", 1_750_000_000, 999_600)
    touch("mid.part_1.hatchet", 1_750_000_001, 1)
    rows = folder_data(folder, find_recordings(folder)).rows
    assert [(row.link, row.kind, row.size_bytes, row.changed_s) for row in rows] == [
        ("new.chrome_trace", "trace", 1_234_567, 1_800_000_000),
        ("mid", "tree, 2 phases", 999_601, 1_750_000_001),
        ("old.hatchet", "tree", 10, 1_700_000_000),
    ]


def test_names_are_text_and_nothing_else(folder: Path) -> None:
    name = "</script><img src=x onerror='alert(1)'>\u202e.hatchet".replace("/", "")
    touch(name, 1)
    data = folder_data(folder, find_recordings(folder))
    text = folder_element(data)
    assert text.count("<") == 2, "those of the element itself"
    assert "\u202e" not in text
    assert "\\u003cimg" in text
    assert re.fullmatch(r"[\w.%-]+", data.rows[0].link)


def test_a_name_that_is_no_text_has_a_link(folder: Path) -> None:
    os.close(os.open(os.fsencode(folder) + b"/\xff.hatchet", os.O_CREAT | os.O_WRONLY))
    data = folder_data(folder, find_recordings(folder))
    assert data.rows[0].link == "%FF.hatchet"
    folder_element(data).encode()


def test_a_folder_that_was_emptied_or_is_gone_says_so(folder: Path) -> None:
    assert folder_data(folder, []).problem == "This folder no longer holds a profile."
    assert folder_data(folder, [], problem="gone: cannot be <read>").problem.startswith("gone: ")


def test_facts_of_recordings_stand_beside_them(folder: Path) -> None:
    touch("a.hatchet", 1)
    known = Facts("<H200>", 1080, 88e6)
    (row,) = folder_data(folder, find_recordings(folder), lambda _: known).rows
    assert (row.device, row.kernels, row.time_ns, row.problem) == ("<H200>", 1080, 88e6, "")
    broken = Facts(problem='a "b"')
    (row,) = folder_data(folder, find_recordings(folder), lambda _: broken).rows
    assert row.problem == 'a "b"'


def test_a_profile_without_numbers_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.hatchet")
    (row,) = folder_data(folder, find_recordings(folder)).rows
    assert row.note == "not read yet"
    monkeypatch.setattr(folder_module, "_MOST_BYTES", 10)
    (row,) = folder_data(folder, find_recordings(folder)).rows
    assert row.note == "large: open it for its numbers"
