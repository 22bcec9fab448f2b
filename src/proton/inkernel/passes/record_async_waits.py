"""`record-async-waits`: when copies are issued and how long each iteration waits for its own."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.module import Module
from proton.inkernel.ir.op_groups import OP_GROUPS, record_around, record_of, runs_as_written
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class RecordAsyncWaits(OwnPass, level="ttgir"):
    """Mark every asynchronous copy and every iteration, and time every wait: the pipeline's view.

    Marks cost one record; together they show over several iterations which wait answers which copy.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        pipelined = OP_GROUPS["wait"] | OP_GROUPS["copy"]
        for op in module.walk():
            if not runs_as_written(op):
                continue
            if op.name in OP_GROUPS["wait"]:
                record_around(module, op, "wait")
            elif op.name in OP_GROUPS["copy"]:
                mark = record_of("mark", "copy", op)
                op.insert_before(mark.to_ttgir(module.fresh(), module.target))
            elif op.name == "scf.for" and any(each.name in pipelined for each in op.walk()):
                mark = record_of("mark", "iteration", op)
                body = op.regions[0].blocks[0]
                module.insert_first(body, mark.to_ttgir(module.fresh(), module.target))
