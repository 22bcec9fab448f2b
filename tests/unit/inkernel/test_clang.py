"""Callbacks in C++: through clang, where there is one."""

from pathlib import Path

import pytest

from proton.errors import BackendUnavailable, UsageError
from proton.inkernel.clang import compile_callbacks


def _fake_clang(folder: Path, script: str, *, name: str = "clang++", version: int = 19) -> None:
    tool = folder / name
    answer = f'[ "$1" = --version ] && echo "Some clang version {version}.1.7 (x)" && exit'
    tool.write_text(f"#!/bin/sh\n{answer}\n{script}\n")
    tool.chmod(0o755)


def test_without_clang_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendUnavailable, match="there is no clang on PATH; install clang 17"):
        compile_callbacks(tmp_path / "a.cpp", tmp_path / "a.ll")
    with pytest.raises(UsageError, match="unknown vendor 'intel'"):
        compile_callbacks("a.cpp", "a.ll", "intel")


def test_clang_is_asked_for_the_vendors_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
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


def test_one_that_is_too_old_is_passed_over_for_one_with_a_number(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    _fake_clang(tmp_path, "exit 1", version=14)
    with pytest.raises(BackendUnavailable, match=r"clang\+\+ is version 14; 17 is the oldest"):
        compile_callbacks("a.cpp", "a.ll")
    _fake_clang(tmp_path, f"echo > {tmp_path}/asked", name="clang-17", version=17)
    compile_callbacks("a.cpp", "a.ll")
    assert (tmp_path / "asked").exists()
