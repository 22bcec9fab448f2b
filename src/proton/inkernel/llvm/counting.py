"""Gives every record the number of bytes its warp wrote before it, as SSA values of the kernel.

A record takes that number and its result is the number after it. Where paths with different
numbers meet, a phi is put in. Memory would do without phis, but an alloca stays in scratch memory
on AMD and costs a load and a store per record everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import CarrierLine, read_body
from proton.inkernel.llvm.module import Block, Kernel, LlvmModule

START = "0"
CARRIED_ON = ("counts", "bins", "bin_bytes", "callback")  # of an `init` that stood there before
NOWHERE = "poison"  # on edges out of blocks that nothing reaches


@dataclass(frozen=True)
class Phi:
    """A number where paths meet: its name, and a value for each edge into the block."""

    name: str
    incoming: tuple[tuple[str, str], ...]  # value, block it comes from

    def __str__(self) -> str:
        edges = ", ".join(f"[ {value}, %{block} ]" for value, block in self.incoming)
        return f"  {self.name} = phi i32 {edges}"


def place_values(
    order: Sequence[str],
    predecessors: Mapping[str, Sequence[str]],
    last_value: Mapping[str, str],
    stem: str = "%proton.bytes",
) -> tuple[dict[str, str], dict[str, Phi]]:
    """The value at the top of each block, and the phis that make it so.

    Args:
        order: Block names, the entry first.
        predecessors: Block -> where its edges come from.
        last_value: Block -> the value that its last record defines; not there with no record.
        stem: What the names of the phis begin with.
    """
    entry = order[0]
    top: dict[str, str] = {entry: START}
    joins: dict[str, str] = {}

    def bottom(block: str) -> str | None:
        return last_value.get(block, top.get(block))

    # A block's value starts as unknown, becomes the one value all known edges agree on, and ends
    # as its own phi where they do not: each step only ever goes that way, so this ends.
    changed = True
    while changed:
        changed = False
        for at, block in enumerate(order):
            if block == entry or block in joins:
                continue
            values = {value for p in predecessors[block] if (value := bottom(p)) is not None}
            if not values:
                continue
            value = values.pop()
            if values:
                value = joins[block] = f"{stem}{at}"
            if top.get(block) != value:
                top[block] = value
                changed = True
    phis = {
        block: Phi(name, tuple((bottom(p) or NOWHERE, p) for p in predecessors[block]))
        for block, name in joins.items()
    }
    return {block: top.get(block, START) for block in order}, phis


def thread_records(module: LlvmModule, op: str, attributes: Mapping[str, str]) -> None:
    """Turn every `record` of the kernel into `op`, opened at the entry and closed before returns.

    A kernel with no op of ours stays as it is. Opening is moved to the entry block and closing to
    the blocks that return: warps of a specialised kernel pass through no other block together.

    Raises:
        InstrumentationError: records of the kernel have a strategy already.
    """
    blocks = module.kernel.blocks
    bodies = [read_body(block.lines) for block in blocks]
    ops = {each.op for body in bodies for each in body if isinstance(each, CarrierLine)}
    if not ops:
        return
    if ops & {"circular_record", "flush_record"}:
        raise InstrumentationError(
            f"kernel {module.kernel.name!r}: its records have a strategy already; run only one of "
            "lower-records-circular and lower-records-flush, once"
        )
    kept = {
        key: value
        for each in bodies[0]
        if isinstance(each, CarrierLine) and each.op == "init"
        for key, value in each.attributes.items()
        if key in CARRIED_ON
    }
    for at, (block, body) in enumerate(zip(blocks, bodies, strict=True)):
        _open_and_close(at, block, body, {**kept, **attributes})
    _number(module.kernel, bodies, op)


def _open_and_close(
    at: int, block: Block, body: list[str | CarrierLine], attributes: Mapping[str, str]
) -> None:
    """Leave one `init` on top of the entry, one `finalize` before each return, none elsewhere."""
    for index, each in enumerate(body):
        if isinstance(each, CarrierLine) and each.op in ("init", "finalize", "guard"):
            body[index] = each.nothing()
    if (end := block.returns_at()) is not None:
        body.insert(end, CarrierLine("finalize", f"%proton.closed{at}"))
    if at == 0:
        body.insert(0, CarrierLine("init", "%proton.opened", attributes=dict(attributes)))


def _number(kernel: Kernel, bodies: list[list[str | CarrierLine]], op: str) -> None:
    """Give each op the value that reaches it, and put in the phis."""
    last = {
        block.name: results[-1]
        for block, body in zip(kernel.blocks, bodies, strict=True)
        if (results := [each.result for each in body if _writes(each)])
    }
    order = [block.name for block in kernel.blocks]
    top, phis = place_values(order, kernel.predecessors(), last)
    for block, body in zip(kernel.blocks, bodies, strict=True):
        value = top[block.name]
        lines = [str(phis[block.name])] if block.name in phis else []
        for each in body:
            if isinstance(each, str) or each.op in ("init", "access"):
                lines.append(str(each))
                continue
            lines.append(str(each.counted(op if each.is_record else each.op, value)))
            if _writes(each):
                value = each.result
        block.lines = lines


def _writes(each: str | CarrierLine) -> TypeGuard[CarrierLine]:
    return isinstance(each, CarrierLine) and each.is_record
