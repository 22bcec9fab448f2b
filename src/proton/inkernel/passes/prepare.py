"""`prepare`: open a kernel's buffer at its entry, and close it before every return."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import RETURNS, Module, Op
from proton.inkernel.ir.nesting import carrier_of
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class Prepare(OwnPass, level="ttgir"):
    """Put init first and finalize before every return of each kernel that records; runs last.

    Kernels that have them already are left as they are. Warps that never come to a return of the
    kernel itself (those of warp specialisation) are the lowering's business.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        for kernel in module.kernels():
            if _records(kernel):
                frame(module, kernel, Carrier("init"))


def frame(module: Module, kernel: Op, init: Carrier) -> None:
    """Put `init` at the entry of a kernel and finalize before its returns, where they are not."""
    entry, *_ = blocks = kernel.regions[0].blocks
    first = carrier_of(entry.ops[0]) if entry.ops else None
    if first is None or first.op != "init":
        module.insert_first(entry, init.to_ttgir(module.fresh(), module.target))
    for block in blocks:
        leave = block.terminator
        if leave is None or leave.name not in RETURNS:
            continue
        before = carrier_of(block.ops[-2]) if len(block.ops) > 1 else None
        if before is None or before.op != "finalize":
            leave.insert_before(Carrier("finalize").to_ttgir(module.fresh(), module.target))


def _records(function: Op) -> bool:
    return any((carrier := carrier_of(op)) and carrier.is_record for op in function.walk())
