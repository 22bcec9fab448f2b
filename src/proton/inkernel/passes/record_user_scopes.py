"""`record-user-scopes`: check and complete the records that the kernel's own source asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from proton.inkernel.ir.carriers import Carrier
from proton.inkernel.ir.module import Module, Op
from proton.inkernel.ir.nesting import carrier_of, is_conditional, overlapping_names, verify
from proton.inkernel.ir.roots import find_definition
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class RecordUserScopes(OwnPass, level="ttgir"):
    """Check that the user's records pair up, give them their lines, and take away their guards.

    Lines `proton.record start "name"` that somebody wrote into the file become carriers too.
    Runs first. A start without an end is refused with the user's line (ScopeMismatch), unless
    `nested=false` says that Triton moved them: where it makes one loop of two, a region may begin
    in one iteration and end in a later one. Regions that overlap others say so: `overlaps=1`.
    """

    nested: bool = True

    def apply(self, module: Module) -> None:
        """Edit the module."""
        verify(module, is_nested=self.nested)
        _refuse_called_functions(module)
        overlapping = overlapping_names(module) if self.nested else None
        for op in module.walk():
            carrier = carrier_of(op)
            if carrier is not None and carrier.is_record:
                if carrier.is_nested and (overlapping is None or carrier.name in overlapping):
                    carrier = replace(carrier, attributes={**carrier.attributes, "overlaps": "1"})
                # a name of its own: out of its guard, it would meet others of the same name
                op.replace(_complete(op, carrier).to_ttgir(module.fresh(), module.target))
            elif carrier is not None and carrier.op == "guard":
                op.replace(f"{carrier.result} = arith.constant 1 : i32")
            elif is_conditional(op) and _is_guarded(op):
                module.replaced[op.first] = module.replaced[op.last] = []


def _refuse_called_functions(module: Module) -> None:
    for function in module.functions():
        for op in function.walk():
            if not function.is_kernel and carrier_of(op) is not None:
                raise module.error(
                    op,
                    f"{function.symbol!r} is compiled apart (noinline=True) and has no buffer to "
                    "record into; leave out noinline, or the records",
                )


def _complete(op: Op, carrier: Carrier) -> Carrier:
    if "line" in carrier.attributes:
        return carrier
    source = op.source
    place = {"line": str(source.line), "file": source.file} if source else {}
    return replace(carrier, attributes={**carrier.attributes, "kind": carrier.kind, **place})


def _is_guarded(op: Op) -> bool:
    """Whether an scf.if asks nothing but whether a guard is not zero."""
    test = find_definition(op, next(iter(op.operands), ""))
    if test is None or test.name != "arith.cmpi" or " ne, " not in test.text:
        return False
    asked = find_definition(test, next(iter(test.operands), ""))
    carrier = carrier_of(asked) if asked is not None else None
    return carrier is not None and carrier.op == "guard"
