"""count-bytes: what it leaves alone. What it leaves is in tests/passes."""

from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes.count_bytes import CountBytes

PLAIN = "define ptx_kernel void @k(ptr addrspace(1) %0) {\n  ret void\n}\n"


def test_a_kernel_without_accesses_stays_byte_for_byte() -> None:
    module = LlvmModule(PLAIN)
    CountBytes().apply(module)
    assert module.text() == PLAIN
