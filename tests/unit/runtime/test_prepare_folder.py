"""Tests of what `start` sees to before hours of work depend on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proton.errors import WriteError
from proton.runtime.options import resolve, split_suffix
from proton.runtime.phase_files import prepare_folder
from proton.runtime.request import SessionRequest


def prepare(name: str) -> None:
    prepare_folder(resolve(SessionRequest(name, backend="interpreter")))


def test_a_missing_folder_is_made_and_nothing_else(tmp_cwd: Path) -> None:
    prepare("a/b/run")
    assert [path.relative_to(tmp_cwd) for path in tmp_cwd.rglob("*")] == [Path("a"), Path("a/b")]


def test_standard_output_and_links_to_devices_need_no_folder(tmp_cwd: Path) -> None:
    prepare("-")
    Path("run.hatchet").symlink_to("/dev/null")
    prepare("run")
    assert os.listdir() == ["run.hatchet"]


def test_a_folder_behind_a_link_that_leads_nowhere_is_made(tmp_cwd: Path) -> None:
    Path("run.hatchet").symlink_to("later/run.hatchet")
    prepare("run")
    assert Path("later").is_dir()


@pytest.mark.parametrize("name", ["file/run", "file/deeper/run", "/proc/run", "taken"])
def test_a_name_that_cannot_be_written_is_an_error(name: str, tmp_cwd: Path) -> None:
    Path("file").touch()
    Path("taken.hatchet").mkdir()
    with pytest.raises(WriteError, match=f"{name}.hatchet: the profile could not be written here"):
        prepare(name)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to any folder")
def test_a_read_only_folder_is_an_error(tmp_cwd: Path) -> None:
    Path("locked").mkdir(mode=0o500)
    with pytest.raises(WriteError, match="Permission denied"):
        prepare("locked/run")


def test_only_suffixes_of_formats_are_taken_off() -> None:
    assert split_suffix("a/run.pftrace") == ("a/run", "perfetto")
    assert split_suffix("a.hatchet/run") == ("a.hatchet/run", "")
    assert split_suffix("a/.hatchet") == ("a/.hatchet", "")
