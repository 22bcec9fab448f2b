"""Tests of which targets are refused, and how; whole runs are tested with processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proton.cli.target import Target, absolute, no_module
from proton.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(name: str, *, is_module: bool = False) -> str:
    with pytest.raises(UsageError) as caught:
        Target(name, is_module=is_module).check()
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_a_file_with_the_suffix_is_accepted_whatever_it_holds(folder: Path) -> None:
    (folder / "s.py").write_bytes(b"\xff\x00")
    Target("s.py").check()


def test_a_file_whose_first_line_starts_python_is_accepted(folder: Path) -> None:
    (folder / "tool").write_text("#!/usr/bin/env python3\n")
    Target("tool").check()


def test_another_file_is_refused(folder: Path) -> None:
    (folder / "tool").write_text("#!/bin/sh\npython\n")
    assert refusal("tool").startswith("tool: is not a Python file")


def test_a_missing_script_is_refused_with_the_folder_it_was_sought_in(folder: Path) -> None:
    assert refusal("a/s.py") == (
        f"a/s.py: no such file (working directory: {folder}); check the path"
    )


def test_a_bare_word_is_told_what_targets_there_are() -> None:
    assert "a target is a script, 'pytest' or '--module MODULE'" in refusal("torch-run")


def test_the_name_of_a_module_is_told_the_flag() -> None:
    assert refusal("json").endswith("to run the module of that name: proton --module json")


def test_a_directory_is_refused() -> None:
    assert refusal("/").startswith("/: is a directory, not a script")


def test_a_name_that_no_file_can_have_is_refused() -> None:
    assert "no file can have this name" in refusal("a\0.py")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(folder: Path) -> None:
    (folder / "s.py").touch(0o000)
    assert refusal("s.py") == "s.py: cannot be read: Permission denied"


def test_a_module_beside_the_user_is_found(folder: Path) -> None:
    (folder / "beside.py").touch()
    Target("beside", is_module=True).check()


def test_looking_for_a_module_does_not_run_it(folder: Path) -> None:
    (folder / "raising").mkdir()
    (folder / "raising" / "__init__.py").write_text("raise SystemExit('was run')")
    Target("raising.tool", is_module=True).check()


def test_an_unknown_module_is_refused() -> None:
    assert refusal("no_such.tool", is_module=True).startswith("no module named 'no_such.tool'")


@pytest.mark.parametrize("name", ["tools/run.py", "a..b", "", "a-b"])
def test_what_is_no_module_name_is_refused(name: str) -> None:
    assert "is not a module name" in refusal(name, is_module=True)


def test_missing_pytest_has_a_remedy_of_its_own() -> None:
    assert no_module("pytest").endswith("install it: pip install pytest")


def test_a_working_directory_that_is_gone_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert refusal("/s.py").startswith("the working directory does not exist any more")


@pytest.mark.parametrize("path", ["s.py", "./s.py", "../x/s.py"])
def test_a_path_is_made_absolute_as_python_does_it(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute(path) == f"{tmp_path}/{path}"


def test_an_absolute_path_is_left_alone() -> None:
    assert absolute("/a/../s.py") == "/a/../s.py"


def test_the_root_folder_gives_no_double_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert absolute("s.py") == "/s.py"


def test_a_command_behind_two_dashes_is_told_so(tmp_cwd: Path) -> None:
    with pytest.raises(UsageError, match="the command 'report' is not written after '--'"):
        Target("report").check()
