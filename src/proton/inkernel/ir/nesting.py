"""The rules that our operations keep between two passes.

- `init` at most once in a kernel, before every other operation of ours; in no other function.
- With an `init`, `finalize` directly before every return of the kernel.
- Every start has its end within the same pair of braces, along every path through its blocks. What
  is begun inside another region may outlast it: the two overlap.
- Ids fit: at most 2^14 names.

Pipeliners make records conditional. An `scf.if` around nothing but records counts as if it were not
there; where records share an `scf.if` with other operations, all `scf.if` of a block on the same
condition are followed together, once as true and once as false.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from proton.errors import InstrumentationError, ScopeMismatch
from proton.inkernel.ir.carriers import Carrier, from_ttgir
from proton.inkernel.ir.module import RETURNS, Block, Module, Op, Region

Begun = tuple[tuple[str, Op], ...]  # names started and not ended, outermost first

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


def check_nesting(function: Op) -> frozenset[str]:
    """Check the records of a function; the names of regions that overlap others.

    Raises:
        ScopeMismatch: a start has no end, or an end no start, on some path; the message begins
            with the user's line.
    """
    check = _Check()
    for op in reversed(list(function.walk())):  # inside out: the nearest place is named
        if is_conditional(op):
            continue
        try:
            for region in op.regions:
                check.region(region)
        except ScopeMismatch as error:
            if op.name != "scf.if":
                raise
            check.unbalanced[id(op)] = error  # the block around it may make up for it
    return frozenset(check.overlapping)


@dataclass
class _Check:
    """What was found so far in the regions of a function, inside out."""

    # id of an scf.if whose starts and ends do not pair up by themselves -> why not
    unbalanced: dict[int, ScopeMismatch] = field(default_factory=dict)
    overlapping: set[str] = field(default_factory=set)

    def region(self, region: Region) -> None:
        """Follow every path through the blocks of a region; each block is checked once."""
        blocks = {block.label: block for block in region.blocks}
        begun: dict[int, Begun] = {id(region.blocks[0]): ()}
        pending = [region.blocks[0]]
        while pending:
            block = pending.pop()
            after = self._follow(block, begun[id(block)])
            leave = block.terminator
            targets = [blocks[to] for to in leave.successors if to in blocks] if leave else []
            if not targets and after:
                name, op = after[-1]
                raise _mismatch(op, f"{name!r} is started here and not ended in the same block")
            for target in targets:
                if id(target) not in begun:
                    begun[id(target)] = after
                    pending.append(target)
                elif _names(there := begun[id(target)]) != _names(after):
                    assert leave is not None
                    raise _mismatch(leave, f"{_list(after)} here, {_list(there)} elsewhere")

    def _follow(self, block: Block, begun: Begun) -> Begun:
        """What is begun after a block, the same whatever its conditions are."""
        culprits = [op for op in block.ops if id(op) in self.unbalanced]
        if not culprits:
            return self._run(_flat(block, {}), begun)
        conditions = list(dict.fromkeys(_condition(op) for op in culprits))
        problem = self.unbalanced[id(culprits[0])]
        if len(conditions) > _MOST_CONDITIONS:
            raise problem
        worlds = product((True, False), repeat=len(conditions))
        assumptions = [dict(zip(conditions, world, strict=True)) for world in worlds]
        try:
            ends = [self._run(_flat(block, assumed), begun) for assumed in assumptions]
        except ScopeMismatch:
            raise problem from None
        if any(_names(end) != _names(ends[0]) for end in ends):
            raise problem
        return ends[0]

    def _run(self, ops: list[Op], begun: Begun) -> Begun:
        for op in ops:
            carrier = carrier_of(op)
            if carrier is None or not carrier.is_nested:
                continue
            if carrier.action == "start":
                begun = (*begun, (carrier.name, op))
                continue
            found = [at for at, (name, _) in enumerate(begun) if name == carrier.name]
            if not found:
                what = f"{carrier.name!r} is ended here and was not started in this block"
                raise _mismatch(op, what)
            at = found[-1]
            if at + 1 < len(begun):
                self.overlapping.update(name for name, _ in begun[at:])
            begun = begun[:at] + begun[at + 1 :]
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


def _names(begun: Begun) -> list[str]:
    return sorted(name for name, _ in begun)


def _place(op: Op) -> str:
    return str(op.source or f"{op.module.path}:{op.first + 1}")


def _mismatch(op: Op, problem: str) -> ScopeMismatch:
    return ScopeMismatch(f"{_place(op)}: {problem}")


def _list(begun: Begun) -> str:
    return "begun are " + (", ".join(repr(name) for name, _ in begun) or "none")


def overlapping_names(module: Module) -> frozenset[str]:
    """The names of regions that others overlap: some begin in them and end behind them.

    Raises:
        ScopeMismatch: as `verify` does.
    """
    return frozenset().union(*(check_nesting(function) for function in module.functions()))


def verify(module: Module, *, is_nested: bool = True) -> None:
    """Check the carriers of a module; whether starts and ends pair up only with `is_nested`.

    Raises:
        ScopeMismatch: starts and ends do not pair up; the message begins with the user's line.
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
