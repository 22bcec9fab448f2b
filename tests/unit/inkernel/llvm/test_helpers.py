"""The helpers as text: all there, all filled in, and LLVM reads them for every plan."""

from dataclasses import replace
from itertools import product

import pytest

from proton import _triton
from proton.inkernel.llvm.helpers import common_text, fill, helper_text
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.passes import lower_to_amd as amd
from proton.inkernel.passes import lower_to_nvidia as nvidia

PLAN = BufferPlan(
    strategy="circular",
    memory="global",
    ring=1024,
    stage=0,
    offset=0,
    warps=4,
    unit=1,
    recorded=(0, 1, 2, 3),
    ctas=(),
    every=1,
    spin=16,
)
MEMORIES: dict[str, dict[str, object]] = {
    "global": {},
    "shared": {"memory": "shared", "stage": 512, "offset": 32},
    "headers": {"ring": 0},
}
CHOICES: tuple[dict[str, object], ...] = (
    {},
    {"recorded": (0, 2)},
    {"every": 3},
    {"ctas": (0, 5, 9)},
)


def whole(text: str, declarations: dict[str, str]) -> str:
    smem = "@global_smem = external addrspace(3) global [0 x i8], align 16"
    return "\n".join([smem, *declarations.values(), text])


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("strategy", ["circular", "flush"])
def test_llvm_reads_the_helpers_of_every_plan(memory: str, strategy: str) -> None:
    options = list(product((False, True), repeat=2))
    for choice, (clock64, late) in zip(CHOICES, options, strict=True):
        plan = replace(PLAN, strategy=strategy, **MEMORIES[memory], **choice)  # type: ignore[arg-type]
        for text, declarations in (
            (
                nvidia.make_primitives(plan, has_clock64=clock64, has_late_stores=late),
                nvidia.DECLARATIONS,
            ),
            (
                amd.make_primitives(
                    plan,
                    warp_size=64,
                    has_clock64=clock64,
                    has_late_stores=late,
                    has_barriers=not late,
                ),
                amd.DECLARATIONS,
            ),
        ):
            helpers = whole(common_text(plan) + text, declarations)
            assert _triton.llvm_parse_error(helpers) is None


def test_bad_text_is_told_and_does_not_end_the_process() -> None:
    error = _triton.llvm_parse_error("define void @f() {\n  %1 = add i32 %9, 0\n}\n")
    assert error is not None
    assert _triton.llvm_parse_error("this is no LLVM text") is not None


def test_a_place_that_nobody_fills_is_an_error() -> None:
    assert fill("and i32 %c, <MASK>", MASK=7) == "and i32 %c, 7"
    with pytest.raises(KeyError):
        fill(helper_text("record"), INLINE="")


def test_sampled_warps_are_bits_and_sampled_ctas_have_slots_of_their_own() -> None:
    text = common_text(replace(PLAN, recorded=(0, 2), ctas=(3, 8)))
    assert "lshr i64 5, %warp64" in text
    assert "icmp eq i32 %cta, 8" in text
    assert "%ctas = add i32 2, 0" in text
    text = common_text(replace(PLAN, every=4))
    assert "urem i32 %cta, 4" in text
    assert "%slot = udiv i32 %cta, 4" in text
