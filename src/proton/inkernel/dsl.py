"""The functions behind `proton.language`: regions, events, marks and values inside kernels.

They are valid where Triton compiles (`@triton.jit`, `@gluon.jit`) and where a kernel is
interpreted. Where a mode with user scopes is in force (`compiler.recording_choice`) they emit
carriers through the builder of Triton's compiler; else they check their arguments and a kernel with
them compiles to the same code as one without. Importing this imports no Triton.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard, TypeVar

from proton import _triton
from proton._triton.types import Builder, Operation, Semantic
from proton.errors import SemanticError, UsageError
from proton.inkernel.compiler.recording_choice import choice
from proton.inkernel.compiler.user_records import needs_guard
from proton.inkernel.ir.carriers import Carrier, record

F = TypeVar("F", bound=Callable[..., object])

SEMANTICS = ("triton", "gluon")
_GUARD = Carrier("guard")


@dataclass(frozen=True)
class Event:
    """A named asynchronous transaction; what `allocate_event` returns."""

    name: str


def builtin(function: F) -> F:
    """Mark a function as one that Triton's compiler calls instead of compiling."""
    function.__triton_builtin__ = True  # type: ignore[attr-defined]
    return function


@builtin
def enter_scope(name: object, _semantic: Semantic | None = None) -> None:
    """Begin the region `name`; end it with `exit_scope` of the same name, on every path.

    Regions may overlap: one that begins in another and ends behind it stands beside it.
    """
    name = _checked_name(name)
    if _records(_semantic):
        emit(_semantic, record("start", name))


@builtin
def exit_scope(name: object, _semantic: Semantic | None = None) -> None:
    """End the region `name`, the last one begun of that name.

    Where none is begun, or not on every path, a warning shows the line and the kernel runs without
    regions.
    """
    name = _checked_name(name)
    if _records(_semantic):
        emit(_semantic, record("end", name))


class scope:  # noqa: N801 - the name users know
    """A region of a kernel: `with pl.scope("load"): ...`."""

    __triton_builtin__ = True

    def __init__(self, name: object, _semantic: Semantic | None = None) -> None:
        self.name = _checked_name(name)
        self._semantic = _semantic

    def __enter__(self) -> scope:
        enter_scope(self.name, _semantic=self._semantic)
        return self

    def __exit__(self, *error: object) -> None:
        exit_scope(self.name, _semantic=self._semantic)


def record_side(is_start: object, scope_name: object, semantic: Semantic | None) -> None:
    """Begin (`is_start`) or end the region `scope_name`, for builtins of one's own.

    Kernels call `enter_scope` and `exit_scope`; `semantic` is what Triton's compiler hands those.
    """
    side = enter_scope if getattr(is_start, "value", is_start) else exit_scope
    side(scope_name, _semantic=semantic)


@builtin
def mark(name: object, _semantic: Semantic | None = None) -> None:
    """Record the moment at which a warp comes by here."""
    name = _checked_name(name)
    if _records(_semantic):
        emit(_semantic, record("mark", name))


@builtin
def value(name: object, x: object, _semantic: Semantic | None = None) -> None:
    """Record a number and the moment: a scalar of the kernel or a constant.

    Integers, floats (those below 32 bits as float32) and pointers are numbers. Where one name
    records integers here and floats there, all are recorded as float64. Where `x` is no scalar, a
    warning shows the line and nothing is recorded.
    """
    name = _checked_name(name)
    if _records(_semantic):
        emit_value(_semantic, name, x)


@builtin
def allocate_event(name: object, _semantic: Semantic | None = None) -> object:
    """A handle for `start_event` and `end_event`, which may be in different warps."""
    event = Event(_checked_name(name))
    # a compiled kernel may keep only values of its compiler's kind
    return event if _semantic is None else _triton.opaque_value(event)


@builtin
def start_event(event: object, _semantic: Semantic | None = None) -> None:
    """Begin the transaction of an event; it need not nest in anything."""
    _record_event("start", event, _semantic)


@builtin
def end_event(event: object, _semantic: Semantic | None = None) -> None:
    """End the transaction of an event, in any warp."""
    _record_event("end", event, _semantic)


def enable_semantic(semantic_name: str) -> None:
    """Record regions in kernels of this kind: 'triton' or 'gluon'. Both are on from the start."""
    choice.switch_semantic(_checked_semantic(semantic_name), is_on=True)


def disable_semantic(semantic_name: str) -> None:
    """Record no regions in kernels of this kind; harmless where none were."""
    choice.switch_semantic(_checked_semantic(semantic_name), is_on=False)


def _checked_semantic(name: str) -> str:
    if name not in SEMANTICS:
        raise SemanticError.unknown("semantic", name, choices=SEMANTICS)
    return name


def _checked_name(name: object) -> str:
    value = getattr(name, "value", name)  # the compiler passes constants as constexpr
    if not isinstance(value, str) or not value:
        raise UsageError(f"a region needs a name: got {value!r}, give a string that is not empty")
    return value


def _record_event(action: str, event: object, semantic: Semantic | None) -> None:
    event = getattr(event, "payload", event)
    if not isinstance(event, Event):
        raise SemanticError(f"{event!r} is no event; pass what allocate_event returned")
    if _records(semantic):
        emit(semantic, Carrier("record", action, event.name, {"kind": "event"}))


def _records(semantic: Semantic | None) -> TypeGuard[Semantic]:
    """Whether a call in a kernel with this semantic is to leave something in the code."""
    return choice.records_user_scopes(semantic_name(semantic))


def semantic_name(semantic: Semantic | None) -> str:
    """What compiles the kernel: "triton" or "gluon"; empty where nothing does (interpreter)."""
    builder = getattr(semantic, "builder", None)
    bases = type(builder).__mro__
    if not any(base.__module__.startswith("triton._C") for base in bases):  # an interpreter's
        return ""
    return "gluon" if ".gluon." in type(semantic).__module__ else "triton"


def emit(semantic: Semantic, carrier: Carrier, operands: tuple[object, ...] = ()) -> None:
    """Put a carrier at the place that is being compiled."""
    builder = semantic.builder
    if semantic_name(semantic) == "triton" and needs_guard(builder.options):
        _emit_guarded(builder, carrier, operands)
    else:
        _create(builder, carrier, operands)


def emit_value(semantic: Semantic, name: str, value: object) -> None:
    """Put a record of a number at the place that is being compiled.

    What is no scalar integer, float or pointer leaves word of that in place of a record: a kernel
    must compile whether it is recorded or not.
    """
    tensor = semantic.to_tensor(getattr(value, "value", value))
    kind = tensor.type
    if not (kind.is_int() or kind.is_ptr() or kind.is_floating()):
        why = (
            f"value {name!r} is of type {kind}; record a scalar integer, float or pointer, such as "
            "an element or a sum of it"
        )
        _create(semantic.builder, Carrier("refused", attributes={"why": why}), ())
        return
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


def _emit_guarded(builder: Builder, carrier: Carrier, operands: tuple[object, ...]) -> None:
    is_true = _create(builder, _GUARD, ()).get_result(0)
    condition = builder.create_icmpNE(is_true, builder.get_int32(0))
    inside = builder.create_if_op([], condition, False).get_then_block()
    after, location = builder.get_insertion_point(), builder.get_loc()
    builder.set_insertion_point_to_start(inside)
    builder.set_loc(location)
    _create(builder, carrier, operands)
    builder.restore_insertion_point(after)
    builder.set_loc(location)


def _create(builder: Builder, carrier: Carrier, operands: tuple[object, ...]) -> Operation:
    constraints = carrier.constraints(str(builder.options.backend_name))
    is_pure = carrier.op == "guard"
    integer = builder.get_int32_ty()
    return builder.create_inline_asm(
        carrier.comment, constraints, list(operands), [integer], is_pure, 1
    )
