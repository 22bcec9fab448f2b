"""Lines `proton.record` in files of IR: rewritten before Triton's parser reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proton import _triton_compiler
from proton.errors import InstrumentationError
from proton.inkernel.override import read_records_in_files, with_carriers

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
    undo = read_records_in_files()
    ours, plain = tmp_path / "ours.ttgir", tmp_path / "plain.ttgir"
    ours.write_text(TEXT)
    plain.write_text("module {\n}\n")
    ir.parse_mlir_module(str(plain), None)
    ir.parse_mlir_module(str(ours), None)
    undo()
    assert ir.parse_mlir_module is Ir.parse_mlir_module
    assert read[0] == (str(plain), "module {\n}\n")
    assert read[1][0] != str(ours)
    assert read[1][1] == with_carriers(TEXT)
