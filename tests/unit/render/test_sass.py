from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.profile import Profile
from proton.model.sampling import Instruction
from proton.model.tree import KernelDetail, Tree
from proton.render.nvdisasm import HOW_TO_GET_TEXT
from proton.render.text.sass import hot_instructions
from proton.render.text.style import Style
from tests.support.sampling import KERNEL, LOAD, SAMPLING, reasons

DATA = Path(__file__).resolve().parents[2] / "data"
PROFILE = Profile("run.hatchet", sampling=SAMPLING)


def shown(profile: Profile, wanted: str, *, full: bool = False) -> list[str]:
    return hot_instructions(profile, wanted, Style(), full=full, tool=None)


def test_instructions_stand_by_address_with_counts_reasons_line_and_name() -> None:
    lines = shown(PROFILE, "kernel")
    rows = [line.split() for line in lines if line[:6].strip() in ("10", "600", "610")]
    assert [row[0] for row in rows] == ["10", "600", "610"]
    assert rows[0] == [
        *("10", "60", "60.0", "██████"),
        *("long_scoreboard", "83", "%,", "selected", "17", "%"),
        *("k.py:3", "LDG"),
    ]
    assert rows[2][-2:] == ["-", "-"]


@pytest.mark.parametrize("columns", [70, 80, 100, 120, 140])
def test_all_lines_fit_the_terminal(columns: int) -> None:
    profile = open_profile(DATA / "sampled.hatchet")
    lines = hot_instructions(profile, "matmul", Style(width=columns), full=False, tool=None)
    assert max(map(len, lines)) <= columns
    assert any("math_pipe_throttle 86 %" in line for line in lines)


def test_reasons_stand_below_their_instruction_where_room_is_short() -> None:
    lines = hot_instructions(PROFILE, "kernel", Style(width=60), full=False, tool=None)
    at = next(at for at, line in enumerate(lines) if line.startswith("    10 "))
    assert lines[at].split() == ["10", "60", "60.0", "k.py:3", "LDG"]
    assert lines[at + 1].strip() == "long_scoreboard 83 %"


def test_the_line_is_the_user_s_and_full_shows_the_stack() -> None:
    assert any("k.py:4" in line and "sum.py" not in line for line in shown(PROFILE, "kernel"))
    assert any("lib/sum.py:9 < k.py:4" in line for line in shown(PROFILE, "kernel", full=True))


def test_the_title_says_what_it_is_about() -> None:
    assert "kernel   sm_90   100 samples   launched from 2 contexts" in shown(PROFILE, "kernel")


def test_samples_that_are_not_shown_are_counted() -> None:
    assert "6 samples in instructions that are not shown" in shown(PROFILE, "kernel")


def test_without_nvdisasm_one_line_says_how_to_get_the_text() -> None:
    assert shown(PROFILE, "kernel").count(HOW_TO_GET_TEXT) == 1


def test_only_the_hottest_are_shown_unless_all_are_asked_for() -> None:
    many = tuple(
        Instruction(16 * at, LOAD, 0, at + 1, 0, reasons(wait=at + 1)) for at in range(100)
    )
    kernel = replace(KERNEL, instructions=many, samples=5050, other_samples=0)
    profile = Profile("f", sampling=replace(SAMPLING, kernels=(kernel,)))
    assert sum("LDG" in line for line in shown(profile, "kernel")) == 40
    assert "1 830 samples in instructions that are not shown" in shown(profile, "kernel")
    assert sum("LDG" in line for line in shown(profile, "kernel", full=True)) == 100


def test_instructions_without_samples_are_shown_where_all_are_asked_for() -> None:
    cold = Instruction(0x20, LOAD, 0)
    listed = (*KERNEL.instructions, cold)
    kernel = replace(KERNEL, instructions=listed, instruction_count=9)
    profile = Profile("f", sampling=replace(SAMPLING, kernels=(kernel,)))
    assert not any(line.startswith("    20 ") for line in shown(profile, "kernel"))
    assert "1 more instructions; --full shows all" in shown(profile, "kernel")
    whole = shown(profile, "kernel", full=True)
    assert any(line.startswith("    20 ") for line in whole)
    assert any(line.startswith("the file has 4 of 9 instructions, the hottest") for line in whole)


def test_kernels_of_one_symbol_are_shown_one_after_the_other() -> None:
    kernels = (replace(KERNEL, module="a"), replace(KERNEL, module="b", samples=300))
    lines = shown(Profile("f", sampling=replace(SAMPLING, kernels=kernels)), "kernel")
    titles = [line for line in lines if "variant" in line]
    assert titles[0].startswith("kernel   sm_90   variant 1 of 2   300 samples")
    assert titles[1].startswith("kernel   sm_90   variant 2 of 2   100 samples")


def test_a_kernel_is_found_by_the_name_that_metadata_gave_it() -> None:
    detail = KernelDetail(1, 1, attributes=MappingProxyType({"symbol": "kernel"}))
    frames = [ROOT_FRAME, Frame("matmul_64", FrameKind.KERNEL)]
    tree = Tree(frames, [-1, 0], [{}, {}], {1: detail})
    assert "kernel   sm_90" in "\n".join(shown(PROFILE.with_tree(tree), "matmul_64"))


def test_a_kernel_without_a_line_table_says_so() -> None:
    lines = shown(PROFILE, "gemm")
    assert "gemm   sm_90   7 samples   (no line table)" in lines
    assert any(line.startswith("no line table: compile with -lineinfo") for line in lines)


def test_no_kernel_or_several_list_the_candidates() -> None:
    with pytest.raises(UsageError, match="'x' is not a sampled kernel; there are: kernel"):
        shown(PROFILE, "x")
    with pytest.raises(UsageError, match="'e' means several kernels: kernel, gemm"):
        shown(PROFILE, "e")


@pytest.mark.parametrize("name", ["gpt.hatchet", "samples.hatchet"])
def test_a_profile_without_instructions_says_how_to_get_them(name: str) -> None:
    with pytest.raises(FormatError, match="has no samples of instructions; record with mode="):
        shown(open_profile(DATA / name), "x")
