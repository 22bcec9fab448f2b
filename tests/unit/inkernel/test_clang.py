"""Callbacks in C++: through clang, where there is one."""

import shutil
from pathlib import Path

import pytest

from proton.errors import BackendUnavailable, UsageError
from proton.inkernel.clang import compile_callbacks

SOURCE = 'extern "C" void visit(int site) {}'


def _fake_clang(folder: Path, script: str) -> None:
    tool = folder / "clang++"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)


def test_without_clang_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailable, match="there is no clang on PATH; install it, or write"):
        compile_callbacks(tmp_path / "a.cpp", tmp_path / "a.ll")
    with pytest.raises(UsageError, match="unknown vendor 'intel'"):
        compile_callbacks("a.cpp", "a.ll", "intel")


def test_clang_is_asked_for_the_vendors_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _fake_clang(tmp_path, f'echo "$@" > {tmp_path}/asked')
    assert compile_callbacks("a.cpp", "a.ll", "amd") == Path("a.ll")
    asked = (tmp_path / "asked").read_text()
    assert "-emit-llvm" in asked
    assert "--target=amdgcn-amd-amdhsa a.cpp -o a.ll" in asked


def test_what_clang_says_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    _fake_clang(tmp_path, "echo 'a.cpp:1: error: no such thing' >&2; exit 1")
    with pytest.raises(UsageError, match=r"a.cpp: clang refuses it: a.cpp:1: error: no such thing"):
        compile_callbacks("a.cpp", "a.ll")


@pytest.mark.skipif(shutil.which("clang++") is None, reason="needs clang")
def test_a_real_clang_makes_a_callback(tmp_path: Path) -> None:
    source = tmp_path / "a.cpp"
    source.write_text(SOURCE)
    text = compile_callbacks(source, tmp_path / "a.ll").read_text()
    assert "@visit(i32" in text
