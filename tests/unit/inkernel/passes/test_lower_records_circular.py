"""The circular strategy: what the pass leaves, and what it leaves alone."""

from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.verify import verify
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from tests.unit.inkernel.llvm.test_counting import random_kernel

PLAIN = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}\n"


def test_a_kernel_without_ops_stays_byte_for_byte() -> None:
    module = LlvmModule(PLAIN)
    LowerRecordsCircular().apply(module)
    assert module.text() == PLAIN


def test_every_record_takes_and_gives_the_bytes_written() -> None:
    module = LlvmModule(random_kernel(11))
    LowerRecordsCircular().apply(module)
    verify(module)
    assert "proton.record " not in module.text()
    assert "strategy=circular" in module.text()
