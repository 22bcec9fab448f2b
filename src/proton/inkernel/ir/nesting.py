"""The rules that our operations keep between two passes.

- `init` at most once in a kernel, before every other operation of ours; in no other function.
- With an `init`, `finalize` directly before every return of the kernel.
- Starts and ends nest within one pair of braces, along every path through its blocks.
- Ids fit: at most 2^14 names.

Pipeliners make records conditional. An `scf.if` around nothing but records counts as if it were not
there; where records share an `scf.if` with other operations, all `scf.if` of a block on the same
condition are followed together, once as true and once as false.
"""

from __future__ import annotations

from itertools import product

from proton.errors import InstrumentationError, ScopeMismatch
from proton.inkernel.ir.carriers import Carrier, from_ttgir
from proton.inkernel.ir.module import RETURNS, Block, Module, Op, Region

Begun = tuple[tuple[str, Op], ...]  # names started and not ended, outermost first
Unbalanced = dict[int, ScopeMismatch]  # id of an scf.if that does not nest by itself -> why not

_MOST_CONDITIONS = 6  # each doubles the paths
MOST_NAMES = 1 << 14


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


def is_conditional(op: Op) -> bool:
    """Whether it is an scf.if around nothing but carriers, as guards and pipeliners make them."""
    if op.name != "scf.if" or len(op.regions) != 1 or op.results:
        return False
    inside = op.regions[0].blocks[0].ops
    return bool(inside) and all(each.name == "scf.yield" or carrier_of(each) for each in inside)


def check_nesting(function: Op) -> None:
    """Check the records of a function.

    Raises:
        ScopeMismatch: they do not nest; the message begins with the user's line.
    """
    unbalanced: Unbalanced = {}
    for op in reversed(list(function.walk())):  # inside out: the nearest place is named
        if is_conditional(op):
            continue
        try:
            for region in op.regions:
                _check_region(region, unbalanced)
        except ScopeMismatch as error:
            if op.name != "scf.if":
                raise
            unbalanced[id(op)] = error  # the block around it may make up for it


def _check_region(region: Region, unbalanced: Unbalanced) -> None:
    """Follow every path through the blocks of a region; each block is checked once."""
    blocks = {block.label: block for block in region.blocks}
    begun: dict[int, Begun] = {id(region.blocks[0]): ()}
    pending = [region.blocks[0]]
    while pending:
        block = pending.pop()
        after = _follow(block, begun[id(block)], unbalanced)
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


def _follow(block: Block, begun: Begun, unbalanced: Unbalanced) -> Begun:
    """What is begun after a block, the same whatever its conditions are."""
    culprits = [op for op in block.ops if id(op) in unbalanced]
    if not culprits:
        return _run(_flat(block, {}), begun)
    conditions = list(dict.fromkeys(_condition(op) for op in culprits))
    problem = unbalanced[id(culprits[0])]
    if len(conditions) > _MOST_CONDITIONS:
        raise problem
    worlds = product((True, False), repeat=len(conditions))
    assumptions = [dict(zip(conditions, world, strict=True)) for world in worlds]
    try:
        ends = [_run(_flat(block, assumed), begun) for assumed in assumptions]
    except ScopeMismatch:
        raise problem from None
    if any([name for name, _ in end] != [name for name, _ in ends[0]] for end in ends):
        raise problem
    return ends[0]


def _run(ops: list[Op], begun: Begun) -> Begun:
    for op in ops:
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


def _flat(block: Block, assumed: dict[str, bool]) -> list[Op]:
    """The operations of a block with those of its conditional parts, under assumed conditions."""
    flat: list[Op] = []
    for op in block.ops:
        if op.name == "scf.if" and _condition(op) in assumed:
            taken = op.regions[:1] if assumed[_condition(op)] else op.regions[1:]
            flat += [each for region in taken for each in _flat(region.blocks[0], {})]
        else:
            flat += op.regions[0].blocks[0].ops if is_conditional(op) else [op]
    return flat


def _condition(op: Op) -> str:
    return next(iter(op.operands), "")


def _place(op: Op) -> str:
    return str(op.source or f"{op.module.path}:{op.first + 1}")


def _mismatch(op: Op, problem: str) -> ScopeMismatch:
    return ScopeMismatch(f"{_place(op)}: {problem}")


def _list(begun: Begun) -> str:
    return "begun are " + (", ".join(repr(name) for name, _ in begun) or "none")


def verify(module: Module, *, is_nested: bool = True) -> None:
    """Check the carriers of a module; their nesting only with `is_nested`.

    Raises:
        ScopeMismatch: starts and ends do not nest; the message begins with the user's line.
        InstrumentationError: any other rule is broken.
    """
    names: set[str] = set()
    for function in module.functions():
        carriers = [(op, found) for op in function.walk() if (found := carrier_of(op))]
        names.update(carrier.name for _, carrier in carriers if carrier.is_record)
        _check_frame(module, function, carriers)
        if is_nested and any(carrier.is_nested for _, carrier in carriers):
            check_nesting(function)
    if len(names) > MOST_NAMES:
        raise InstrumentationError(
            f"{module.path}: {len(names)} names are recorded and ids reach to {MOST_NAMES}; "
            "record fewer kinds of operations"
        )


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
