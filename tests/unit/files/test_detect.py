"""Opening a path, whatever is there."""

from __future__ import annotations

import gc
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from proton.errors import FormatError
from proton.files import detect
from proton.files.detect import open_phases, open_profile
from proton.files.journal.format import facts_of_process, pack_facts
from proton.files.write import write_profile
from proton.model.profile import TraceProfile, TreeProfile
from tests.support.profiles import tree_in

DATA = Path(__file__).parents[2] / "data"


def refusal(path: str | Path) -> str:
    with pytest.raises(FormatError) as caught:
        open_profile(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "name",
    ["gpt.hatchet", "gpt.hatchet_msgpack", "activity.chrome_trace", "proton_trace.pftrace"],
)
def test_the_content_says_the_format_not_the_name(name: str, tmp_path: Path) -> None:
    shutil.copy(DATA / name, tmp_path / "renamed.txt")
    profile = open_profile(tmp_path / "renamed.txt")
    assert isinstance(profile, TraceProfile) is name.endswith("trace")


def test_a_profile_knows_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    assert open_profile("gpt.hatchet").source == "gpt.hatchet"


def test_the_suffix_may_be_left_out() -> None:
    whole = tree_in(open_profile(DATA / "interpreter.hatchet"))
    assert tree_in(open_profile(DATA / "interpreter")) == whole


@pytest.mark.parametrize("name", ["train.part_0.hatchet", "train.part_3.hatchet", "train.hatchet"])
def test_parts_are_read_as_one_profile_with_the_gap_said(name: str) -> None:
    profile = open_profile(DATA / name)
    assert isinstance(profile, TreeProfile)
    step = profile.tree.root.child("step")
    assert step.own == {"loss": 0.25, "tokens": 3072}
    assert step.child("matmul").own["time (ns)"] == 3004
    assert profile.phases == (0, 1, 3)
    assert profile.losses == {"late_records": 1}  # of the session, said in each part
    assert profile.warnings == ("1 of 4 parts are missing: phase 2",)
    assert profile.source == str(DATA / name)


def test_phases_are_read_one_by_one() -> None:
    assert [phase.phases for phase in open_phases(DATA / "train.hatchet")] == [(0,), (1,), (3,)]
    assert open_phases(DATA / "gpt.hatchet") == []


@pytest.mark.parametrize("suffix", ["hatchet", "hatchet_msgpack", "chrome_trace", "pftrace"])
def test_parts_that_an_earlier_run_left_are_not_mixed_in(suffix: str, tmp_path: Path) -> None:
    source = "proton_tree.hatchet" if suffix.startswith("hatchet") else "proton_trace.pftrace"
    profile = open_profile(DATA / source)
    for phase, started in enumerate((2, 2, 1, 1)):
        header = replace(profile.header, start_time_ns=started)
        part = replace(profile, header=header, phases=(phase,))
        write_profile(part, tmp_path / f"run.part_{phase}.{suffix}")
    newest, asked = open_profile(tmp_path / "run"), tmp_path / f"run.part_3.{suffix}"
    assert newest.phases == (0, 1)
    [text] = newest.warnings
    left_out = f"{tmp_path}/run.part_2.{suffix}, {tmp_path}/run.part_3.{suffix}"
    assert text == f"left out: {left_out}: of another run; name a part of it to see that run"
    assert open_profile(asked).phases == (2, 3)
    assert [phase.phases for phase in open_phases(asked)] == [(2,), (3,)]


def test_a_whole_file_goes_before_parts_of_the_same_name(tmp_path: Path) -> None:
    for name in ("train.part_0.hatchet", "train.part_1.hatchet"):
        shutil.copy(DATA / name, tmp_path)
    shutil.copy(DATA / "gpt.hatchet", tmp_path / "train.hatchet")
    assert open_profile(tmp_path / "train.hatchet").header.session == "gpt"


def test_a_bad_part_is_named_itself(tmp_path: Path) -> None:
    shutil.copy(DATA / "train.part_0.hatchet", tmp_path)
    (tmp_path / "train.part_1.hatchet").write_bytes(b"junk")
    assert refusal(tmp_path / "train.hatchet").startswith(f"{tmp_path}/train.part_1.hatchet: not a")


def test_parts_of_different_kinds_are_refused(tmp_path: Path) -> None:
    shutil.copy(DATA / "train.part_0.hatchet", tmp_path)
    shutil.copy(DATA / "activity.chrome_trace", tmp_path / "train.part_1.hatchet")
    assert refusal(tmp_path / "train.hatchet").endswith("parts are trees and some are traces")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no.hatchet") == f"{tmp_path}/no.hatchet: no such file"


@pytest.mark.parametrize("name", ["run", "run.hatchet"])
def test_a_file_that_was_not_written_is_looked_for_in_its_journal(
    tmp_path: Path, name: str
) -> None:
    facts = facts_of_process()
    (tmp_path / "run.partial").write_bytes(pack_facts(facts))
    assert refusal(tmp_path / name).endswith(
        f"no such file; process {facts['pid']} is still recording it: open {tmp_path}/run.partial"
    )
    (tmp_path / "run.partial").write_bytes(pack_facts({**facts, "process_start": 1}))
    assert refusal(tmp_path / name).endswith(
        f"no such file; its process was killed: proton recover {tmp_path}/run"
    )


@pytest.mark.parametrize("name", ["run.csv", "run.pprof", "run.speedscope.json"])
def test_a_file_for_other_tools_is_said_to_be_one(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{}")
    assert "is for other tools, which proton only writes; open the" in refusal(tmp_path / name)


def test_parts_say_that_another_phase_is_in_the_journal(tmp_path: Path) -> None:
    for name in ("train.part_0.hatchet", "train.part_1.hatchet"):
        shutil.copy(DATA / name, tmp_path)
    pid = open_profile(tmp_path / "train").header.pid
    journal = tmp_path / "train.partial"
    said = "phase 2 is not in it, but in train.partial: proton recover writes it"
    journal.write_bytes(pack_facts({"pid": pid, "phase": 2}))
    assert said in open_profile(tmp_path / "train").warnings
    for other in ({"pid": pid, "phase": 1}, {"pid": -1, "phase": 2}):
        journal.write_bytes(pack_facts(other))
        assert open_profile(tmp_path / "train").warnings == ()


def test_a_directory_is_said(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path}: a directory, not a profile"


def test_a_device_is_said_and_not_read_for_ever() -> None:
    assert refusal("/dev/zero") == "/dev/zero: a device, not a file"


def test_a_file_that_memory_does_not_hold_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(detect, "read_profile", full)
    path = DATA / "root_only.hatchet"
    assert refusal(path) == f"{path}: too large for the memory of this machine (72 bytes)"


def test_a_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert refusal(tmp_path / "f" / "a.hatchet").startswith(f"{tmp_path}/f/a.hatchet: ")


def test_a_file_that_may_not_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()

    def deny(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", deny)  # the superuser would be let in
    assert refusal(tmp_path / "a") == f"{tmp_path}/a: cannot be read: Permission denied"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, ""])
def test_a_path_that_cannot_be_one_is_said(path: str) -> None:
    refusal(path)


def test_bytes_are_no_path() -> None:
    assert refusal(os.fsencode(DATA / "gpt.hatchet")).endswith("not a path")  # type: ignore[arg-type]


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_is_as_it_was_even_after_an_error(is_enabled: bool, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"[")
    before = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        refusal(tmp_path / "bad")
        assert gc.isenabled() is is_enabled
        open_profile(DATA / "gpt.hatchet")
        assert gc.isenabled() is is_enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_dash_says_how_standard_input_is_read(tmp_cwd: Path) -> None:
    with pytest.raises(FormatError, match=r"^-: no such file; .* name it /dev/stdin$"):
        open_profile("-")
