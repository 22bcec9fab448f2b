"""What must hold between two passes: where our operations may stand, and how they pair up.

- `init` at most once in a kernel, before every other operation of ours; in no other function.
- with an `init`, `finalize` directly before every return of the kernel.
- starts and ends nest within their block region: along every path through the blocks of one pair
  of braces. Records that a pipeliner made conditional count as if they were not.
- ids fit: at most 2^14 names.
"""

from __future__ import annotations

from proton.errors import InstrumentationError, ScopeMismatch
from proton.inkernel.carriers import Carrier, from_ttgir
from proton.inkernel.ir import RETURNS, Block, Module, Op, Region

MOST_NAMES = 1 << 14

Begun = tuple[tuple[str, Op], ...]  # names started and not ended, outermost first


def carrier_of(op: Op) -> Carrier | None:
    """The operation of ours that `op` carries.

    Raises:
        InstrumentationError: it looks like one of ours and cannot be read; the message says where.
    """
    if op.name != "tt.elementwise_inline_asm" and not op.name.startswith("proton."):
        return None
    try:
        return from_ttgir(op.text)
    except InstrumentationError as error:
        raise op.module.error(op, str(error)) from None


def verify(module: Module) -> None:
    """Check the carriers of a module.

    Raises:
        ScopeMismatch: starts and ends do not nest; the message begins with the user's line.
        InstrumentationError: any other rule is broken.
    """
    names: set[str] = set()
    for function in module.functions():
        carriers = [(op, found) for op in function.walk() if (found := carrier_of(op))]
        names.update(carrier.name for _, carrier in carriers if carrier.is_record)
        _check_frame(module, function, carriers)
        if any(carrier.is_nested for _, carrier in carriers):
            for op in reversed(list(function.walk())):  # inside out: the nearest place is named
                for region in op.regions:
                    if not is_conditional(op):
                        _check_nesting(region)
    if len(names) > MOST_NAMES:
        raise InstrumentationError(
            f"{module.path}: {len(names)} names are recorded and ids reach to {MOST_NAMES}; "
            "record fewer kinds of operations"
        )


def is_conditional(op: Op) -> bool:
    """Whether it is an scf.if around nothing but carriers, as guards and pipeliners make them."""
    if op.name != "scf.if" or len(op.regions) != 1 or op.results:
        return False
    inside = op.regions[0].blocks[0].ops
    return bool(inside) and all(each.name == "scf.yield" or carrier_of(each) for each in inside)


def _check_frame(module: Module, function: Op, carriers: list[tuple[Op, Carrier]]) -> None:
    inits = [op for op, carrier in carriers if carrier.op == "init"]
    if not inits:
        return
    if function not in module.kernels():
        raise module.error(inits[0], f"proton.init is in {function.symbol}, which is no kernel")
    if len(inits) > 1:
        raise module.error(inits[1], f"proton.init is {len(inits)} times in {function.symbol}")
    entry = function.regions[0].blocks[0]
    if inits[0] is not entry.ops[0]:
        raise module.error(inits[0], f"proton.init is not first in {function.symbol}")
    for block in function.regions[0].blocks:
        for at, op in enumerate(block.ops):
            before = carrier_of(block.ops[at - 1]) if at else None
            if op.name in RETURNS and (before is None or before.op != "finalize"):
                raise module.error(op, "this return has no proton.finalize directly before it")


def _check_nesting(region: Region) -> None:
    """Follow every path through the blocks of a region; each block is checked once."""
    blocks = {block.label: block for block in region.blocks}
    begun: dict[int, Begun] = {id(region.blocks[0]): ()}
    pending = [region.blocks[0]]
    while pending:
        block = pending.pop()
        after = _follow(block, begun[id(block)])
        leave = block.terminator
        targets = [blocks[label] for label in leave.successors if label in blocks] if leave else []
        if not targets and after:
            name, op = after[-1]
            raise _mismatch(op, f"{name!r} is started here and not ended in the same block")
        for target in targets:
            if id(target) not in begun:
                begun[id(target)] = after
                pending.append(target)
            elif [name for name, _ in begun[id(target)]] != [name for name, _ in after]:
                assert leave is not None
                raise _mismatch(leave, f"{_list(after)} here, {_list(begun[id(target)])} elsewhere")


def _follow(block: Block, begun: Begun) -> Begun:
    for op in _flat(block):
        carrier = carrier_of(op)
        if carrier is None or not carrier.is_nested:
            continue
        if carrier.action == "start":
            begun = (*begun, (carrier.name, op))
        elif not begun:
            raise _mismatch(op, f"{carrier.name!r} is ended here and was not started in this block")
        elif begun[-1][0] != carrier.name:
            name, start = begun[-1]
            raise _mismatch(
                op,
                f"{carrier.name!r} is ended here, but the innermost one begun is {name!r} "
                f"(at {_place(start)}); end that first",
            )
        else:
            begun = begun[:-1]
    return begun


def _flat(block: Block) -> list[Op]:
    """The operations of a block, with those that are only conditional by machine."""
    flat: list[Op] = []
    for op in block.ops:
        flat += op.regions[0].blocks[0].ops if is_conditional(op) else [op]
    return flat


def _place(op: Op) -> str:
    return str(op.source or f"{op.module.path}:{op.first + 1}")


def _mismatch(op: Op, problem: str) -> ScopeMismatch:
    return ScopeMismatch(f"{_place(op)}: {problem}")


def _list(begun: Begun) -> str:
    return "begun are " + (", ".join(repr(name) for name, _ in begun) or "none")
