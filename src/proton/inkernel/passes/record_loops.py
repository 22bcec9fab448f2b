"""`record-loops`: time loops and their iterations, the first `cap` of each run of a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import Block, Module, Op
from proton.inkernel.ir.op_groups import (
    LOOPS,
    bounds_of,
    record_around,
    records_of,
    runs_as_written,
    under,
)
from proton.inkernel.modes.instrumentation_mode import iteration_cap
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class RecordLoops(OwnPass, level="ttgir"):
    """Time every loop and its iterations, the first `cap` of each run (0: all of them).

    Readers let an iteration last until the next one starts or its loop ends; the start says the
    cap, for behind that many others are missing. A `while` loop has no counter to compare with the
    cap: with one, only the whole loop is timed. `whole=false` leaves out the loop itself, and an
    iteration then ends at its own end.
    """

    cap: int = 64
    whole: bool = True

    def __post_init__(self) -> None:
        iteration_cap(self.cap)  # refuses what the kernel's counters cannot hold

    def apply(self, module: Module) -> None:
        """Edit the module."""
        for loop in module.walk():
            if loop.name not in LOOPS or not runs_as_written(loop):
                continue
            if self.whole:
                record_around(module, loop, "loop")
            body = loop.regions[-1].blocks[0]
            start, end = records_of("iteration", loop)
            if self.cap == 0:
                module.insert_first(body, start.to_ttgir(module.fresh(), module.target))
                module.insert_last(body, end.to_ttgir(module.fresh(), module.target))
            elif loop.name == "scf.for":
                self._record_first(module, loop, body, start, end)

    def _record_first(
        self, module: Module, loop: Op, body: Block, start: Carrier, end: Carrier
    ) -> None:
        """Both records under one condition: counter - first < cap * step."""
        bounds = bounds_of(module, loop)
        kind = bounds.type
        cap, reach, passed, is_early = (module.fresh() for _ in range(4))
        start = replace(start, attributes={**start.attributes, "cap": str(self.cap)})
        lines = (
            f"{cap} = arith.constant {self.cap} : {kind}",
            f"{reach} = arith.muli {bounds.step}, {cap} : {kind}",
            f"{passed} = arith.subi {bounds.counter}, {bounds.first} : {kind}",
            f"{is_early} = arith.cmpi ult, {passed}, {reach} : {kind}",
        )
        module.insert_first(body, "\n".join((*lines, under(module, is_early, start))))
        module.insert_last(body, under(module, is_early, end))
