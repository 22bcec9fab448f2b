"""What the allocating passes read from a kernel and from their options."""

import pytest

from proton.errors import InstrumentationError, UsageError
from proton.inkernel.llvm.allocation import (
    Selection,
    count_warps,
    fitting_ring,
    has_records,
    most_records,
    select,
)
from proton.inkernel.llvm.module import LlvmModule


def module(convention: str, attributes: str, body: str = "") -> LlvmModule:
    head = f"define {convention} void @k(ptr addrspace(1) %0) #3 {{\n{body}  ret void\n}}\n"
    return LlvmModule(f"{head}attributes #3 = {{ nounwind {attributes} }}\n")


def test_warps_are_read_from_the_attributes() -> None:
    assert count_warps(module("ptx_kernel", '"nvvm.reqntid"="384"')) == 12
    assert count_warps(module("amdgpu_kernel", '"amdgpu-flat-work-group-size"="1,256"')) == 4


def test_a_kernel_that_does_not_say_needs_the_option() -> None:
    with pytest.raises(InstrumentationError, match="give num_warps"):
        count_warps(module("ptx_kernel", ""))


def test_opening_alone_is_no_record() -> None:
    init = '  %2 = call i32 asm sideeffect "// proton.init", "=r,~{memory}"()\n'
    assert not has_records(module("ptx_kernel", "", init))
    assert has_records(module("ptx_kernel", "", init.replace("init", "record mark m")))


RECORD = '  %{} = call i32 asm sideeffect "// proton.record {}", "=r,~{{memory}}"()\n'


def test_a_ring_is_no_larger_than_what_the_kernel_can_write() -> None:
    few = module("ptx_kernel", "", RECORD.format(2, "start a") + RECORD.format(3, "value n"))
    assert most_records(few.kernel) == 3, "a value takes two"
    assert (fitting_ring(few, 4096), fitting_ring(few, 64)) == (128, 64)
    body = "".join(RECORD.format(2 + at, "mark m") for at in range(70))
    many = module("ptx_kernel", "", body)
    assert (fitting_ring(many, 4096), fitting_ring(many, 512)) == (1024, 512)


def test_records_in_loops_get_all_that_there_is() -> None:
    inner = f"  br label %a\na:\n{RECORD.format(2, 'mark m')}  br label %b\nb:\n"
    once = module("ptx_kernel", "", f"{inner}  br label %c\nc:\n")
    assert (most_records(once.kernel), fitting_ring(once, 4096)) == (1, 128)
    again = module("ptx_kernel", "", f"{inner}  br i1 true, label %a, label %c\nc:\n")
    assert (most_records(again.kernel), fitting_ring(again, 4096)) == (None, 4096)


def test_options_as_text_make_a_selection() -> None:
    assert select("warp", ("3", "1"), (), 1) == Selection(units=(1, 3))
    with pytest.raises(UsageError, match="unknown granularity 'warps'; choose one of 'cta'"):
        select("warps", (), (), 1)
    with pytest.raises(UsageError, match="units and ctas must be whole numbers"):
        select("warp", ("x",), (), 1)
