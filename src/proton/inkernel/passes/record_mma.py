"""`record-mma`: time matrix instructions and the waits for them, and no other waits."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.module import Module
from proton.inkernel.ir.op_groups import OP_GROUPS, record_around, runs_as_written
from proton.inkernel.ir.roots import find_root
from proton.inkernel.passes import OwnPass

_SIGNALS = frozenset({"ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tc_gen5_commit"})


@dataclass(frozen=True)
class RecordMma(OwnPass, level="ttgir"):
    """Time matrix instructions (kind mma: their issue) and the waits for their results (kind wait).

    A wait on a barrier counts where a matrix instruction signals that barrier; waits for copies
    are `record-async-waits`'s.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        signalled = {
            find_root(op, value)
            for op in module.walk()
            if op.name in _SIGNALS
            for value in op.operands
        }
        for op in module.walk():
            if not runs_as_written(op):
                continue
            if op.name in OP_GROUPS["dot"]:
                record_around(module, op, "mma")
            elif op.name == "ttng.warp_group_dot_wait" or (
                op.name == "ttng.wait_barrier"
                and op.operands
                and find_root(op, op.operands[0]) in signalled
            ):
                record_around(module, op, "wait")
