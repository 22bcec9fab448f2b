"""What identifies source files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from proton.runtime.open_session import identify


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(b"x = 1\n")
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    assert identify([str(path), str(path)]) == {str(path): {"sha256": digest, "size": 6}}


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    names = [str(tmp_path), str(tmp_path / "none.py"), str(tmp_path / "pipe"), "/dev/zero", "a\0b"]
    assert identify(names) == {}


def test_a_huge_file_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    assert identify([str(path)]) == {}
