"""Marks behind accesses: what they carry, and that they are not made twice."""

from proton.inkernel.llvm.access_marks import mark_accesses
from proton.inkernel.llvm.module import LlvmModule

TEXT = """define amdgpu_kernel void @k(ptr addrspace(1) %0, i32 %1) {
  %3 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %0, i16 0)
  %4 = call float @llvm.amdgcn.raw.ptr.buffer.load.f32(ptr addrspace(8) %3, i32 %1, i32 0, i32 0)
  store float %4, ptr addrspace(1) %0, align 4
  ret void
}
"""


def marked(**options: object) -> list[str]:
    module = LlvmModule(TEXT)
    assert mark_accesses(module, **options) == 2  # type: ignore[arg-type]
    return [line.strip() for line in module.kernel.blocks[0].lines]


def test_a_lane_of_a_buffer_access_takes_part_unless_its_offset_says_masked() -> None:
    lines = marked(has_addresses=True, names=("weights",))
    assert lines[2:7] == [
        "%proton.on0.mask = icmp ne i32 %1, -2147483648",
        "%proton.on0 = zext i1 %proton.on0.mask to i32",
        "%proton.at0.base = ptrtoint ptr addrspace(1) %0 to i64",
        "%proton.at0.offset = zext i32 %1 to i64",
        "%proton.at0 = add i64 %proton.at0.base, %proton.at0.offset",
    ]
    assert "name=load%20weights kind=load bytes=4 argument=0" in lines[7]
    assert lines[7].endswith('"=r,v,v"(i32 %proton.on0, i64 %proton.at0)')
    assert lines[10].endswith("(i32 1, i64 %proton.at1)")


def test_attributes_go_to_the_kernels_init() -> None:
    assert "// proton.init bins=16" in marked(has_addresses=True, attributes={"bins": "16"})[0]


def test_marks_with_addresses_replace_those_without_and_nothing_is_marked_twice() -> None:
    module = LlvmModule(TEXT)
    assert mark_accesses(module, has_addresses=False) == 2
    before = module.text()
    assert mark_accesses(module, has_addresses=False) == 0
    assert module.text() == before
    assert mark_accesses(module, has_addresses=True) == 2
    assert module.text().count("proton.access ") == 2
    assert mark_accesses(module, has_addresses=False) == 0


def test_a_kernel_without_accesses_stays_byte_for_byte() -> None:
    text = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}\n"
    module = LlvmModule(text)
    assert mark_accesses(module, has_addresses=True, attributes={"bins": "16"}) == 0
    assert module.text() == text
