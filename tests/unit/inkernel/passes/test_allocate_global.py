"""Rings in the profile buffer: sizes, who records, and options that cannot be."""

import pytest

from proton.errors import UsageError
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.plan import BufferPlan, find_init, read_plan
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from tests.unit.inkernel.llvm.test_counting import random_kernel


def plan_of(allocate: AllocateGlobal) -> BufferPlan:
    text = random_kernel(9) + 'attributes #0 = { "nvvm.reqntid"="256" }\n'
    module = LlvmModule(text)
    LowerRecordsCircular().apply(module)
    allocate.apply(module)
    found = find_init(module)
    assert found is not None
    return read_plan("k", found[1].attributes)


def test_every_warp_gets_a_ring_by_default() -> None:
    plan = plan_of(AllocateGlobal())
    assert (plan.memory, plan.ring, plan.stage, plan.warps) == ("global", 4096, 0, 8)
    assert plan.recorded == tuple(range(8))


def test_options_choose_sizes_and_who_records() -> None:
    plan = plan_of(AllocateGlobal(ring_bytes=512, granularity="warp_group", units=("1",)))
    assert (plan.ring, plan.unit, plan.recorded) == (512, 4, (4,))
    plan = plan_of(AllocateGlobal(granularity="cta", ctas=(3, 1)))
    assert (plan.recorded, plan.ctas) == ((0,), (1, 3))
    assert plan_of(AllocateGlobal(num_warps=2, cta_every=16)).every == 16


def test_a_ring_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="a ring of 100 bytes cannot be"):
        plan_of(AllocateGlobal(ring_bytes=100))
    with pytest.raises(UsageError, match="unit 9"):
        plan_of(AllocateGlobal(units=(9,)))
