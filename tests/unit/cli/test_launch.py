"""Tests of the pieces of a launch; whole launches are compared with Python's own elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.cli.launch import absolute


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
