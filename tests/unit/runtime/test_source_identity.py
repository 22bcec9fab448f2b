"""What identifies source files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from proton.model.in_kernel import AccessSite, RecordedKernel, Region
from proton.model.sampling import SourceFile
from proton.runtime.source_files import identify, with_sources


def test_a_file_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_bytes(b"x = 1\n")
    digest = hashlib.sha256(b"x = 1\n").hexdigest()
    assert identify([str(path), str(path)]) == {str(path): SourceFile(digest, 6)}


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    names = [str(tmp_path), str(tmp_path / "none.py"), str(tmp_path / "pipe"), "/dev/zero", "a\0b"]
    assert identify(names) == {}


def test_a_huge_file_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    assert identify([str(path)]) == {}


def test_kernels_know_the_files_of_their_regions_and_accesses(tmp_path: Path) -> None:
    one, two, gone = (str(tmp_path / name) for name in ("one.py", "two.py", "gone.py"))
    for path in (one, two):
        Path(path).write_text(path)
    kernels = [
        RecordedKernel("k", regions=(Region("a", one, 3), Region("b", gone, 4), Region("c"))),
        RecordedKernel("l", accesses=(AccessSite("load", "load", two, 5),)),
    ]
    first, second = with_sources(kernels)
    assert (list(first.files), list(second.files)) == ([one], [two])
    assert first.files[one].size == len(one)
