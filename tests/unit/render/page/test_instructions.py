from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.sampling import FOUND, NO_CUBIN
from proton.model.tree import KernelDetail
from proton.render.nvdisasm import HOW_TO_GET_TEXT, find_nvdisasm
from proton.render.page import instructions
from proton.render.page.instructions import Numbering, kernel_samples
from tests.support.pages import plain
from tests.support.profiles import profile_of
from tests.support.sampling import KERNEL, SAMPLING

DATA = Path(__file__).resolve().parents[3] / "data"
PROFILE = replace(profile_of([(0, "ROOT", {}), (1, "kernel", {"time (ns)": 5})]), sampling=SAMPLING)


def test_instructions_stand_by_address_with_places_and_reasons() -> None:
    numbers = Numbering()
    (kernel,) = plain(kernel_samples(PROFILE, {"kernel": 100}, numbers, None))
    (code,) = kernel["codes"]
    assert (code["arch"], code["samples"], code["contexts"]) == (90, 100, 2)
    assert [row[:2] for row in code["instructions"]] == [
        [0x10, "LDG"],
        [0x600, "BRA"],
        [0x610, "-"],
    ]
    assert list(numbers.places) == [("k.py", 3), ("lib/sum.py", 9), ("k.py", 4)]
    assert [row[2] for row in code["instructions"]] == [[0], [1, 2], []]
    named = list(numbers.reasons)
    assert [[named[at], n] for at, n in code["instructions"][0][5]] == [
        ["long_scoreboard", 50], ["selected", 10],
    ]  # fmt: skip
    assert code["remark"] == HOW_TO_GET_TEXT


@pytest.mark.skipif(find_nvdisasm() is None, reason="needs nvdisasm")
def test_texts_are_those_of_the_tool() -> None:
    profile = prepare(open_profile(DATA / "sampled.hatchet"))
    kernels = plain(kernel_samples(profile, {"matmul": 3003, "softmax": 1304}, Numbering(), ""))
    texts = {row[0]: row[1] for row in kernels[1]["codes"][0]["instructions"]}
    assert texts[0x2C0] == "@!P0 LDG.E R14, desc[UR6][R2.64]"
    assert any("BRA" in row[1] for row in kernels[0]["codes"][0]["instructions"])


def test_a_kernel_that_launches_named_otherwise_keeps_its_code() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "renamed", {"time (ns)": 5})])
    details = {1: KernelDetail(1, 5, attributes={"symbol": "kernel"})}
    profile = replace(profile, tree=replace(profile.tree, details=details), sampling=SAMPLING)
    (kernel,) = plain(kernel_samples(profile, {"renamed": 60}, Numbering(), None))
    assert [code["symbol"] for code in kernel["codes"]] == ["kernel"]


def test_why_a_kernel_has_no_lines_is_said() -> None:
    (kernel,) = plain(kernel_samples(PROFILE, {"gemm": 7}, Numbering(), None))
    assert kernel["remark"].startswith("no line table")
    assert kernel["codes"] == []


def test_past_the_hottest_kernels_instructions_have_names_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(instructions, "MOST_DISASSEMBLED", 0)
    (kernel,) = plain(kernel_samples(PROFILE, {"kernel": 100}, Numbering(), ""))
    assert kernel["codes"][0]["instructions"][0][1] == "LDG"
    assert kernel["codes"][0]["remark"].startswith("only names of instructions")


def test_a_kernel_that_was_compiled_twice_has_two_codes() -> None:
    both = replace(SAMPLING, kernels=(replace(KERNEL, module="a", samples=3), KERNEL))
    profile = replace(PROFILE, sampling=both)
    (kernel,) = plain(kernel_samples(profile, {"kernel": 103}, Numbering(), None))
    assert [code["samples"] for code in kernel["codes"]] == [100, 3]


@pytest.mark.parametrize(
    ("count", "lines", "said"),
    [
        (3, FOUND, ""),
        (500, FOUND, "the file has 3 of 500 instructions, the hottest: it keeps all"),
        (0, FOUND, "those with most samples: it does not say how many the kernel has"),
        (0, NO_CUBIN, "those with most samples: the code of this kernel was not found"),
    ],
)
def test_how_many_of_how_many_instructions_there_are_is_said(
    count: int, lines: str, said: str
) -> None:
    one = replace(KERNEL, instruction_count=count, lines=lines)
    profile = replace(PROFILE, sampling=replace(SAMPLING, kernels=(one,)))
    (kernel,) = plain(kernel_samples(profile, {"kernel": 100}, Numbering(), None))
    assert said in kernel["codes"][0]["listed"]
    assert bool(said) == bool(kernel["codes"][0]["listed"])


def test_what_comes_again_keeps_its_number() -> None:
    numbers = Numbering(["wait", "selected"])
    assert numbers.places_of([("a.py", 1), ("b.py", 2)]) == [0, 1]
    assert numbers.places_of([("a.py", 3), ("a.py", 1)]) == [2, 0]
    assert list(numbers.files) == ["a.py", "b.py"]


def test_reasons_stand_by_count_and_those_without_samples_are_left_out() -> None:
    numbers = Numbering(["wait", "selected"])
    assert numbers.reasons_of({"selected": 2, "drain": 7, "wait": 0}) == [(2, 7), (1, 2)]
    assert list(numbers.reasons) == ["wait", "selected", "drain"]
