"""The choices of the AMD make_primitives: memory, width of the clock, barriers of the scheduler."""

from dataclasses import replace

from proton.inkernel.passes.lower_to_amd import make_primitives
from tests.unit.inkernel.llvm.test_helpers import PLAN

BARRIER = "call void @llvm.amdgcn.sched.barrier(i32 0)"


def text_of(**options: bool) -> str:
    defaults = {"has_clock64": False, "has_late_stores": False, "has_barriers": False}
    return make_primitives(PLAN, warp_size=64, **(defaults | options))


def test_barriers_stand_round_clock_and_store_and_only_before_a_late_store() -> None:
    assert text_of().count(BARRIER) == 0
    assert text_of(has_barriers=True).count(BARRIER) == 3
    assert text_of(has_barriers=True, has_late_stores=True).count(BARRIER) == 1


def test_the_long_clock_goes_into_the_payload() -> None:
    assert "%full_tag = or i32 %tag, 0" in text_of()
    assert "%full_tag = or i32 %tag, %payload" in text_of(has_clock64=True)


def test_shared_rings_are_stored_to_local_memory() -> None:
    plan = replace(PLAN, stage=512)
    options = {"has_clock64": False, "has_late_stores": False, "has_barriers": False}
    text = make_primitives(plan, warp_size=32, **options)
    assert "store <2 x i32> %record, ptr addrspace(3) %at" in text
    assert "udiv i32 %thread, 32" in text
