"""Puts carriers into a kernel while Triton compiles it, through the builder its compiler gives us.

Before 3.9 the pipeliners of AMD and of sm_100 refuse operations they do not know. There a carrier
stands in an `scf.if` on an opaque true, a guard, which they can predicate; the pass
`record-user-scopes` takes it away again after pipelining.
"""

from __future__ import annotations

import re
from typing import Any

from proton import _triton
from proton.errors import SemanticError
from proton.inkernel.ir.carriers import Carrier

_GUARD = Carrier("guard")


def semantic_name(semantic: Any) -> str:
    """What compiles the kernel: "triton" or "gluon"; empty where nothing does (interpreter)."""
    builder = getattr(semantic, "builder", None)
    if builder is None or _native_base(type(builder)) is None:
        return ""
    return "gluon" if ".gluon." in type(semantic).__module__ else "triton"


def block_of(semantic: Any) -> Any:
    """The block that is being compiled; one object for one block while somebody keeps it."""
    return semantic.builder.get_insertion_block()


def emit(semantic: Any, carrier: Carrier, operands: tuple[Any, ...] = ()) -> None:
    """Put a carrier at the place that is being compiled."""
    builder = semantic.builder
    if semantic_name(semantic) == "triton" and needs_guard(builder.options):
        _emit_guarded(builder, carrier, operands)
    else:
        _create(builder, carrier, operands)


def emit_value(semantic: Any, name: str, value: Any) -> None:
    """Put a record of a number at the place that is being compiled.

    Raises:
        SemanticError: it is no scalar integer, float or pointer.
    """
    tensor = semantic.to_tensor(getattr(value, "value", value))
    kind = tensor.type
    if not (kind.is_int() or kind.is_ptr() or kind.is_floating()):
        raise SemanticError(
            f"value {name!r} is of type {kind}; record a scalar integer, float or pointer, "
            "such as an element or a sum of it"
        )
    core = _triton.language_core()
    # readers take integers as signed: one more bit holds those without a sign
    is_wide = kind.is_ptr() or kind.primitive_bitwidth > 32 or kind.is_uint32()
    bits = core.int64 if is_wide else core.int32
    attributes = {}
    if kind.is_floating():  # its bits; shorter ones are held by 32 exactly
        attributes["type"] = "f64" if is_wide else "f32"
        real = semantic.cast(tensor, core.float64 if is_wide else core.float32)
        number = semantic.bitcast(real, bits)
    else:
        number = semantic.cast(tensor, bits)
    carrier = Carrier("record", "value", name, attributes, "%x", "i64" if is_wide else "i32")
    emit(semantic, carrier, (number.handle,))


def needs_guard(options: Any) -> bool:
    """Whether the pipeliner of this target refuses operations it does not know."""
    if _triton.version_pair() >= (3, 9):
        return False
    if options.backend_name == "hip":
        return True
    number = re.sub(r"\D", "", str(getattr(options, "arch", "") or ""))
    return int(number or 0) >= 100


def _emit_guarded(builder: Any, carrier: Carrier, operands: tuple[Any, ...]) -> None:
    is_true = _create(builder, _GUARD, ()).get_result(0)
    condition = builder.create_icmpNE(is_true, builder.get_int32(0))
    inside = builder.create_if_op([], condition, False).get_then_block()
    after, location = builder.get_insertion_point(), builder.get_loc()
    builder.set_insertion_point_to_start(inside)
    builder.set_loc(location)
    _create(builder, carrier, operands)
    builder.restore_insertion_point(after)
    builder.set_loc(location)


def _create(builder: Any, carrier: Carrier, operands: tuple[Any, ...]) -> Any:
    constraints = carrier.constraints(str(builder.options.backend_name))
    is_pure = carrier.op == "guard"
    integer = builder.get_int32_ty()
    return builder.create_inline_asm(
        carrier.comment, constraints, list(operands), [integer], is_pure, 1
    )


def _native_base(kind: type[Any]) -> type[Any] | None:
    """The class of Triton's compiler that a builder derives from; interpreters have none."""
    return next((base for base in kind.__mro__ if base.__module__.startswith("triton._C")), None)
