"""Records that stand in a kernel before our passes: their names, their guards, their removal.

Before Triton 3.9 the pipeliners of AMD and of sm_100 refuse operations they do not know. There a
carrier stands in an `scf.if` on an opaque true, a guard, which they can predicate; the pass
`record-user-scopes` takes it away again after pipelining.
"""

from __future__ import annotations

import re

from proton import _triton
from proton._triton.types import BuilderOptions
from proton.errors import InstrumentationError
from proton.inkernel.ir.carriers import Carrier, from_ttgir
from proton.inkernel.ir.module import Op
from proton.inkernel.ir.nesting import carrier_of, is_conditional
from proton.inkernel.ir.op_groups import under
from proton.inkernel.ir.parse import read_module

_MARK = '"// proton.'


def has_carriers(text: str) -> bool:
    """Whether operations of ours stand in TTIR or TTGIR text that Triton printed."""
    return _MARK in text


def record_names(text: str) -> frozenset[str]:
    """The names of the records in TTIR or TTGIR text."""
    found = set()
    for line in text.splitlines():
        try:
            carrier = from_ttgir(line) if _MARK in line else None
        except InstrumentationError:
            continue  # whoever verifies the module says what is wrong with it
        if carrier is not None and carrier.is_record:
            found.add(carrier.name)
    return frozenset(found)


def with_guards(text: str) -> str:
    """TTIR text with its records in guards, as `dsl` makes them; those of files have none."""
    module = read_module(text)
    for op in module.walk():
        carrier = carrier_of(op)
        if carrier is None or not carrier.is_record or is_conditional(next(iter(op.ancestors))):
            continue
        is_true, zero, condition = (module.fresh() for _ in range(3))
        lines = (
            Carrier("guard").to_ttgir(is_true),
            f"{zero} = arith.constant 0 : i32",
            f"{condition} = arith.cmpi ne, {is_true}, {zero} : i32",
            under(module, condition, carrier),
        )
        op.replace("\n".join(lines))
    return module.text()


def without_records(text: str) -> str:
    """TTIR or TTGIR text without operations of ours, malformed ones too.

    Guards become the truth that they stand for; an `scf.if` around nothing but records stays,
    empty, and Triton folds it.
    """
    module = read_module(text)
    for op in module.walk():
        if _is_ours(op):
            if _MARK + "guard" in op.text:
                op.replace(f"{op.results[0]} = arith.constant 1 : i32")
            else:
                op.remove()
    return module.text()


def take_refused(text: str, path: str) -> tuple[str, list[str]]:
    """TTIR text without what `dsl` could not record, and why not, each with the user's line."""
    if _MARK + "refused" not in text:
        return text, []
    module, reasons = read_module(text, path), []
    for op in module.walk():
        if _is_ours(op) and (carrier := carrier_of(op)) is not None and carrier.op == "refused":
            place = f"{op.source}: " if op.source else ""
            reasons.append(place + carrier.attributes.get("why", ""))
            op.remove()
    return module.text(), reasons


def _is_ours(op: Op) -> bool:
    return op.name == "tt.elementwise_inline_asm" and _MARK in op.text


def needs_guard(options: BuilderOptions) -> bool:
    """Whether the pipeliner of this target refuses operations it does not know."""
    if _triton.version_pair() >= (3, 9):
        return False
    if options.backend_name == "hip":
        return True
    number = re.sub(r"\D", "", str(getattr(options, "arch", "") or ""))
    return int(number or 0) >= 100
