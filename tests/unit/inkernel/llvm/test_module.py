"""LLVM text is read and printed back; blocks, edges and the kernel's last parameter are found."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.module import LlvmModule

TEXT = """; ModuleID = 'x'
@global_smem = external addrspace(3) global [0 x i8], align 16

define internal i32 @device(i32 %0) #1 {
  %2 = call i32 asm sideeffect "// proton.record mark inner", "=r,~{memory}"()
  ret i32 %2
}

; Function Attrs: nounwind
define ptx_kernel void @"the kernel"(i32 %0, i32 %1, ptr addrspace(1) readnone %2) #0 !dbg !4 {
  %4 = call i32 asm sideeffect "# label %nowhere", "=r"()
  switch i32 %1, label %common.ret [
    i32 0, label %5
    i32 1, label %"odd name"
    i32 2, label %5
  ]

common.ret:                                       ; preds = %3, %5
  ret void

5:                                                ; preds = %3, %3
  br label %common.ret

"odd name":                                       ; preds = %3
  unreachable
}

attributes #0 = { nounwind "nvvm.reqntid"="128" }
"""


def test_text_that_nobody_changed_prints_byte_for_byte() -> None:
    assert LlvmModule(TEXT).text() == TEXT
    assert str(LlvmModule(TEXT)) == TEXT


def test_the_entry_has_the_number_after_the_parameters() -> None:
    kernel = LlvmModule(TEXT).kernel
    assert kernel.name == "the kernel"
    assert [block.name for block in kernel.blocks] == ["3", "common.ret", "5", '"odd name"']


def test_every_edge_counts_and_assembly_has_none() -> None:
    kernel = LlvmModule(TEXT).kernel
    assert kernel.blocks[0].successors() == ["common.ret", "5", '"odd name"', "5"]
    assert kernel.predecessors()["5"] == ["3", "3"]
    assert kernel.blocks[1].returns_at() == 0
    assert kernel.blocks[3].returns_at() is None


def test_the_buffer_parameter_loses_what_is_not_true_any_more() -> None:
    kernel = LlvmModule(TEXT).kernel
    assert kernel.open_scratch() == "%2"
    assert kernel.header.endswith("i32 %1, ptr addrspace(1) %2) #0 !dbg !4 {")


def test_what_else_an_amd_parameter_has_stays() -> None:
    text = "define amdgpu_kernel void @k(ptr addrspace(1) inreg readnone captures(none) %0) #1 {"
    kernel = LlvmModule(f"{text}\n  ret void\n}}").kernel
    kernel.open_scratch()
    assert kernel.vendor == "amd"
    assert "(ptr addrspace(1) inreg %0) #1" in kernel.header


def test_a_kernel_without_a_buffer_parameter_is_refused_by_name() -> None:
    kernel = LlvmModule("define ptx_kernel void @k(i32 %0) {\n  ret void\n}").kernel
    with pytest.raises(InstrumentationError, match=r"'k' has no pointer as its last parameter"):
        kernel.open_scratch()


def test_a_label_on_the_entry_is_its_name() -> None:
    kernel = LlvmModule("define ptx_kernel void @k() {\nentry:\n  ret void\n}").kernel
    assert [block.name for block in kernel.blocks] == ["entry"]


def test_attributes_and_functions_of_the_module_are_found() -> None:
    module = LlvmModule(TEXT)
    assert '"nvvm.reqntid"="128"' in module.kernel_attributes()
    carriers = [name for name, line in module.called_lines() if "// proton." in line]
    assert carriers == ["device"]


@pytest.mark.parametrize("count", [0, 2])
def test_text_must_have_one_kernel(count: int) -> None:
    text = "define ptx_kernel void @k() {\n  ret void\n}\n" * count
    with pytest.raises(InstrumentationError, match=f"a.ll: has {count} kernels"):
        LlvmModule(text, "a.ll")


def test_half_a_kernel_is_refused() -> None:
    with pytest.raises(InstrumentationError, match="ends inside its kernel"):
        LlvmModule("define ptx_kernel void @k() {\n  ret void\n", "a.ll")


def test_a_jump_to_nowhere_is_refused() -> None:
    kernel = LlvmModule("define ptx_kernel void @k() {\n  br label %9\n}").kernel
    with pytest.raises(InstrumentationError, match=r"jumps to '9', which is not in the kernel"):
        kernel.predecessors()
