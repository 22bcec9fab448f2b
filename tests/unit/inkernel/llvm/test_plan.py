"""A buffer plan in `proton.init`: written, read back, and refused where it is not whole."""

from dataclasses import replace

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.plan import BufferPlan, find_init, read_plan, write_plan

PLAN = BufferPlan(
    strategy="circular",
    memory="global",
    ring=4096,
    stage=0,
    offset=0,
    warps=8,
    unit=4,
    recorded=(0, 4),
    ctas=(),
    every=2,
    spin=0,
)
KERNEL = """define ptx_kernel void @k(ptr addrspace(1) %0) {
  %2 = call i32 asm sideeffect "// proton.record mark m", "=r,~{memory}"()
  ret void
}"""


def test_a_plan_reads_back_from_the_kernel() -> None:
    module = LlvmModule(KERNEL)
    thread_records(module, "circular_record", {"strategy": "circular"})
    for plan in (PLAN, replace(PLAN, memory="shared", stage=512, offset=64, ctas=(1, 7), every=1)):
        found = find_init(module)
        assert found is not None
        write_plan(module, plan, *found)
        init = find_init(LlvmModule(module.text()))
        assert init is not None
        assert read_plan("k", init[1].attributes) == plan


def test_sizes_follow_from_the_plan() -> None:
    assert PLAN.scratch_bytes == 2 * (4096 + 64)
    assert PLAN.align == 4096
    assert PLAN.shared_bytes is None
    assert PLAN.handle == "i64"
    shared = replace(PLAN, memory="shared", stage=512, offset=64)
    assert shared.shared_bytes == 64 + 2 * 512
    assert shared.align == 128
    assert shared.handle == "i32"
    assert replace(PLAN, ring=1 << 20).align == 128


def test_records_without_a_strategy_or_memory_name_the_pass_to_run() -> None:
    module = LlvmModule(KERNEL)
    with pytest.raises(InstrumentationError, match="run lower-records-circular or"):
        find_init(module)
    with pytest.raises(InstrumentationError, match="run allocate-global or allocate-shared first"):
        read_plan("k", {"strategy": "circular"})


@pytest.mark.parametrize("broken", [{"ring": "big"}, {"recorded": "0,1"}])
def test_a_plan_that_somebody_broke_is_refused(broken: dict[str, str]) -> None:
    with pytest.raises(InstrumentationError, match=f"attribute {next(iter(broken))!r}"):
        read_plan("k", PLAN.attributes() | broken)


def test_a_kernel_without_ops_has_no_init() -> None:
    text = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}"
    assert find_init(LlvmModule(text)) is None
