"""Loads, stores and atomics of the interpreter: lanes and bytes counted, per tensor argument.

A pointer knows the argument it came from: the note travels with it through pointer arithmetic. A
pointer without a note (selected from two, or loaded from memory) is placed by its address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.arguments import Argument
from proton.backends.interpreter.numeric import PACKED_FLOATS

Operation = Callable[..., Any]

# operations that hand pointers on, and with them the argument they point into
_POINTER_CARRIERS = (
    "splat",
    "broadcast",
    "expand_dims",
    "reshape",
    "trans",
    "unsplat",
    "bitcast",
    "int_to_ptr",
    "ptr_to_int",
)
# accesses through block pointers (gone from Triton 3.8) and tensor descriptors
_INDIRECT_ACCESSES = (
    "tensor_pointer_load",
    "tensor_pointer_store",
    "descriptor_load",
    "descriptor_store",
    "descriptor_gather",
    "descriptor_scatter",
    "descriptor_reduce",
)


def memory_operations(parts: InterpreterParts) -> dict[str, Operation]:
    """The counted memory operations, by the name of the builder's method."""
    base = parts.interpreter.InterpreterBuilder
    members = {
        "create_addptr": _make_addptr(base.create_addptr),
        "create_masked_load": _make_load(base.create_masked_load),
        "create_masked_store": _make_store(base.create_masked_store),
        "create_atomic_rmw": _make_atomic_rmw(base.create_atomic_rmw, parts),
        "create_atomic_cas": _make_atomic_cas(base.create_atomic_cas),
    }
    for name in _POINTER_CARRIERS:
        members[f"create_{name}"] = _carry_argument(getattr(base, f"create_{name}"))
    for name in _INDIRECT_ACCESSES:
        if hasattr(base, f"create_{name}"):
            members[f"create_{name}"] = _own_accesses(getattr(base, f"create_{name}"))
    return members


def _make_addptr(original: Operation) -> Operation:
    def addptr(self: Any, pointer: Any, offset: Any) -> Any:
        result = original(self, pointer, offset)
        result.attr = pointer.attr
        return result

    return addptr


def _carry_argument(original: Operation) -> Operation:
    """`original`, keeping the note of which argument a pointer came from."""

    def carry(self: Any, *operands: Any) -> Any:
        result = original(self, *operands)
        # splat has its operand last, the others first
        attr = getattr(operands[0], "attr", None) or getattr(operands[-1], "attr", None)
        if attr:
            result.attr = attr
        return result

    return carry


def _own_accesses(original: Operation) -> Operation:
    """A load or store through a block pointer or descriptor belongs to its base's argument."""

    def access(self: Any, pointer: Any, *operands: Any) -> Any:
        self.owner = pointer.base.attr.get("argument")
        try:
            return original(self, pointer, *operands)
        finally:
            self.owner = None

    return access


def _make_load(original: Operation) -> Operation:
    count_nonzero = np.count_nonzero

    def masked_load(self: Any, pointers: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        result = original(self, pointers, mask, *rest, **named)
        data = result.data
        lanes = data.size
        active = int(count_nonzero(mask.data))
        size = active * data.itemsize
        self.lanes += lanes
        self.masked_lanes += lanes - active
        self.load_bytes += size
        argument = pointers.attr.get("argument") or self.owner
        if argument is not None:
            argument.load_bytes += size
        elif size:
            for found, count in _owners(self.arguments, pointers.data, mask.data):
                found.load_bytes += count * data.itemsize
        return result

    return masked_load


def _make_store(original: Operation) -> Operation:
    count_nonzero = np.count_nonzero

    def masked_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        lanes = pointers.data.size
        active = int(count_nonzero(mask.data))
        size = active * value.data.itemsize
        argument = pointers.attr.get("argument") or self.owner
        if argument is not None:
            if not argument.is_writable and active:
                raise _read_only(argument)
            argument.store_bytes += size
        elif size:
            for found, count in _owners(self.arguments, pointers.data, mask.data):
                found.store_bytes += count * value.data.itemsize
        self.lanes += lanes
        self.masked_lanes += lanes - active
        self.store_bytes += size
        return original(self, pointers, value, mask, *rest)

    return masked_store


def _make_atomic_rmw(original: Operation, parts: InterpreterParts) -> Operation:
    float_add = parts.atomic_op.FADD

    def atomic_rmw(self: Any, kind: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        type_name = value.dtype.scalar.name
        if type_name in PACKED_FLOATS:
            raise NotImplementedError(
                f"an atomic on {type_name} is not computed by the interpreter; use tl.float32"
            )
        active = _count_atomic(self, pointers, value, mask.data)
        if kind == float_add:
            self.flops += active
        return original(self, kind, pointers, value, mask, *rest)

    return atomic_rmw


def _make_atomic_cas(original: Operation) -> Operation:
    def atomic_cas(self: Any, pointers: Any, expected: Any, value: Any, *rest: Any) -> Any:
        _count_atomic(self, pointers, value, np.ones_like(pointers.data, dtype=np.bool_))
        return original(self, pointers, expected, value, *rest)

    return atomic_cas


def _count_atomic(self: Any, pointers: Any, value: Any, mask: Any) -> int:
    lanes, active = pointers.data.size, int(np.count_nonzero(mask))
    size = active * value.data.itemsize
    self.lanes += lanes
    self.masked_lanes += lanes - active
    self.load_bytes += size
    self.store_bytes += size
    argument = pointers.attr.get("argument")
    owners = [(argument, active)] if argument else _owners(self.arguments, pointers.data, mask)
    for found, count in owners:
        if not found.is_writable and count:
            raise _read_only(found)
        found.load_bytes += count * value.data.itemsize
        found.store_bytes += count * value.data.itemsize
    return active


def _owners(arguments: Sequence[Argument], addresses: Any, mask: Any) -> list[tuple[Argument, int]]:
    """The arguments that set lanes point into, by address, and how many lanes each."""
    reached = addresses[np.broadcast_to(np.asarray(mask), addresses.shape)]
    found = []
    for argument in arguments:
        inside = (reached >= np.uint64(argument.low)) & (reached < np.uint64(argument.high))
        if count := int(np.count_nonzero(inside)):
            found.append((argument, count))
    return found


def _read_only(argument: Argument) -> ValueError:
    return ValueError(f"argument {argument.name!r} is a read-only array; pass a writable one")
