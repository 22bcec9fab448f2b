"""Accesses to global memory, as both vendors' text has them."""

import pytest

from proton.inkernel.llvm.accesses import Access, find_accesses, find_uncovered
from proton.inkernel.llvm.module import LlvmModule


def kernel(*lines: str, convention: str = "ptx_kernel") -> LlvmModule:
    body = "\n".join(f"  {line}" for line in (*lines, "ret void"))
    return LlvmModule(f"define {convention} void @k(ptr addrspace(1) %0) {{\n{body}\n}}\n")


def one(line: str, *before: str, convention: str = "ptx_kernel") -> Access:
    (found,) = find_accesses(kernel(*before, line, convention=convention).kernel)
    return found


P = "ptr addrspace(1)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            r'%5 = tail call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, '
            r'[ $2 + 0 ];", "=r,r,l,b"(i32 -8, ptr addrspace(1) %31, i1 %19) #5, !dbg !16',
            ("load", 4, f"{P} %31", "", "i1 %19", ", !dbg !16"),
        ),
        (
            r'%5 = tail call { i32, i32 } asm sideeffect "ld.global.L1::evict_last.v2.b64 '
            r'{ $0, $1 }, [ $2 + 0 ];", "=l,=l,l"(ptr addrspace(1) %3)',
            ("load", 16, f"{P} %3", "", "", ""),
        ),
        (
            r'tail call void asm sideeffect "@!$2 st.global.v2.b16 [ $1 + 8 ], { $0, $0 };", '
            r'"h,l,b"(i16 %4, ptr addrspace(1) %5, i1 %6) #2',
            ("store", 4, f"{P} %5", "8", "!i1 %6", ""),
        ),
        (
            r'tail call void asm sideeffect "cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], '
            r'0x10, $2;", "r,l,r"(ptr addrspace(3) nonnull %1, ptr addrspace(1) %2, i32 %3) #2',
            ("copy", 16, f"{P} %2", "", "i32 %3", ""),
        ),
        (
            r'tail call void asm sideeffect "@$2 cp.async.ca.shared.global [ $0 + 0 ], '
            r'[ $1 + 0 ], 0x4, 0x4;", "r,l,b"(ptr addrspace(3) %1, ptr addrspace(1) %2, i1 true)',
            ("copy", 4, f"{P} %2", "", "", ""),
        ),
        (
            r'%2 = tail call float asm sideeffect "mov.u32 $0, 0x0;\0A\09@$3 '
            r'atom.global.gpu.acq_rel.add.f32 $0, [ $1 + 0 ], $2;", "=r,l,r,b"'
            r"(ptr addrspace(1) %7, float %8, i1 %9) #6",
            ("atomic", 4, f"{P} %7", "", "i1 %9", ""),
        ),
        (
            "%2 = load <8 x half>, ptr addrspace(1) %4, align 16",
            ("load", 16, f"{P} %4", "", "", ""),
        ),
        (
            "store <2 x float> %21, ptr addrspace(1) %16, align 8, !dbg !18",
            ("store", 8, f"{P} %16", "", "", ", !dbg !18"),
        ),
        (
            "store i64 0, ptr addrspace(1) %16, align 8",
            ("store", 8, f"{P} %16", "", "", ""),
        ),
        (
            '%7 = atomicrmw fadd ptr addrspace(1) %3, float %1 syncscope("agent") release, align 4',
            ("atomic", 4, f"{P} %3", "", "", ""),
        ),
        (
            "%7 = cmpxchg ptr addrspace(1) %3, i64 %1, i64 %2 monotonic monotonic, align 8",
            ("atomic", 8, f"{P} %3", "", "", ""),
        ),
        (
            "call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %3, ptr addrspace(3) %4, "
            "i32 16, i32 0, i32 0)",
            ("copy", 16, f"{P} %3", "", "", ""),
        ),
    ],
)
def test_an_access_is_read(line: str, expected: tuple[str, int, str, str, str, str]) -> None:
    found = one(line)
    assert (
        *(found.kind, found.bytes, found.pointer, found.offset, found.mask, found.location),
    ) == expected


RESOURCE = (
    "%22 = tail call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %21, "
    "i16 0, i64 2147483646, i32 159744)"
)


@pytest.mark.parametrize(
    ("line", "kind", "size"),
    [
        ("%25 = tail call float @llvm.amdgcn.raw.ptr.buffer.load.f32(@, i32 0, i32 0)", "load", 4),
        (
            "%2 = call <4 x i32> @llvm.amdgcn.raw.ptr.buffer.load.v4i32(@, i32 0, i32 0)",
            "load",
            16,
        ),
        (
            "tail call void @llvm.amdgcn.raw.ptr.buffer.store.v2f32(<2 x float> %1, @, i32 0)",
            "store",
            8,
        ),
        (
            "%2 = call float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float %1, @, i32 0)",
            "atomic",
            4,
        ),
    ],
)
def test_a_buffer_access_has_the_pointer_of_its_resource(line: str, kind: str, size: int) -> None:
    line = line.replace("@, ", "ptr addrspace(8) %22, i32 %24, ")
    found = one(line, RESOURCE, convention="amdgpu_kernel")
    assert (found.kind, found.bytes, found.pointer) == (kind, size, f"{P} %21")
    assert (found.offset, found.mask) == ("i32 %24", "i32 %24 masked")


def test_a_copy_of_a_buffer_to_shared_memory_is_one() -> None:
    line = (
        "call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8) %22, ptr addrspace(3) %5, "
        "i32 4, i32 %24, i32 0, i32 0, i32 0)"
    )
    found = one(line, RESOURCE, convention="amdgpu_kernel")
    assert (found.kind, found.bytes, found.offset) == ("copy", 4, "i32 %24")


@pytest.mark.parametrize(
    "line",
    [
        r'tail call void asm sideeffect "@$2 st.shared.b32 [ $0 + 0 ], $1;", "r,r,b"(ptr '
        r"addrspace(3) %92, i32 %93, i1 %91)",
        "%109 = load float, ptr addrspace(3) @global_smem, align 16",
        "tail call void @llvm.nvvm.cp.async.commit.group()",
        r'%1 = call i32 asm sideeffect "// ld.global of nothing", "=r"()',
        "%29 = getelementptr float, ptr addrspace(1) %0, i64 %28",
        r'tail call void asm sideeffect "@$1 ld.global.b32 $0, [ $0 + 0 ];", "l,b"'
        r"(ptr addrspace(1) %1, i1 false)",
    ],
)
def test_what_is_no_access_is_none(line: str) -> None:
    assert find_accesses(kernel(line).kernel) == []


def test_copies_by_descriptor_are_known_by_the_bytes_their_barrier_expects() -> None:
    expect = (
        r'tail call void asm sideeffect "@$0 mbarrier.arrive.expect_tx.shared.b64 _, [$1], 16384;",'
        r' "b,r"(i1 %22, ptr addrspace(3) %3) #5, !dbg !10'
    )
    load = (
        r'tail call void asm sideeffect "@$0 cp.async.bulk.tensor.2d.shared::cluster.global.'
        r'mbarrier::complete_tx::bytes [$1], [$2, {$3, $4}], [$5];", "b,r,l,r,r,r"(i1 %1, '
        r"ptr addrspace(3) %2, ptr %3, i32 %4, i32 %5, ptr addrspace(3) %6)"
    )
    store = (
        r'tail call void asm sideeffect "@$0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group '
        r'[$1, {$2, $3}], [$4];", "b,l,r,r,r"(i1 %74, ptr %25, i32 %33, i32 %2, ptr %32) #5'
    )
    found = kernel(expect, load, load, store)
    (access,) = find_accesses(found.kernel)
    assert (access.kind, access.bytes, access.pointer, access.mask) == ("copy", 16384, "", "i1 %22")
    assert find_uncovered(found) == {"tma_load_addresses": 2, "tma_stores": 1}


def test_accesses_of_functions_that_are_not_inlined_are_not_covered() -> None:
    text = """define internal void @apart(ptr addrspace(1) %0) {
  %2 = load i32, ptr addrspace(1) %0, align 4
  store i32 %2, ptr addrspace(1) %0, align 4
  ret void
}
define ptx_kernel void @k(ptr addrspace(1) %0) {
  %2 = load i32, ptr addrspace(1) %0, align 4
  ret void
}
"""
    assert find_uncovered(LlvmModule(text)) == {"in_called_functions": 2}
