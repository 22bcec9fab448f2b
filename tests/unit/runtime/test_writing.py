"""Where phases are written, and what happens where they cannot be."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proton import _native
from proton.errors import WriteError
from proton.runtime import phase_files
from proton.runtime.phase_files import PhaseContent

HEADER: dict[str, object] = {"format": 1}


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_native.Session]:
    """A session with one kernel in it; fallbacks go below `tmp_path`."""
    (tmp_path / "fallback").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "fallback"))
    session = _native.Session(900, context="shadow", data="tree")
    session.activate()
    session.on_kernel("kernel", 1, 2, device_type="FAKE", device_id=0)
    yield session
    session.close()


def write(native: _native.Session, stem: Path, output_format: str = "hatchet") -> str:
    return PhaseContent(native, output_format, 0, HEADER).write(str(stem), None)


def has_kernel(path: str | Path) -> bool:
    return bool(json.loads(Path(path).read_text())[0]["children"][0]["frame"]["name"] == "kernel")


def test_a_phase_is_written_to_its_file(native: _native.Session, tmp_path: Path) -> None:
    path = write(native, tmp_path / "run")
    assert path == str(tmp_path / "run.hatchet")
    assert has_kernel(path)


def test_nothing_but_the_file_is_left(native: _native.Session, tmp_path: Path) -> None:
    write(native, tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fallback", "run.hatchet"]


def test_an_older_file_is_replaced(native: _native.Session, tmp_path: Path) -> None:
    (tmp_path / "run.hatchet").write_text("old")
    assert has_kernel(write(native, tmp_path / "run"))


def test_a_link_stays_a_link(native: _native.Session, tmp_path: Path) -> None:
    (tmp_path / "run.hatchet").symlink_to(tmp_path / "target")
    write(native, tmp_path / "run")
    assert (tmp_path / "run.hatchet").is_symlink()
    assert has_kernel(tmp_path / "target")


def failure(native: _native.Session, stem: Path) -> WriteError:
    with pytest.raises(WriteError) as caught:
        write(native, stem)
    return caught.value


def check_rescue(error: WriteError, path: Path, reason: str) -> None:
    """The error names the path first, why, and a fallback file that holds the profile."""
    assert error.rescued_to is not None
    assert str(error) == (
        f"{path}: cannot write the profile: {reason}; "
        f"it was written to {error.rescued_to!r} instead"
    )
    assert isinstance(error, OSError)
    assert has_kernel(error.rescued_to)


def test_a_missing_folder_is_told_and_the_profile_rescued(
    native: _native.Session, tmp_path: Path
) -> None:
    error = failure(native, tmp_path / "missing" / "run")
    check_rescue(error, tmp_path / "missing" / "run.hatchet", "No such file or directory")
    assert error.errno == errno.ENOENT


def test_a_file_in_place_of_the_folder_is_told_and_the_profile_rescued(
    native: _native.Session, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    error = failure(native, tmp_path / "file" / "run")
    check_rescue(error, tmp_path / "file" / "run.hatchet", "Not a directory")


def test_a_folder_in_place_of_the_file_is_told_and_the_profile_rescued(
    native: _native.Session, tmp_path: Path
) -> None:
    (tmp_path / "run.hatchet").mkdir()
    error = failure(native, tmp_path / "run")
    check_rescue(error, tmp_path / "run.hatchet", "Is a directory")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fallback", "run.hatchet"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to any folder")
def test_a_read_only_folder_is_told_and_the_profile_rescued(
    native: _native.Session, tmp_path: Path
) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    error = failure(native, tmp_path / "locked" / "run")
    check_rescue(error, tmp_path / "locked" / "run.hatchet", "Permission denied")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_device_is_told_and_the_profile_rescued(
    native: _native.Session, tmp_path: Path
) -> None:
    (tmp_path / "run.hatchet").symlink_to("/dev/full")
    error = failure(native, tmp_path / "run")
    check_rescue(error, tmp_path / "run.hatchet", "No space left on device")
    assert error.errno == errno.ENOSPC


def test_a_name_that_is_too_long_is_told_and_the_profile_rescued_under_a_shorter_one(
    native: _native.Session, tmp_path: Path
) -> None:
    name = "é" * 150
    error = failure(native, tmp_path / name)
    check_rescue(error, tmp_path / f"{name}.hatchet", "File name too long")
    assert len(os.fsencode(os.path.basename(error.rescued_to or ""))) > 200


def test_two_rescues_do_not_overwrite_each_other(native: _native.Session, tmp_path: Path) -> None:
    first, second = (failure(native, tmp_path / "missing" / "run") for _ in range(2))
    assert first.rescued_to != second.rescued_to


def test_no_place_for_a_fallback_is_told_too(
    native: _native.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phase_files, "_fallbacks", lambda path: iter(()))
    error = failure(native, tmp_path / "missing" / "run")
    assert error.rescued_to is None
    assert "make room and finalize the session again" in str(error)


def test_standard_output_gets_one_line(
    native: _native.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    PhaseContent(native, "hatchet", 0, HEADER).print()
    printed = capsys.readouterr().out
    assert json.loads(printed)[0]["children"][0]["frame"]["name"] == "kernel"
    assert printed.count("\n") == 1


def test_standard_output_gets_bytes_for_msgpack(
    native: _native.Session, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    PhaseContent(native, "hatchet_msgpack", 0, HEADER).print()
    assert capfdbinary.readouterr().out == native.serialize("hatchet_msgpack", 0, HEADER)


def closed_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, closed_stream()])
def test_a_closed_standard_output_is_told_and_the_profile_rescued(
    native: _native.Session, stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(WriteError, match=r"^<stdout>: cannot write the profile: ") as caught:
        PhaseContent(native, "hatchet", 0, HEADER).print()
    assert caught.value.rescued_to is not None
    assert has_kernel(caught.value.rescued_to)


def test_a_standard_output_for_text_takes_no_msgpack(
    native: _native.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with pytest.raises(WriteError, match="standard output takes text only; it was written to"):
        PhaseContent(native, "hatchet_msgpack", 0, HEADER).print()
