"""The reader of shared libraries."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tools.elf import read_needs


def core() -> Path:
    """The extension, wherever it is installed."""
    found = import_module("proton._native").__file__
    assert found is not None
    return Path(found)


def test_a_library_says_what_it_needs_and_in_which_versions() -> None:
    needs = read_needs(core())
    assert "libc.so.6" in needs.libraries
    versions = [name for library, name in needs.versions if library == "libc.so.6"]
    assert any(name.startswith("GLIBC_2.") for name in versions)


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.so"
    path.write_text("hello")
    with pytest.raises(ValueError, match="not an ELF library"):
        read_needs(path)
    path.write_bytes(core().read_bytes()[:100])
    with pytest.raises(ValueError, match="damaged"):
        read_needs(path)
