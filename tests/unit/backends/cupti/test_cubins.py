"""Cubins of Triton kernels, out of a made-up Triton and out of folders."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proton import _triton
from proton.backends.cupti.cubins import Limits, TritonCubins, in_cache
from proton.errors import BackendUnavailable

NAMES = {"new", "old"}


def put(folder: Path, name: str, *, age_s: int = 0, ptx: str | None = None, size: int = 3) -> None:
    (folder / name).mkdir(parents=True)
    cubin = folder / name / f"{name}.cubin"
    cubin.write_bytes(name[:1].encode() * size)
    os.utime(cubin, (1_000_000 - age_s, 1_000_000 - age_s))
    if ptx is not None:
        cubin.with_suffix(".ptx").write_text(ptx)


@pytest.fixture
def triton(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A Triton with two kernels in memory, and a cache."""

    class Triton:
        kernels: ClassVar = [("a", b"A", "// a"), ("b", b"B", "")]
        hooks: ClassVar[list[Any]] = []
        looks = 0

    def look() -> Any:
        Triton.looks += 1
        return Triton.kernels

    monkeypatch.setattr(_triton, "compiled_kernels", look)
    monkeypatch.setattr(_triton, "cache_folder", lambda: str(tmp_path))
    monkeypatch.setattr(_triton, "when_imported", lambda call: (call(), lambda: None)[1])
    monkeypatch.setattr(_triton, "is_imported", lambda: True)
    monkeypatch.setattr(_triton, "add_load_hook", Triton.hooks.append)
    monkeypatch.setattr(_triton, "remove_load_hook", Triton.hooks.remove)
    yield Triton
    assert Triton.hooks == []


class Taken:
    """Keeps what it was given; refuses one cubin."""

    def __init__(self) -> None:
        self.given: list[tuple[bytes, str]] = []

    def __call__(self, cubin: bytes, ptx: str) -> None:
        if cubin == b"B":
            raise BackendUnavailable("cupti", reason="no cubin", remedy="none")
        self.given.append((cubin, ptx))


def test_kernels_in_memory_are_looked_for_once(triton: Any) -> None:
    taken = Taken()
    cubins = TritonCubins(taken)
    for _ in range(3):
        cubins.hand_over(list)
    cubins.stop()
    assert (taken.given, triton.looks) == ([(b"A", "// a")], 1)


def test_a_kernel_is_given_as_it_is_loaded(triton: Any, tmp_path: Path) -> None:
    put(tmp_path, "new", ptx="// new")
    group = {name: str(tmp_path / "new" / name) for name in ("new.cubin", "new.ptx")}
    taken = Taken()
    cubins = TritonCubins(taken)
    triton.kernels = [("key", b"nnn", "// new")]
    triton.hooks[0]("module", "function", "new", group, "key")
    assert taken.given == [(b"nnn", "// new")]
    cubins.hand_over(list)
    cubins.stop()
    assert taken.given == [(b"nnn", "// new")]  # not twice


def test_a_forked_child_gives_nothing(
    triton: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "new")
    taken = Taken()
    cubins = TritonCubins(taken)
    monkeypatch.setattr(os, "getpid", os.getppid)
    triton.hooks[0]("module", "function", "new", {"n": str(tmp_path / "new/new.cubin")}, "key")
    cubins.stop()
    assert taken.given == []


def test_a_kernel_whose_files_are_gone_is_taken_from_memory(triton: Any) -> None:
    taken = Taken()
    cubins = TritonCubins(taken)
    cubins.hand_over(list)
    triton.kernels = [*triton.kernels, ("c", b"C", "")]
    triton.hooks[0]("module", "function", "c", {"c.cubin": "/gone/c.cubin"}, "c")
    cubins.hand_over(list)
    cubins.stop()
    assert (taken.given[1:], triton.looks) == ([(b"C", "")], 2)


def test_what_is_missing_is_looked_for_in_the_cache_once(triton: Any, tmp_path: Path) -> None:
    put(tmp_path, "wanted", ptx="// wanted")
    put(tmp_path, "other")
    taken = Taken()
    cubins = TritonCubins(taken)
    for _ in range(2):
        cubins.hand_over(lambda: [(7, "wanted"), (8, "nowhere")])
    cubins.stop()
    assert taken.given[1:] == [(b"www", "// wanted")]


def test_the_cache_gives_the_newest_first_with_the_text_beside(tmp_path: Path) -> None:
    put(tmp_path, "old", age_s=100)
    put(tmp_path, "new", ptx="// new")
    put(tmp_path, "else")
    (tmp_path / "stray.cubin").write_bytes(b"x")
    assert list(in_cache(str(tmp_path), NAMES)) == [(b"nnn", "// new"), (b"ooo", "")]


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
    put(tmp_path, "old")
    put(tmp_path, "new")
    assert len(list(in_cache(str(tmp_path), NAMES, limits))) == count


@pytest.mark.parametrize("name", [None, "/there/is/none"])
def test_no_cache_gives_nothing(name: str | None) -> None:
    assert list(in_cache(name, NAMES)) == []


def test_a_cache_that_is_cleared_meanwhile_gives_what_is_left(tmp_path: Path) -> None:
    put(tmp_path, "new")
    put(tmp_path, "old", age_s=5)
    found = in_cache(str(tmp_path), NAMES)
    assert next(found) == (b"nnn", "")
    (tmp_path / "old" / "old.cubin").unlink()
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
    monkeypatch.setitem(sys.modules, "triton.compiler.compiler", Compiler)
    kept = [
        CompiledKernel({"cubin": b"one", "ptx": "// one"}, "key"),
        CompiledKernel({"hsaco": b"two"}),
        CompiledKernel(None),
    ]
    assert _triton.compiled_kernels() == [("key", b"one", "// one")]
    del kept
