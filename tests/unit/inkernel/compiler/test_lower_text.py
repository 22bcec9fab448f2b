"""From a mode's options to passes, and through them to text that LLVM reads."""

from dataclasses import replace
from typing import ClassVar

import pytest

from proton.errors import InstrumentationError, UsageError
from proton.inkernel.compiler.mode_passes import KernelFacts, lower_text, lowering_passes
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.modes.mode_table import parse_instrumentation
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_amd import LowerToAmd
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia
from tests.unit.inkernel.llvm.test_counting import random_kernel

KERNEL = KernelFacts("nvidia", num_warps=8, shared_bytes=0, shared_limit=0, warp_size=32)
TEXT = random_kernel(11).replace(" #5, !dbg !7", "").replace(" #0 {", " {")


def test_a_mode_without_options_keeps_a_ring_for_each_warp_in_shared_memory() -> None:
    _, allocate, last = lowering_passes(parse_instrumentation("default"), KERNEL)
    assert allocate == AllocateShared(num_warps=8)
    assert last == LowerToNvidia()


def test_every_option_reaches_its_pass() -> None:
    mode = parse_instrumentation(
        "default:buffer_type=global:buffer_strategy=flush:buffer_size=5000:granularity=warp_2:"
        "sampling_strategy=selective:sampling_options=0,3:"
        "optimizations=time_shift,sched_stores,sched_barriers,clock32"
    )
    strategy, allocate, last = lowering_passes(mode, replace(KERNEL, vendor="amd"))
    assert strategy == LowerRecordsFlush()
    assert allocate == AllocateGlobal(
        ring_bytes=2048, num_warps=8, granularity="warp_2", units=(0, 3)
    )
    assert last == LowerToAmd(warp_size=32, sched_stores=True, sched_barriers=True, time_shift=True)


def test_a_buffer_that_no_ring_fits_into_is_refused_with_the_least() -> None:
    with pytest.raises(UsageError, match="too small for 8 streams of records; give at least 128"):
        lowering_passes(parse_instrumentation("default:buffer_size=100"), KERNEL)


def test_text_comes_out_lowered_with_what_was_decided() -> None:
    text, lowering = lower_text(TEXT, lowering_passes(parse_instrumentation("default"), KERNEL))
    assert lowering is not None
    assert lowering.shared_bytes == 8 * 128, "as much as three records need, and no less than 128"
    assert LlvmModule(text).lowering == lowering


def test_text_without_records_comes_out_as_it_is() -> None:
    text = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}\n"
    passes = lowering_passes(parse_instrumentation("default"), KERNEL)
    assert lower_text(text, passes) == (text, None)


class Breaks:
    """Leaves text that LLVM cannot read."""

    name: ClassVar[str] = "breaks"
    level: ClassVar[str] = "llvm"

    def apply(self, module: LlvmModule) -> None:
        module.kernel.blocks[0].lines.insert(0, "  %proton.x = add i32 %proton.nowhere, 0")


def test_text_that_llvm_refuses_is_an_error_that_names_the_kernel() -> None:
    passes = (*lowering_passes(parse_instrumentation("default"), KERNEL), Breaks())
    with pytest.raises(InstrumentationError, match="kernel 'k': LLVM refuses the text"):
        lower_text(TEXT, passes)
