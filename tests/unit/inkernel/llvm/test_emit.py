"""Ops become calls: values of every width, numbers kept, and wrong vendors refused."""

import pytest

from proton.errors import InstrumentationError
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia


def kernel(*records: tuple[str, str, str]) -> LlvmModule:
    lines = [
        f'  %{at} = call i32 asm sideeffect "// proton.{text}", "=r{register},~{{memory}}"'
        f"({operand}) #5, !dbg !7"
        for at, (text, register, operand) in enumerate(records, 3)
    ]
    return LlvmModule(
        "define ptx_kernel void @k(i64 %0, ptr addrspace(1) readnone %1) {\n"
        + "\n".join(lines)
        + "\n  ret void, !dbg !7\n}\n"
    )


def lowered(*records: tuple[str, str, str], strategy: type = LowerRecordsCircular) -> LlvmModule:
    module = kernel(*records)
    for each in (strategy(), AllocateGlobal(num_warps=4), LowerToNvidia()):
        each.apply(module)
    return module


def test_tags_hold_kind_and_id_and_results_stay_numbered() -> None:
    module = lowered(
        ("record start a", "", ""), ("record end a", "", ""), ("record mark b", "", "")
    )
    lines = module.kernel.blocks[0].lines
    call = "call i32 @__proton_record(i64 %proton.base, i32"
    after = "ptr addrspace(1) %1, i1 %proton.lead), !dbg !7"
    assert f"  %3 = {call} 0, i32 0, {after}" in lines
    assert f"  %4 = {call} %3, i32 {1 << 30}, {after}" in lines
    assert f"  %5 = {call} %4, i32 {(2 << 30 | 1 << 16) - (1 << 32)}, {after}" in lines
    assert lines[-2].startswith("  call void @__proton_close(i64 %proton.base, i32 %5,")


def test_values_are_split_into_words() -> None:
    module = lowered(
        ("record value a", ",r", "i32 7"),
        ("record value b", ",l", "i64 %0"),
        ("record value c", ",l", "ptr addrspace(1) %1"),
        ("record value d", ",f", "float 1.0"),
        ("record value e type=f32", ",r", "i32 9"),
    )
    text = module.text()
    assert "%proton.value1.next, i32 -1073741824, i32 7," in text
    assert "%proton.value2.high, i32 %proton.value2.low" in text
    assert "ptrtoint ptr addrspace(1) %1 to i64" in text
    assert "bitcast float 1.0 to i32" in text
    assert "%proton.value5.next, i32 -1073479680, i32 9," in text
    with pytest.raises(InstrumentationError, match="values are integers, floats or pointers"):
        lowered(("record value a", ",h", "half 1.0"))


def test_all_values_of_one_name_are_recorded_as_one_type() -> None:
    """An i64 behind an i32 of its name was once read with its high word cut off."""
    module = lowered(("record value a", ",r", "i32 7"), ("record value a", ",l", "i64 %0"))
    assert "%proton.value1.wide = sext i32 7 to i64" in module.text()
    assert module.lowering is not None
    (region,) = module.lowering.record_map["regions"]
    assert (region["bits"], region["value_type"]) == (64, "i64")
    module = lowered(("record value a", ",l", "i64 %0"), ("record value a type=f32", ",r", "i32 7"))
    assert "%proton.value1.double = sitofp i64 %0 to double" in module.text()
    assert "%proton.value2.double = fpext float %proton.value2.short to double" in module.text()


def test_notify_tells_the_host_only_where_the_host_drains() -> None:
    records = ("record mark a", "", ""), ("notify", "", "")
    assert (
        "call void @__proton_notify(i32 %3" in lowered(*records, strategy=LowerRecordsFlush).text()
    )
    assert "@__proton_notify" not in lowered(*records).text()


def test_a_kernel_that_only_opens_has_headers_and_no_rings() -> None:
    module = lowered(("init", "", ""))
    assert module.lowering is not None
    assert module.lowering.scratch_bytes == 4 * 64
    assert module.lowering.record_map["ring_bytes"] == 0
    assert "@__proton_record(" not in module.text()


def test_the_record_map_says_how_to_read_a_buffer() -> None:
    module = lowered(("record start a", "", ""))
    assert module.lowering is not None
    record_map = module.lowering.record_map
    assert record_map["kernel"] == "k"
    assert record_map["warps"] == [0, 1, 2, 3]
    assert (record_map["ring_bytes"], record_map["clock_bits"]) == (128, 32)
    assert (record_map["static_records"], record_map["skipped"]) == (1, {})
    assert [region["name"] for region in record_map["regions"]] == ["a"]
    assert LlvmModule(module.text()).lowering == module.lowering


def test_records_of_functions_that_are_not_inlined_are_counted_as_skipped() -> None:
    module = kernel(("record mark a", "", ""))
    device = kernel(("record mark b", "", "")).text().replace("ptx_kernel", "internal")
    module.prologue += device.replace("@k", "@device").split("\n")
    for each in (LowerRecordsCircular(), AllocateGlobal(num_warps=4), LowerToNvidia()):
        each.apply(module)
    assert module.lowering is not None
    assert module.lowering.record_map["skipped"] == {"device": 1}


def test_a_kernel_of_another_vendor_is_refused() -> None:
    module = kernel(("record mark a", "", ""))
    for each in (LowerRecordsCircular(), AllocateGlobal(num_warps=4)):
        each.apply(module)
    with pytest.raises(InstrumentationError, match="'k' is for nvidia; use lower-to-nvidia"):
        LowerToAmd().apply(module)


def test_shared_memory_is_declared_where_the_kernel_has_none() -> None:
    module = kernel(("record mark a", "", ""))
    for each in (LowerRecordsCircular(), AllocateShared(num_warps=4), LowerToNvidia()):
        each.apply(module)
    assert module.text().count("@global_smem = external addrspace(3)") == 1


def test_with_no_record_between_nobody_is_remembered_until_the_end() -> None:
    """A predicate that lives through the whole kernel costs registers, and so may occupancy."""
    lines = lowered(("init kind=cta", "", ""), ("finalize", "", "")).kernel.blocks[0].lines
    assert lines[-3].strip() == "%proton.lead1 = call i1 @__proton_lead()"
    assert lines[-2].endswith("i1 %proton.lead1)")
