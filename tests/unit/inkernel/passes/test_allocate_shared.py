"""Rings in shared memory: behind the kernel's own, as large as fits."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.plan import BufferPlan, find_init, read_plan
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from tests.unit.inkernel.llvm.test_counting import random_kernel


def plan_of(allocate: AllocateShared, strategy: type = LowerRecordsCircular) -> BufferPlan:
    module = LlvmModule(random_kernel(9))
    strategy().apply(module)
    allocate.apply(module)
    found = find_init(module)
    assert found is not None
    return read_plan("k", found[1].attributes)


def test_rings_stand_behind_the_kernels_own_memory() -> None:
    plan = plan_of(AllocateShared(num_warps=4, shared_bytes=1001))
    assert (plan.offset, plan.stage, plan.ring) == (1008, 1024, 1024)
    assert plan.shared_bytes == 1008 + 4 * 1024


def test_the_largest_ring_that_fits_is_chosen() -> None:
    allocate = AllocateShared(num_warps=4, shared_bytes=1000, shared_limit=2100)
    assert plan_of(allocate).stage == 256


def test_a_kernel_with_no_room_is_refused_with_the_remedy() -> None:
    with pytest.raises(InstrumentationError, match=r"4 rings of 128 do not fit; use allocate-glob"):
        plan_of(AllocateShared(num_warps=4, shared_bytes=1000, shared_limit=1500))
    with pytest.raises(InstrumentationError, match=r"4 rings of 1024 do not fit"):
        plan_of(AllocateShared(num_warps=4, stage_bytes=1024, shared_limit=2000))


def test_a_full_stage_is_emptied_into_a_larger_ring() -> None:
    plan = plan_of(AllocateShared(num_warps=4, stage_bytes=256), LowerRecordsFlush)
    assert (plan.stage, plan.ring) == (256, 16384)
    plan = plan_of(AllocateShared(num_warps=4, stage_bytes=256, ring_bytes=64), LowerRecordsFlush)
    assert plan.ring == 256
