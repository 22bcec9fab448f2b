"""call-at: what it refuses, and how it goes with records. What it leaves is in tests/passes."""

from pathlib import Path

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.ir.layout import HEADER_BYTES
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.call_at import CallAt
from proton.inkernel.passes.count_bytes import CountBytes
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia

CALLBACKS = Path(__file__).parents[3] / "data" / "callbacks"
KERNEL = """define ptx_kernel void @k(ptr addrspace(1) %0, ptr addrspace(1) %1) #0 {
  %3 = load i32, ptr addrspace(1) %0, align 4
  switch i32 %3, label %4 [
    i32 0, label %5
  ]

4:
  br label %5

5:
  ret void
}
attributes #0 = { nounwind "nvvm.reqntid"="128" }
"""
WITHOUT = "define void @callback(i32 %site) {\n  ret void\n}\n"


def test_a_switch_is_a_branch_with_a_value() -> None:
    module = LlvmModule(KERNEL)
    file = str(CALLBACKS / "visits.ll")
    CallAt(file=file, at="branch", function="on_branch", buffer_bytes=4).apply(module)
    assert "%proton.branch0 = add i32 %3, 0" in module.text()
    assert module.lowering is not None
    assert module.lowering.scratch_bytes == 4
    assert [site["block"] for site in module.lowering.record_map["callbacks"]] == ["2"]


def test_callbacks_without_a_buffer_go_with_records(tmp_path: Path) -> None:
    file = tmp_path / "callback.ll"
    file.write_text(WITHOUT)
    module = LlvmModule(KERNEL)
    passes = (
        *(CallAt(file=str(file), at="block"), CountBytes(), LowerRecordsCircular()),
        *(AllocateGlobal(), LowerToNvidia()),
    )
    for each in passes:
        each.apply(module)
    assert module.lowering is not None
    assert len(module.lowering.record_map["callbacks"]) == 3
    assert len(module.lowering.record_map["counters"]) == 1
    assert module.text().count("call void @callback(i32") == 3


def test_a_callback_written_by_hand_is_linked_whichever_way_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "callback.ll"
    file.write_text(
        'define void @"callback" (\n    i32 %site,\n    ptr addrspace(1) writeonly %buffer)\n{\n'
        "  store i32 %site, ptr addrspace(1) %buffer\n  ret void }\n"
    )
    module = LlvmModule(KERNEL)
    CallAt(file=str(file), at="block", buffer_bytes=4).apply(module)
    assert (
        "define internal void @callback(i32 %site, ptr addrspace(1) writeonly %buffer) "
        "alwaysinline {\n  store" in module.text()
    )


def test_callbacks_with_a_buffer_have_it_behind_what_is_ours() -> None:
    file = str(CALLBACKS / "count_bytes.ll")
    call = CallAt(file=file, function="count_bytes", buffer_bytes=16)
    module = LlvmModule(KERNEL)
    for each in (call, LowerRecordsCircular(), AllocateGlobal(), LowerToNvidia()):
        each.apply(module)
    assert module.lowering is not None
    assert module.lowering.record_map["callback_offset"] == 4 * HEADER_BYTES
    assert module.lowering.scratch_bytes == 4 * HEADER_BYTES + 16
    assert "%before = mul i64 %ctas, 256" in module.text()


def test_accesses_that_are_marked_are_refused() -> None:
    module = LlvmModule(KERNEL)
    CountBytes().apply(module)
    with pytest.raises(InstrumentationError, match="run call-at before count-bytes"):
        CallAt(
            file=str(CALLBACKS / "count_bytes.ll"), function="count_bytes", buffer_bytes=8
        ).apply(module)


def test_a_kernel_without_a_site_stays_as_it_is() -> None:
    text = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}\n"
    module = LlvmModule(text)
    CallAt(file=str(CALLBACKS / "count_bytes.ll"), function="count_bytes", buffer_bytes=8).apply(
        module
    )
    assert module.lowering is None
    assert module.text() == text
