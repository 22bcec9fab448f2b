"""Texts of instructions: with the real nvdisasm where it is, with stand-ins for what it may do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from proton.files.detect import open_profile
from proton.render.mnemonics import mnemonic
from proton.render.nvdisasm import (
    HOW_TO_GET_TEXT,
    disassemble,
    disassemble_all,
    find_nvdisasm,
)
from tests.support.sampling import BRANCH, LOAD

DATA = Path(__file__).resolve().parents[2] / "data"
CODES = {0x10: LOAD, 0x600: BRANCH}
needs_tool = pytest.mark.skipif(find_nvdisasm() is None, reason="needs nvdisasm")


def tool(folder: Path, script: str) -> str:
    """A stand-in for nvdisasm that runs `script`."""
    path = folder / "nvdisasm"
    path.write_text(f"#!{sys.executable}\nimport sys\n{script}\n")
    path.chmod(0o755)
    return str(path)


@needs_tool
def test_instructions_keep_their_offsets() -> None:
    texts, remark = disassemble(CODES, 90)
    assert texts[0x10] == "@!P0 LDG.E R14, desc[UR6][R2.64]"
    assert texts[0x600] == "@!P6 BRA 0x50"
    assert remark == ""


@needs_tool
def test_an_instruction_that_the_tool_does_not_know_stays_bytes() -> None:
    texts, remark = disassemble(CODES | {0x20: b"\xff" * 16}, 90)
    assert texts[0x20] == "0x" + "ff" * 16
    assert texts[0x10].startswith("@!P0 LDG")
    assert "does not know some" in remark


@needs_tool
def test_offsets_that_no_kernel_has_are_put_side_by_side() -> None:
    texts, _ = disassemble({0x10: LOAD, 1 << 40: LOAD}, 90)
    assert texts[1 << 40] == texts[0x10]


@needs_tool
def test_kernels_that_share_a_run_read_as_they_do_alone() -> None:
    """Targets of branches too, which are addresses in what the tool is given."""
    kernels = [(CODES, 90), ({0x20: b""}, 90), (CODES | {0x700: BRANCH}, 90), (CODES, 80)]
    together = disassemble_all(kernels)
    assert together == [disassemble(codes, arch) for codes, arch in kernels]
    assert together[2].texts[0x600] == "@!P6 BRA 0x50"
    assert together[2].texts[0x700] == "@!P6 BRA 0x150"


def test_kernels_of_one_architecture_take_one_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    script = f'open({str(runs)!r}, "a").write("x"); print("/*0010*/  NOP ;")'
    disassemble_all([({0x10: LOAD}, 90)] * 5 + [({0x10: LOAD}, 100)], tool(tmp_path, script))
    assert runs.read_text() == "xx"


def test_kernels_that_are_too_large_together_take_several_runs(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    script = f'open({str(runs)!r}, "a").write("x")'
    disassemble_all([({0x300000: LOAD}, 90)] * 2, tool(tmp_path, script))
    assert runs.read_text() == "xx"


@needs_tool
def test_an_architecture_that_the_tool_does_not_know_is_said() -> None:
    texts, remark = disassemble(CODES, 77)
    assert texts == {0x10: "LDG", 0x600: "BRA"}
    assert "SM77" in remark


@needs_tool
def test_names_from_opcodes_are_those_of_the_tool() -> None:
    sampling = open_profile(DATA / "sampled.hatchet").sampling
    assert sampling is not None
    checked = 0
    for kernel in sampling.kernels:
        codes = {one.offset: one.code for one in kernel.instructions if mnemonic(one.code)}
        texts = disassemble(codes, kernel.arch).texts
        for offset, code in codes.items():
            words = [word for word in texts[offset].split() if not word.startswith("@")]
            assert words[0].split(".")[0] == mnemonic(code)
            checked += 1
    assert checked >= 15


def test_without_a_tool_names_are_from_opcodes_and_it_is_said_how_to_get_more() -> None:
    texts, remark = disassemble(CODES | {0x20: b"\xff" * 16, 0x30: b""}, 90, None)
    assert texts == {0x10: "LDG", 0x600: "BRA", 0x20: "0x" + "ff" * 16, 0x30: "-"}
    assert remark == HOW_TO_GET_TEXT


def test_without_bytes_or_architecture_no_tool_is_run() -> None:
    assert "no bytes" in disassemble({0x10: b""}, 90, "/nowhere").remark
    assert "which GPU" in disassemble(CODES, None, "/nowhere").remark


def test_some_missing_bytes_are_said(tmp_path: Path) -> None:
    script = 'print("/*0010*/  NOP ;")'
    texts, remark = disassemble({0x10: LOAD, 0x20: b""}, 90, tool(tmp_path, script))
    assert texts == {0x10: "NOP", 0x20: "-"}
    assert remark == "-: the recording has no bytes of this instruction"


def test_scheduling_marks_of_newer_tools_are_left_out(tmp_path: Path) -> None:
    script = 'print("/*0010*/  LDC R1, c[0x0][0x28]   &wr=0x0  ?trans1;")'
    assert disassemble({0x10: LOAD}, 120, tool(tmp_path, script)).texts[0x10] == (
        "LDC R1, c[0x0][0x28]"
    )


def test_a_tool_that_fails_or_is_no_program_leaves_names(tmp_path: Path) -> None:
    fails = tool(tmp_path, 'sys.exit("nvdisasm fatal: out of luck")')
    texts, remark = disassemble(CODES, 90, fails)
    assert texts[0x10] == "LDG"
    assert "out of luck" in remark
    assert "cannot be run" in disassemble(CODES, 90, str(tmp_path / "none")).remark


def test_a_tool_that_refuses_everything_is_given_up(tmp_path: Path) -> None:
    script = 'sys.exit("Unrecognized operation at address 0x00000010")'
    _, remark = disassemble(CODES, 90, tool(tmp_path, script))
    assert "at address" in remark


def test_a_tool_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.render.nvdisasm._TIMEOUT_S", 1)
    _, remark = disassemble(CODES, 90, tool(tmp_path, "import time; time.sleep(60)"))
    assert "did not answer within 1 s" in remark


def test_the_tool_is_looked_for_in_the_toolkit_and_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    assert find_nvdisasm() is None
    (tmp_path / "bin").mkdir()
    path = tool(tmp_path / "bin", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_nvdisasm() == path
    monkeypatch.delenv("CUDA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_nvdisasm() == path
