"""Functions of another text in a kernel's module."""

import pytest

from proton import _triton
from proton.errors import InstrumentationError
from proton.inkernel.llvm.linking import link
from proton.inkernel.llvm.module import LlvmModule

KERNEL = """declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
define ptx_kernel void @k(ptr addrspace(1) %0) #0 !dbg !4 {
  ret void
}
attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { nounwind }
!llvm.module.flags = !{!2}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{}
"""

OTHER = """; ModuleID = 'callbacks.cpp'
source_filename = "callbacks.cpp"
target triple = "nvptx64-nvidia-cuda"
%pair = type { i32, i32 }
@text = private constant [4 x i8] c"#1!0"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1
declare i32 @llvm.ctpop.i32(i32) #1
define weak_odr dso_local void @f(i32 %x) local_unnamed_addr #0 !dbg !7 {
  %y = call i32 @llvm.ctpop.i32(i32 %x) #2, !dbg !9, !range !0
  ret void, !dbg !9
}
attributes #0 = { mustprogress noinline nounwind optnone "target-cpu"="sm_30" "x"="y" }
attributes #1 = { nounwind memory(none) }
attributes #2 = { convergent }
!llvm.module.flags = !{!1}
!llvm.dbg.cu = !{!6}
!0 = !{i32 0, i32 33}
!1 = !{i32 1, !"wchar_size", i32 4}
!6 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !8)
!7 = distinct !DISubprogram(name: "f", unit: !6)
"""


def test_numbers_move_and_what_is_the_other_modules_own_is_left_out() -> None:
    module = LlvmModule(KERNEL)
    link(module, OTHER, is_inlined=True)
    lines = module.text().split("\n")
    assert '@text = private constant [4 x i8] c"#1!0"' in lines, "strings stay"
    assert lines.index("%pair = type { i32, i32 }") < lines.index(module.kernel.header)
    assert "define internal void @f(i32 %x) local_unnamed_addr #2 alwaysinline {" in lines
    assert "  %y = call i32 @llvm.ctpop.i32(i32 %x) #4, !range !5" in lines
    assert "!5 = !{i32 0, i32 33}" in lines
    assert "declare i32 @llvm.ctpop.i32(i32) #3" in lines
    text = module.text()
    assert text.count("@llvm.nvvm.read.ptx.sreg.tid.x()") == 1
    assert text.count("!llvm.module.flags") == 1
    for word in ("noinline", "optnone", "target-cpu", "DICompileUnit", "nvptx64", "!dbg !14"):
        assert word not in text


INLINE_AND_DEBUG = """$f = comdat any
$table = comdat any
@table = linkonce_odr constant [9 x i8] c", comdat\\00", comdat, align 1
define linkonce_odr void @f(i32 %x) #0 section "x" comdat($f) align 16 !prof !0 !dbg !7 {
    #dbg_value(i32 %x, !8, !DIExpression(), !9)
  call void @llvm.dbg.value(metadata i32 %x, metadata !8, metadata !DIExpression()), !dbg !9
  br label %more, !dbg !9, !llvm.loop !3
more:
  ret void, !dbg !9
}
attributes #0 = { nounwind }
!0 = !{!"function_entry_count", i64 1}
!1 = !{!8}
!3 = distinct !{!3, !9, !4}
!4 = !{!"llvm.loop.unroll.disable"}
!7 = distinct !DISubprogram(name: "f", retainedNodes: !1)
!8 = !DILocalVariable(name: "x", scope: !7)
!9 = !DILocation(line: 1, scope: !7)
"""


def test_what_compilers_write_for_inline_functions_and_debug_info_is_left_out() -> None:
    module = LlvmModule(KERNEL)
    link(module, INLINE_AND_DEBUG, is_inlined=True)
    lines = module.text().split("\n")
    assert '@table = linkonce_odr constant [9 x i8] c", comdat\\00", align 1' in lines
    assert "define internal void @f(i32 %x) #2 align 16 alwaysinline {" in lines
    assert "  br label %more, !llvm.loop !8" in lines
    assert "!8 = distinct !{!8, !9}" in lines
    assert '!9 = !{!"llvm.loop.unroll.disable"}' in lines
    text = module.text()
    assert _triton.llvm_parse_error(text) is None
    for word in ("$f", "dbg_value", "llvm.dbg", "function_entry_count", "DILocation"):
        assert word not in text


def test_a_function_that_is_not_inlined_says_so() -> None:
    module = LlvmModule(KERNEL)
    link(module, "define void @f() {\n  ret void\n}\n", is_inlined=False)
    assert "define internal void @f() noinline {" in module.text()


def test_the_same_name_in_both_is_refused() -> None:
    with pytest.raises(InstrumentationError, match="callbacks define @k, which the kernel's"):
        link(LlvmModule(KERNEL), "define void @k() {\n  ret void\n}\n", is_inlined=True)


def test_what_nobody_defines_is_refused_where_the_linker_would_let_it_pass() -> None:
    calls = "declare void @gone()\ndefine void @f() {\n  call void @gone()\n  ret void\n}\n"
    link(LlvmModule(KERNEL), calls, is_inlined=True)  # NVIDIA's assembler says so itself
    amd = KERNEL.replace("ptx_kernel", "amdgpu_kernel")
    with pytest.raises(InstrumentationError, match="callbacks call @gone, which nobody defines"):
        link(LlvmModule(amd), calls, is_inlined=True)
    link(LlvmModule(amd), f"{calls}define void @gone() {{\n  ret void\n}}\n", is_inlined=True)
