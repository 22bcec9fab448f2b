"""The last pass for NVIDIA: options reach the text and the record map."""

import pytest

from proton import _triton
from proton.errors import InstrumentationError
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia
from tests.unit.inkernel.llvm.test_counting import random_kernel


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_llvm_reads_what_is_left_of_random_kernels(seed: int) -> None:
    text = random_kernel(seed).replace(" #5, !dbg !7", "").replace(" #0 {", " {")
    module = LlvmModule(text)
    for each in (LowerRecordsCircular(), AllocateGlobal(num_warps=4), LowerToNvidia()):
        each.apply(module)
    assert _triton.llvm_parse_error(module.text()) is None
    assert '"// proton.' not in module.text()


def test_options_reach_the_record_map() -> None:
    module = LlvmModule(random_kernel(11))
    lower = LowerToNvidia(clock32=False, time_shift=True)
    for each in (LowerRecordsCircular(), AllocateGlobal(num_warps=4), lower):
        each.apply(module)
    assert module.lowering is not None
    record_map = module.lowering.record_map
    assert (record_map["clock_bits"], record_map["time_shift"]) == (48, True)
    assert (record_map["target"], record_map["warp_size"]) == ("nvidia", 32)


def test_memory_must_be_allocated_first() -> None:
    module = LlvmModule(random_kernel(11))
    LowerRecordsCircular().apply(module)
    with pytest.raises(InstrumentationError, match="run allocate-global or allocate-shared first"):
        LowerToNvidia().apply(module)
