"""The choices of the NVIDIA primitives: memory, width of the clock, stores that may come later."""

from dataclasses import replace

from proton.inkernel.passes.lower_to_nvidia import make_primitives
from tests.unit.inkernel.llvm.test_helpers import PLAN


def test_an_aligned_ring_is_addressed_by_or_and_a_large_one_by_add() -> None:
    text = make_primitives(PLAN, has_clock64=False, has_late_stores=False)
    assert "%address = or i64 %base, %wide" in text
    text = make_primitives(replace(PLAN, ring=1 << 20), has_clock64=False, has_late_stores=False)
    assert "%address = add i64 %base, %wide" in text


def test_clock_and_store_are_one_piece_unless_stores_may_come_later() -> None:
    text = make_primitives(PLAN, has_clock64=False, has_late_stores=False)
    assert "mov.u32 t, %clock; @$2 st.global.cg.v2.b32 [$0], {$1, t};" in text
    text = make_primitives(PLAN, has_clock64=False, has_late_stores=True)
    assert '"mov.u32 $0, %clock;", "=r,~{memory}"' in text
    assert '"l,r,r,b"' in text


def test_the_long_clock_goes_into_the_payload() -> None:
    text = make_primitives(replace(PLAN, stage=512), has_clock64=True, has_late_stores=False)
    assert "prmt.b32 h, h, $1, 0x7610; @$2 st.shared.v2.b32" in text


def test_a_kernel_with_headers_only_has_no_stores_of_records() -> None:
    text = make_primitives(replace(PLAN, ring=0), has_clock64=False, has_late_stores=False)
    assert "@__proton_put" not in text
