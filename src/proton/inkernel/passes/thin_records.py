"""`thin-records`: record only some iterations of loops, so that a kernel slows down less."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proton.errors import UsageError
from proton.inkernel.ir.module import Module, Op
from proton.inkernel.ir.nesting import carrier_of
from proton.inkernel.ir.op_groups import LOOPS, bounds_of, under
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class ThinRecords(OwnPass, level="ttgir"):
    """Keep the records of one iteration of `every` in loops with a counter; 0 keeps none.

    What is kept says `every=N`, so that readers can tell sums of all iterations from sums of some.
    Records of `while` loops have no counter to ask: with `every` above 1 they go. Events stay,
    because their other half may be elsewhere.
    """

    every: int = 4

    def __post_init__(self) -> None:
        if self.every < 0 or self.every & (self.every - 1):
            raise UsageError(f"every must be a power of two or 0, not {self.every!r}")

    def apply(self, module: Module) -> None:
        """Edit the module."""
        if self.every == 1:
            return
        for loop in module.walk():
            if loop.name not in LOOPS:
                continue
            records = [op for op in loop.walk() if _belongs(op, loop)]
            if not records:
                continue
            if self.every == 0 or loop.name == "scf.while":
                for op in records:
                    op.remove()
            else:
                self._thin(module, loop, records)

    def _thin(self, module: Module, loop: Op, records: list[Op]) -> None:
        bounds = bounds_of(module, loop)
        kind = bounds.type
        passed, count, mask, low, zero, is_kept = (module.fresh() for _ in range(6))
        lines = (
            f"{passed} = arith.subi {bounds.counter}, {bounds.first} : {kind}",
            f"{count} = arith.divui {passed}, {bounds.step} : {kind}",
            f"{mask} = arith.constant {self.every - 1} : {kind}",
            f"{low} = arith.andi {count}, {mask} : {kind}",
            f"{zero} = arith.constant 0 : {kind}",
            f"{is_kept} = arith.cmpi eq, {low}, {zero} : {kind}",
        )
        module.insert_first(loop.regions[-1].blocks[0], "\n".join(lines))
        for op in records:
            carrier = carrier_of(op)
            assert carrier is not None
            attributes = {**carrier.attributes, "every": str(self.every)}
            op.replace(under(module, is_kept, replace(carrier, attributes=attributes)))


def _belongs(op: Op, loop: Op) -> bool:
    """Whether it is a record that runs once an iteration of this loop, and of no loop inside it."""
    carrier = carrier_of(op)
    if carrier is None or not carrier.is_record or carrier.kind == "event":
        return False
    inner = next((each for each in op.ancestors if each.name in LOOPS), None)
    return inner is loop
