from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from proton.files.source_text import TextState, is_program, read_source
from proton.model.sampling import SourceFile

CONTENT = b"a = 1\nb = 2\n"
SAME = SourceFile(hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "k.py"
    path.write_bytes(CONTENT)
    return path


def test_a_file_that_is_as_recorded_is_the_same(source: Path) -> None:
    text = read_source(str(source), SAME)
    assert (text.state, text.lines, text.remark) == (TextState.SAME, ("a = 1", "b = 2"), "")


def test_lines_are_counted_from_one(source: Path) -> None:
    text = read_source(str(source), SAME)
    assert (text.line(1), text.line(2)) == ("a = 1", "b = 2")
    assert (text.line(0), text.line(3)) == (None, None)


def test_a_file_of_another_size_has_changed(source: Path) -> None:
    text = read_source(str(source), replace(SAME, size=99))
    assert (text.state, text.remark) == (TextState.CHANGED, "99 bytes then, 12 now")
    assert text.line(1) == "a = 1"


def test_a_file_of_the_same_size_with_other_content_has_changed(source: Path) -> None:
    source.write_bytes(CONTENT.replace(b"1", b"3"))
    text = read_source(str(source), SAME)
    assert (text.state, text.remark) == (TextState.CHANGED, "same size, other content")


@pytest.mark.parametrize("recorded", [None, SourceFile(), SourceFile("", len(CONTENT))])
def test_without_a_hash_it_is_not_checked(source: Path, recorded: SourceFile | None) -> None:
    assert read_source(str(source), recorded).state is TextState.NOT_CHECKED


def test_a_file_that_is_not_there_is_gone(tmp_path: Path) -> None:
    text = read_source(str(tmp_path / "x.py"), SAME)
    assert (text.state, text.lines, text.remark) == (TextState.GONE, (), "no such file")


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_source(str(tmp_path / "pipe"), None).remark == "not a file"
    assert read_source(str(tmp_path), None).remark == "not a file"
    assert read_source("a\0b", None).state is TextState.GONE


def test_a_relative_path_is_looked_for_beside_the_profile(source: Path) -> None:
    beside = str(source.parent / "run.hatchet")
    assert read_source("k.py", SAME, beside).state is TextState.SAME


def test_bytes_that_are_no_text_do_not_stop_it(source: Path) -> None:
    source.write_bytes(b"\xff\xfe\n")
    assert len(read_source(str(source), None).lines) == 1


def test_programs_are_told_by_their_names() -> None:
    assert is_program("/a/kernel.py")
    assert is_program("kernel.CUH")
    assert not any(map(is_program, ("/etc/passwd", "id_rsa", ".env", "notes.txt", "", "x.py/.key")))
