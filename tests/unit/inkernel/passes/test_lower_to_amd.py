"""The last pass for AMD: what LLVM inferred of the kernel is made true again."""

from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from tests.unit.inkernel.llvm.test_counting import random_kernel

ATTRIBUTES = (
    'attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-workgroup-id-y" '
    '"amdgpu-no-workitem-id-x" "amdgpu-no-implicitarg-ptr" "amdgpu-no-heap-ptr" }\n'
)


def test_ids_that_the_records_need_are_not_called_unneeded() -> None:
    module = LlvmModule(random_kernel(11).replace("ptx_kernel", "amdgpu_kernel") + ATTRIBUTES)
    for each in (LowerRecordsCircular(), AllocateGlobal(), LowerToAmd(sched_barriers=True)):
        each.apply(module)
    (attributes,) = (line for line in module.epilogue if line.startswith("attributes #0"))
    assert attributes == (
        'attributes #0 = { nounwind "amdgpu-flat-work-group-size"="1,256" "amdgpu-no-heap-ptr" }'
    )
    assert module.lowering is not None
    assert module.lowering.record_map["num_warps"] == 4
    assert module.lowering.record_map["global_time_ns"] == 10


def test_a_kernel_without_ops_keeps_its_attributes() -> None:
    text = f"define amdgpu_kernel void @k(ptr addrspace(1) %0) #0 {{\n  ret void\n}}\n{ATTRIBUTES}"
    module = LlvmModule(text)
    for each in (LowerRecordsCircular(), AllocateGlobal(), LowerToAmd()):
        each.apply(module)
    assert module.text() == text
