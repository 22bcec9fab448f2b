"""Pointers followed back to the kernel's arguments."""

import pytest

from proton.inkernel.llvm.access_marks import Origins
from proton.inkernel.llvm.module import LlvmModule

TEXT = """define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1, ptr addrspace(1) readonly %2) {
  %4 = getelementptr float, ptr addrspace(1) %0, i64 1
  %5 = getelementptr i8, ptr addrspace(1) %2, i64 2
  %6 = select i1 true, ptr addrspace(1) %4, ptr addrspace(1) %0
  %7 = select i1 true, ptr addrspace(1) %4, ptr addrspace(1) %5
  %8 = inttoptr i64 5 to ptr addrspace(1)
  %9 = load ptr addrspace(1), ptr addrspace(1) %0, align 8
  br label %10

10:                                               ; preds = %10, %3
  %11 = phi ptr addrspace(1) [ %5, %3 ], [ %12, %10 ]
  %12 = getelementptr i8, ptr addrspace(1) %11, i64 16
  br i1 true, label %10, label %13

13:                                               ; preds = %10
  ret void
}
"""


@pytest.mark.parametrize(
    ("pointer", "argument"),
    [
        ("%0", 0),
        ("%4", 0),
        ("%5", 2),
        ("%6", 0),
        ("%7", None),
        ("%8", None),
        ("%9", None),
        ("%12", 2),
        ("%99", None),
    ],
)
def test_a_pointer_has_the_one_argument_that_all_ways_lead_to(
    pointer: str, argument: int | None
) -> None:
    origins = Origins(LlvmModule(TEXT).kernel)
    assert origins.argument(f"ptr addrspace(1) {pointer}") == argument
