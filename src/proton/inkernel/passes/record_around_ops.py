"""`record-around-ops`: time memory operations, waits, dots and barriers, named by source line."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.module import TERMINATORS, Module
from proton.inkernel.ir.op_groups import kinds_of, record_around, runs_as_written
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class RecordAroundOps(OwnPass, level="ttgir"):
    """Time every operation of the groups in `ops`: load, store, atomic, copy, wait, dot, ...

    A word with a dot is an operation's own name (`ops=load,tt.splat`). Operations with the same
    kind, variable and line share a name: a pipelined loop's prologue counts with its body. What
    runs asynchronously is timed for as long as its issue takes; its wait is timed by itself.
    """

    ops: tuple[str, ...] = ("load", "store", "atomic", "copy", "wait", "dot", "barrier")

    def __post_init__(self) -> None:
        kinds_of(self.ops)  # refuses unknown words before there is a module

    def apply(self, module: Module) -> None:
        """Edit the module."""
        kinds = kinds_of(self.ops)
        for op in module.walk():
            kind = kinds.get(op.name)
            if kind and op.name not in TERMINATORS and runs_as_written(op):
                record_around(module, op, kind)
