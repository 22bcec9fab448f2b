"""Tests of what the index of a folder tells of recordings."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.files.growing import Recording, find_recordings
from proton.files.write import write_profile
from proton.render import folder_facts
from proton.render.folder_facts import Facts, FolderFacts
from tests.support.profiles import profile_of


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
    assert told["a.hatchet"] == Facts("NVIDIA H200", "1 080", "88.0 ms")
    assert told["b.hatchet"].problem.startswith(f"{folder}/b.hatchet: not a profile")


def test_a_sound_file_in_which_nothing_was_recorded_is_no_broken_one(folder: Path) -> None:
    write_profile(profile_of([(0, "ROOT", {})]), "a.hatchet")
    known = FolderFacts()
    known.learn(find_recordings(folder), 60)
    assert facts(known, folder)["a.hatchet"] == Facts("nothing was recorded")


def test_what_was_not_measured_is_empty(folder: Path) -> None:
    write_profile(profile_of([(0, "ROOT", {}), (1, "scope", {"tokens": 1})]), "a.hatchet")
    known = FolderFacts()
    known.learn(find_recordings(folder), 60)
    assert facts(known, folder)["a.hatchet"] == Facts("NVIDIA H200")


def test_a_file_is_read_once_and_again_when_it_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = folder_facts.facts_of

    def note(each: Recording) -> Facts:
        read.append(each.name)
        return real(each)

    monkeypatch.setattr(folder_facts, "facts_of", note)
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
    monkeypatch.setattr(folder_facts, "_MOST_BYTES", 10)
    assert known.learn(find_recordings(folder), 60) == 0
