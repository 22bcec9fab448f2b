"""Files in the place of code behind our passes: nothing claims records that are not there."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import triton

from proton._triton import compiler as _triton_compiler
from proton.inkernel.compiler import overridden_files as late_files
from proton.inkernel.compiler.compile_hook import read_records, read_warnings
from proton.inkernel.compiler.overridden_files import LateCode, holds_records, note, watch_files
from proton.inkernel.compiler.stages import RecordingStages
from tests.support.kernels import compiled, softmax
from tests.support.recording import recording

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

LEVELS = [("90", "llir"), ("90", "ptx"), ("90", "cubin"), ("gfx942", "amdgcn"), ("gfx942", "hsaco")]


def _softmax(target: str) -> Any:
    return compiled(softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 1024}, target)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where kernels are dumped to at first."""
    folder = tmp_path / "files"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_KERNEL_DUMP", "1")
    monkeypatch.setenv("TRITON_DUMP_DIR", str(folder))
    return folder


def _override_with(files: Path, level: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the dumped file of this level, and no other, override its kernel; its path."""
    # it goes on elsewhere: Triton 3.9 makes other code while it dumps
    monkeypatch.setenv("TRITON_DUMP_DIR", str(files.with_name("later")))
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(files))
    for path in files.rglob("softmax.*"):
        if path.suffix != f".{level}":
            path.unlink()
    (kept,) = files.rglob("softmax.*")
    return kept


@pytest.mark.parametrize(("target", "level"), LEVELS)
def test_a_file_behind_our_passes_leaves_a_kernel_that_claims_no_records(
    target: str, level: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _softmax(target)
    path = _override_with(files, level, monkeypatch)
    with recording("ops") as warnings:
        kernel = _softmax(target)
    assert kernel.asm[level] == plain.asm[level]
    assert read_records(kernel.metadata) is None
    assert kernel.metadata.profile_scratch_size == 0
    (warning,) = warnings
    assert warning == (
        f"kernel 'softmax' is not recorded: {str(path)!r} replaces its {level}, and records are "
        "put in before that; take it away while recording, or replace ttgir"
    )
    assert read_warnings(kernel.metadata) == (warning,)


@pytest.mark.parametrize(("target", "level"), LEVELS)
def test_a_file_that_is_what_the_stage_gave_out_keeps_its_records(
    target: str, level: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording("ops"):
        _softmax(target)
    _override_with(files, level, monkeypatch)
    with recording("ops") as warnings:
        kernel = _softmax(target)
    assert warnings == []
    assert read_records(kernel.metadata) is not None
    assert holds_records(kernel.asm[level])


@pytest.mark.parametrize(("target", "level"), LEVELS)
def test_a_file_with_records_of_another_mode_gets_memory_that_nobody_reads(
    target: str, level: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recording("cta"):
        _softmax(target)
    _override_with(files, level, monkeypatch)
    with recording("ops") as warnings:
        kernel = _softmax(target)
    assert len(warnings) == 1
    assert read_records(kernel.metadata) is None
    assert kernel.metadata.profile_scratch_size > 0


def test_nothing_of_a_compilation_is_kept_but_its_code(files: Path) -> None:
    def kept() -> int:
        gc.collect()
        return sum(type(each) is RecordingStages for each in gc.get_objects())

    before = kept()
    with recording("ops"):
        _softmax("90")
    assert kept() <= before


def test_a_file_that_ptxas_refuses_is_the_users(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _softmax("90")
    path = _override_with(files, "ptx", monkeypatch)
    path.write_text(path.read_text().replace("ret;", "no such instruction;"))
    with recording("ops") as warnings, pytest.raises(triton.runtime.errors.PTXASError):
        _softmax("90")
    (warning,) = warnings
    assert "replaces its ptx" in warning


def test_plain_kernels_are_replaced_in_silence_while_others_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Compiler:
        @staticmethod
        def parse(full_name: str, ext: str, context: Any) -> str:
            return "theirs"

    said: list[str] = []
    monkeypatch.setattr(_triton_compiler, "compiler_module", lambda: Compiler)
    undo = watch_files()
    try:
        note(LateCode("ptx", "ours", lambda path, code: said.append(path)))
        note(None)  # the next kernel is plain
        assert Compiler.parse("a.ptx", "ptx", None) == "theirs"
        note(LateCode("ptx", "ours", lambda path, code: said.append(path)))
        Compiler.parse("b.ttgir", "ttgir", None)
        Compiler.parse("c.ptx", "ptx", None)
        assert said == ["c.ptx"]
        Compiler.parse("d.ptx", "ptx", None)
        assert said == ["c.ptx"], "said once"
    finally:
        undo()
        late_files.note(None)
    assert Compiler.parse("e.ptx", "ptx", None) == "theirs"
