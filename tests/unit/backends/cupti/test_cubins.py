"""Cubins of Triton kernels, out of a made-up Triton and out of folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from proton import _triton
from proton.backends.cupti.cubins import Limits, in_cache, in_memory


def put(folder: Path, name: str, *, age_s: int = 0, ptx: str | None = None, size: int = 3) -> None:
    (folder / name).mkdir(parents=True)
    cubin = folder / name / f"{name}.cubin"
    cubin.write_bytes(name[:1].encode() * size)
    os.utime(cubin, (1_000_000 - age_s, 1_000_000 - age_s))
    if ptx is not None:
        cubin.with_suffix(".ptx").write_text(ptx)


def test_kernels_in_memory_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [("a", b"A", "// a"), ("b", b"B", "")]
    monkeypatch.setattr(_triton, "compiled_kernels", lambda: kernels)
    known = {"b"}
    assert list(in_memory(known)) == [(b"A", "// a")]
    assert list(in_memory(known)) == []


def test_the_cache_gives_the_newest_first_with_the_text_beside(tmp_path: Path) -> None:
    put(tmp_path, "old", age_s=100)
    put(tmp_path, "new", ptx="// new")
    (tmp_path / "stray.cubin").write_bytes(b"x")
    assert list(in_cache(str(tmp_path))) == [(b"nnn", "// new"), (b"ooo", "")]


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        (Limits(files=1), 1),
        (Limits(size_bytes=5), 1),
        (Limits(time_s=-1), 0),
        (Limits(), 2),
    ],
)
def test_limits_keep_a_large_cache_from_holding_up_the_end(
    tmp_path: Path, limits: Limits, count: int
) -> None:
    put(tmp_path, "a")
    put(tmp_path, "b")
    assert len(list(in_cache(str(tmp_path), limits))) == count


@pytest.mark.parametrize("name", [None, "/there/is/none"])
def test_no_cache_gives_nothing(name: str | None) -> None:
    assert list(in_cache(name)) == []


def test_a_cache_that_is_cleared_meanwhile_gives_what_is_left(tmp_path: Path) -> None:
    put(tmp_path, "a")
    put(tmp_path, "b", age_s=5)
    found = in_cache(str(tmp_path))
    assert next(found) == (b"aaa", "")
    (tmp_path / "b" / "b.cubin").unlink()
    assert list(found) == []


def test_only_kernels_with_a_cubin_are_found_in_tritons_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class CompiledKernel:
        def __init__(self, asm: Any, key: str | None = None) -> None:
            self.asm = asm
            self.hash = key

    class Compiler:
        pass

    Compiler.CompiledKernel = CompiledKernel  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, "triton.compiler.compiler", Compiler)
    kept = [
        CompiledKernel({"cubin": b"one", "ptx": "// one"}, "key"),
        CompiledKernel({"hsaco": b"two"}),
        CompiledKernel(None),
    ]
    assert _triton.compiled_kernels() == [("key", b"one", "// one")]
    del kept
