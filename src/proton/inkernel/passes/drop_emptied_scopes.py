"""`drop-emptied-scopes`: take out records that Triton's specialisation of warps left behind."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import Block, Module, Op
from proton.inkernel.ir.nesting import carrier_of, is_conditional
from proton.inkernel.ir.op_groups import OP_GROUPS
from proton.inkernel.passes import OwnPass

_SPECIALIZED = "ttg.warp_specialize"
_WORK = frozenset().union(*(ops for group, ops in OP_GROUPS.items() if group != "barrier"))


@dataclass(frozen=True)
class DropEmptiedScopes(OwnPass, level="ttgir"):
    """Remove user records beside a specialised part, unless there is work between start and end.

    For kernels of Triton's language on sm_90: what a kernel does, around its loop too, is moved
    into partitions there, and the user's records stay before all of it, around nothing. Numbers
    stay as they are right wherever they are recorded. Kernels whose source specialises warps
    (Gluon) are not meant: what is empty there was written so.
    """

    def apply(self, module: Module) -> None:
        """Edit the module."""
        if not module.target.startswith("cuda:9"):
            return
        for kernel in module.kernels():
            for block in (block for region in kernel.regions for block in region.blocks):
                if any(op.name == _SPECIALIZED for op in block.ops):
                    for op in _left_behind(block):
                        op.remove()


def _left_behind(block: Block) -> list[Op]:
    begun: dict[str, list[tuple[int, Op]]] = {}
    found: list[Op] = []
    work = 0  # operations so far
    for op in block.ops:
        if (carrier := _record_of(op)) is None:
            work += op.name in _WORK or bool(op.regions)
        elif carrier.action == "start":
            begun.setdefault(carrier.name, []).append((work, op))
        elif carrier.action == "end" and begun.get(carrier.name):
            before, start = begun[carrier.name].pop()
            if before == work:
                found += [start, op]
        elif carrier.action != "value":
            found.append(op)
    return found + [start for starts in begun.values() for _, start in starts]


def _record_of(op: Op) -> Carrier | None:
    """The record that an operation is, or guards."""
    inside = op.regions[0].blocks[0].ops if is_conditional(op) else [op]
    carriers = [carrier for each in inside if (carrier := carrier_of(each)) is not None]
    return next((carrier for carrier in carriers if carrier.is_record), None)
