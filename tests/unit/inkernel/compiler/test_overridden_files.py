"""Lines `proton.record` in files of IR: rewritten before Triton's parser reads them."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import re
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl

import proton.language as pl
from proton._triton import compiler as _triton_compiler
from proton.errors import InstrumentationError
from proton.inkernel.compiler.compile_hook import read_records
from proton.inkernel.compiler.overridden_files import read_records_in_files, with_carriers
from tests.support.kernels import compiled, matmul, softmax, target_of
from tests.support.recording import recording

TEXT = """module attributes {ttg.target = "cuda:90"} {
  tt.func public @k() {
    proton.record start "a b" loc(#loc1)
    %proton_4 = arith.constant 1 : i32
    proton.record end "a b"
    tt.return
  }
}
"""


def test_lines_become_carriers_in_their_places() -> None:
    lines = with_carriers(TEXT).split("\n")
    assert len(lines) == len(TEXT.split("\n"))
    assert lines[2].startswith(
        '    %proton_5 = tt.elementwise_inline_asm "// proton.record start a%20b" {'
    )
    assert lines[2].endswith("-> i32 loc(#loc1)")
    assert lines[4].startswith('    %proton_6 = tt.elementwise_inline_asm "// proton.record end')
    assert lines[3] == TEXT.split("\n")[3]


def test_a_record_without_a_place_gets_its_own_in_the_users_file() -> None:
    lines = with_carriers(TEXT, "/mine/k.ttgir").split("\n")
    assert lines[2].endswith("-> i32 loc(#loc1)")
    assert lines[4].endswith('-> i32 loc("/mine/k.ttgir":5:1)')
    assert with_carriers(TEXT, 'a"b').split("\n")[4].endswith("-> i32")


def test_a_comment_may_stand_behind_a_record() -> None:
    lines = with_carriers(TEXT.replace("loc(#loc1)", "loc(#loc1) // here")).split("\n")
    assert lines[2].endswith("-> i32 loc(#loc1)")
    lines = with_carriers(TEXT.replace("loc(#loc1)", "// here")).split("\n")
    assert lines[2].endswith("-> i32")


def test_a_line_that_cannot_be_read_is_shown_with_its_place() -> None:
    with pytest.raises(InstrumentationError, match=r"^k\.ttgir:3: cannot read .*start\|end\|mark"):
        with_carriers(TEXT.replace('start "a b" loc(#loc1)', "begin"), "k.ttgir")


def test_only_files_with_such_lines_are_rewritten(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read: list[tuple[str, str]] = []

    class Ir:
        @staticmethod
        def parse_mlir_module(path: str, context: Any) -> None:
            read.append((path, Path(path).read_text()))

    class Module:
        def __init__(self) -> None:
            self.parse_mlir_module = Ir.parse_mlir_module

    ir = Module()
    monkeypatch.setattr(_triton_compiler, "ir_module", lambda: ir)
    undo = read_records_in_files(pytest.fail)
    ours, plain = tmp_path / "ours.ttgir", tmp_path / "plain.ttgir"
    ours.write_text(TEXT)
    plain.write_text("module {\n}\n")
    ir.parse_mlir_module(str(plain), None)
    ir.parse_mlir_module(str(ours), None)
    undo()
    assert ir.parse_mlir_module is Ir.parse_mlir_module
    assert read[0] == (str(plain), "module {\n}\n")
    assert read[1][0] != str(ours)
    assert read[1][1] == with_carriers(TEXT, str(ours))


def _softmax(target: str = "90") -> Any:
    return compiled(softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 1024}, target)


def _with_lines(text: str) -> str:
    """The IR as somebody edits it by hand: a region round every store."""
    lines: list[str] = []
    for line in text.split("\n"):
        is_store = line.split(" ")[4:5] in (["tt.store"], ["amdg.buffer_store"])
        lines += ['    proton.record start "by hand"'] if is_store else []
        lines.append(line)
        lines += ['    proton.record end "by hand"'] if is_store else []
    return "\n".join(lines)


def _check_by_hand(region: Any, path: Path) -> None:
    """It is the region of `_with_lines`, at its line of the file."""
    assert (region["name"], region["file"]) == ("by hand", str(path))
    assert "by hand" in path.read_text().split("\n")[region["line"] - 1]


def _names(kernel: Any) -> set[str]:
    records = read_records(kernel.metadata)
    return {region["name"] for region in records.record_map["regions"]} if records else set()


def _matmul(target: str = "90") -> Any:
    matrices = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    return compiled(matmul, matrices, {"BM": 64, "BN": 64, "BK": 32}, target)


def _override(
    level: str,
    target: str,
    folder: Path,
    edit: Any,
    monkeypatch: pytest.MonkeyPatch,
    compile_it: Any = _softmax,
) -> Path:
    """Let a file override a kernel, the edited one of this level; its path."""
    for name, value in {
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_ALWAYS_COMPILE": "1",
        "TRITON_KERNEL_DUMP": "1",
        "TRITON_DUMP_DIR": str(folder / "override"),
    }.items():
        monkeypatch.setenv(name, value)
    compile_it(target)
    for path in [each for each in (folder / "override").rglob("*") if each.is_file()]:
        if path.suffix == f".{level}":
            path.write_text(edit(path.read_text()))
            edited = path
        else:
            path.unlink()
    monkeypatch.delenv("TRITON_KERNEL_DUMP")
    monkeypatch.setenv("TRITON_KERNEL_OVERRIDE", "1")
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(folder / "override"))
    return edited


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("level", ["ttir", "ttgir"])
@pytest.mark.parametrize("target", ["90", "gfx942"])
def test_records_in_a_file_that_overrides_a_kernel_are_recorded(
    level: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _override(level, target, tmp_path, _with_lines, monkeypatch)
    with recording("default") as warnings:
        records = read_records(_softmax(target).metadata)
    assert warnings == []
    assert records is not None
    (region,) = records.record_map["regions"]
    _check_by_hand(region, path)


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("mode", ["ops", "cta"])
def test_a_record_in_a_file_keeps_its_place_in_modes_without_regions_of_the_source(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _override("ttgir", "90", tmp_path, _with_lines, monkeypatch)
    with recording(mode) as warnings:
        records = read_records(_softmax().metadata)
    assert warnings == []
    assert records is not None
    (region,) = (each for each in records.record_map["regions"] if each["name"] == "by hand")
    _check_by_hand(region, path)


@triton.jit
def scoped(x, BLOCK: tl.constexpr):
    with pl.scope("mine"):
        i = tl.arange(0, BLOCK)
        tl.store(x + i, i)


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("level", ["ttir", "ttgir"])
def test_regions_of_the_source_that_a_file_lacks_are_named(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_it(target: str) -> Any:
        return compiled(scoped, {"x": "*i32"}, {"BLOCK": 128}, target)

    _override(level, "90", tmp_path, _with_lines, monkeypatch, compile_it)
    with recording("default") as warnings:
        kernel = compile_it("90")
    assert _names(kernel) == {"by hand"}
    (warning,) = warnings
    assert "the regions 'mine' of its source are gone: a file that replaces its ttir" in warning


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("mode", ["default", "mma"])
@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_records_in_a_loop_of_a_ttir_file_pass_every_pipeliner(
    target: str, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(text: str) -> str:
        start, end = (f'      proton.record {each} "by hand"' for each in ("start", "end"))
        return re.sub(r"\n(.*= tt\.dot .*)\n", rf"\n{start}\n\1\n{end}\n", text)

    _override("ttir", target, tmp_path, edit, monkeypatch, _matmul)
    with recording(mode) as warnings:
        kernel = _matmul(target)
    assert warnings == []
    assert "by hand" in _names(kernel)


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("proton.record begin a", r"softmax\.ttgir:\d+: cannot read 'proton\.record begin a'"),
        ('proton.record start "a"', r"softmax\.ttgir:\d+: 'a' is started here and not ended"),
    ],
)
def test_lines_that_are_wrong_are_left_out_and_the_users_file_is_named(
    line: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _override(
        "ttgir",
        "90",
        tmp_path,
        lambda text: text.replace("    tt.return", f"    {line}\n    tt.return"),
        monkeypatch,
    )
    with recording("default") as warnings:
        kernel = _softmax()
    assert kernel.asm["cubin"]
    assert _names(kernel) == set()
    (text,) = warnings
    assert re.search(why, text), text
    assert f"{path}:" in text


@pytest.mark.matrix
@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
def test_records_in_a_file_that_is_compiled_by_itself_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "softmax.ttgir"
    path.write_text(_with_lines(_softmax().asm["ttgir"]))
    with recording("default+ops") as warnings:
        kernel = triton.compile(str(path), target=target_of("90"))
    assert "by hand" in _names(kernel)
    assert len(_names(kernel)) > 1
    assert warnings == []
