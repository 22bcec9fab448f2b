"""What must hold between two passes: where our operations may stand, and how they pair up.

- `init` at most once in a kernel, before every other operation of ours; in no other function.
- with an `init`, `finalize` directly before every return of the kernel.
- starts and ends nest within their block region (`nesting` says how that is meant).
- ids fit: at most 2^14 names.
"""

from __future__ import annotations

from proton.errors import InstrumentationError
from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import RETURNS, Module, Op
from proton.inkernel.ir.nesting import carrier_of, check_nesting

MOST_NAMES = 1 << 14


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
