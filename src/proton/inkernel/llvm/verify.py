"""Checks the ops of a kernel in LLVM text: opened once, closed before every return, bytes right.

LLVM ends the process on values that are used where they are not defined, so the chain of bytes
written is followed here, edge by edge, before LLVM sees it.
"""

from __future__ import annotations

import re

from proton.errors import InstrumentationError
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carriers
from proton.inkernel.llvm.counting import START
from proton.inkernel.llvm.module import Block, Kernel, LlvmModule

_PHI = re.compile(r"^\s*(%proton\.bytes\d+) = phi i32 (.*)$")
_EDGE = re.compile(r'\[ (\S+), %([-\w.$]+|"[^"]*") \]')


def verify(module: LlvmModule) -> None:
    """Raise InstrumentationError, naming block and op, where a rule is broken."""
    kernel = module.kernel
    ops = {block.name: list(read_carriers(block.lines)) for block in kernel.blocks}
    every = [op for each in ops.values() for op in each]
    if not any("strategy" in op.attributes for op in every if op.op == "init"):
        if any(op.op in ("circular_record", "flush_record") for op in every):
            raise _broken(kernel, kernel.blocks[0], "records have a strategy and no init has")
        return
    if [op.op for op in ops[kernel.blocks[0].name]].count("init") != 1 or (
        sum(op.op == "init" for op in every) != 1
    ):
        raise _broken(kernel, kernel.blocks[0], "init must stand once, in the entry block")
    for block in kernel.blocks:
        closes = [op.op for op in ops[block.name]].count("finalize")
        returns = block.returns_at() is not None
        if closes != returns or (returns and ops[block.name][-1].op != "finalize"):
            raise _broken(kernel, block, "finalize must stand once, last, where the kernel returns")
        if any(op.op in ("record", "guard") for op in ops[block.name]):
            raise _broken(kernel, block, "a record without a strategy is left")
    _check_bytes(kernel, ops)


def _broken(kernel: Kernel, block: Block, what: str) -> InstrumentationError:
    return InstrumentationError(f"kernel {kernel.name!r}, block {block.name!r}: {what}")


def _check_bytes(kernel: Kernel, ops: dict[str, list[CarrierLine]]) -> None:
    """Follow every edge from the entry: each op takes what the op before it gave."""
    blocks = {block.name: block for block in kernel.blocks}
    entry = kernel.blocks[0]
    tops = {entry.name: START}
    pending = [entry.name]
    while pending:
        block = blocks[pending.pop()]
        bottom = _check_block(kernel, block, ops[block.name], tops[block.name])
        for name in block.successors():
            phi = _phi(blocks[name])
            if phi is not None and dict(phi[1]).get(block.name) != bottom:
                raise _broken(kernel, blocks[name], f"wrong bytes from block {block.name!r}")
            value = bottom if phi is None else phi[0]
            if name not in tops:
                tops[name] = value
                pending.append(name)
            elif tops[name] != value:
                raise _broken(kernel, blocks[name], f"no phi for block {block.name!r}")


def _check_block(kernel: Kernel, block: Block, ops: list[CarrierLine], value: str) -> str:
    for op in ops:
        if op.op in ("init", "access"):
            continue
        if op.count_and_value()[0] != value:
            raise _broken(kernel, block, f"{op.op} {op.name!r} does not take {value}")
        value = op.result if op.is_record else value
    return value


def _phi(block: Block) -> tuple[str, list[tuple[str, str]]] | None:
    for line in block.lines:
        if matched := _PHI.match(line):
            return matched[1], [(block, value) for value, block in _EDGE.findall(matched[2])]
    return None
