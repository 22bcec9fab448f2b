"""Which warps are a partition, read from text as Triton prints it."""

import pytest

from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.partitions import Partition, find_partitions, first_warps

WAIT = "call void @llvm.nvvm.barrier.cta.sync.all(i32 1), !dbg !7\n"
IDLE = f"  call void @llvm.nvvm.setmaxnreg.dec.sync.aligned.u32(i32 24)\n  {WAIT}"
WORK = '  call void asm sideeffect "@$0 mbarrier.arrive.shared.b64 _, [$1];", "b,r"(i1 %lead)\n'


def place(offset: int) -> str:
    base = "ptr addrspace(3) @global_smem"
    return f"ptr addrspace(3) getelementptr (i8, {base}, i32 {offset})" if offset else base


def told(states: str, base: int) -> str:
    """Stores of one state for each worker."""
    return "".join(
        f"  store i8 {state}, {place(base + at)}, align 1, !dbg !7\n"
        for at, state in enumerate(states)
    )


def kernel(
    *rounds: str, works: str, default: int = 4, base: int = 96, blocks: dict[str, str] | None = None
) -> LlvmModule:
    """Workers of states `works` have code; the state after all others ends them."""
    states = sorted({state for each in rounds for state in each})
    end = len(states)
    cases = "".join(f"    i8 {state}, label %state{state}\n" for state in states)
    bodies = "".join(
        f"state{state}:\n"
        + (blocks or {}).get(state, f"{IDLE}{WORK if state in works else ''}  br label %again\n\n")
        for state in states
    )
    loops = "".join(f"{told(each, base)}  {WAIT}" for each in rounds)
    return LlvmModule(
        "define ptx_kernel void @k(ptr addrspace(1) %0) {\n"
        f"  %is_worker = icmp ult i32 %warp, {default}\n"
        "  br i1 %is_worker, label %main, label %hub\n\n"
        f"hub:\n{IDLE}"
        f"  %5 = getelementptr i8, {place(base)}, i32 %warp, !dbg !7\n"
        f"  %6 = getelementptr i8, ptr addrspace(3) %5, i32 -{default}, !dbg !7\n"
        "  %7 = load i8, ptr addrspace(3) %6, align 1, !dbg !7\n"
        f"  switch i8 %7, label %other [\n{cases}    i8 {end}, label %ends\n  ], !dbg !7\n\n"
        f"other:\n{IDLE}  br label %again\n\nends:\n  ret void\n\n{bodies}"
        "again:\n  br label %hub, !llvm.loop !28\n\n"
        f"main:\n{loops}{told(str(end) * len(rounds[0]), base)}  br label %ends\n}}\n"
    )


def partitions(module: LlvmModule) -> list[tuple[int, int]]:
    return [(each.start, each.warps) for each in find_partitions(module.kernel)]


@pytest.mark.parametrize("base", [0, 98336])
def test_a_partition_begins_where_its_warps_are_told_to(base: int) -> None:
    assert partitions(kernel("1102", works="0", base=base)) == [(0, 4), (6, 1)]
    several = kernel("22221103", works="012", base=base)
    assert partitions(several) == [(0, 4), (4, 4), (8, 2), (10, 1)]
    assert partitions(kernel("0000", works="0", base=base, default=8)) == [(0, 8), (8, 4)]


def test_a_kernel_that_specialises_twice_has_the_partitions_of_both() -> None:
    found = partitions(kernel("00001122", "33333333", works="013"))
    assert found == [(0, 4), (4, 4), (4, 8), (8, 2)]


def test_a_partition_whose_first_block_only_waits_works_in_another() -> None:
    loop = f"{IDLE}  br label %loop0\n\nloop0:\n{WORK}  br i1 %x, label %loop0, label %again\n\n"
    assert partitions(kernel("1102", works="", blocks={"0": loop})) == [(0, 4), (6, 1)]


def test_calls_of_callbacks_and_phis_make_no_partition_of_what_fills_up_a_group() -> None:
    filling = (
        f"  %8 = phi i32 [ 0, %hub ]\n  call void @on_block(i32 5)\n{IDLE}  br label %again\n\n"
    )
    assert partitions(kernel("1102", works="0", blocks={"1": filling})) == [(0, 4), (6, 1)]


def test_bytes_elsewhere_in_shared_memory_are_no_warps() -> None:
    text = kernel("1102", works="0").text()
    stores = "".join(f"  store i8 0, {place(at)}, align 1\n" for at in (8, 900))
    stores += "  store i8 0, ptr addrspace(3) %x, align 1\n"
    assert partitions(LlvmModule(text.replace("main:\n", f"main:\n{stores}"))) == [(0, 4), (6, 1)]


def test_other_switches_are_no_partitions() -> None:
    text = kernel("1102", works="0").text()
    assert partitions(LlvmModule(text.replace("%7 = load i8", "%7 = trunc i8"))) == []
    assert partitions(LlvmModule(text.replace("addrspace(3) %6", "addrspace(3) %9"))) == []
    other = text.replace("ptr addrspace(3) getelementptr (i8, ", "ptr addrspace(3) %x, i64 (")
    assert partitions(LlvmModule(other)) == []
    assert partitions(LlvmModule(text.replace("store i8", "store i16"))) == []


def test_units_begin_anew_in_each_partition() -> None:
    assert first_warps(8, 4, ()) == (0, 4)
    small = [Partition(0, 4), Partition(4, 2), Partition(6, 1)]
    assert first_warps(8, 4, small) == (0, 4, 6)
    assert first_warps(8, 2, small) == (0, 2, 4, 6)
    large = [Partition(0, 4), Partition(4, 8), Partition(12, 4)]
    assert first_warps(16, 4, large) == (0, 4, 8, 12)
    assert first_warps(16, 8, large) == (0, 4, 12)
