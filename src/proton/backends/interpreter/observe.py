"""The builder with hooks: publishes every operation to the clients of `events`.

Used only for launches that begin with a client subscribed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from proton.backends.interpreter.arguments import Argument
from proton.backends.interpreter.events import Access, Client, Location, Operation, Value

# made of other operations that are published, or no operation on values at all
_SILENT = {
    f"create_{name}"
    for name in (
        *("load", "store", "atomic_load", "atomic_store", "atomic_poll"),
        *("tensor_pointer_load", "tensor_pointer_store", "make_block_ptr", "advance"),
        *("descriptor_load", "descriptor_store", "descriptor_gather", "descriptor_scatter"),
        *("descriptor_reduce", "make_tensor_descriptor"),
        *("print", "assert", "assume", "barrier"),
    )
}
# operation -> kind of access, its operands that are pointers and values, and where its mask is
_ACCESSES = {
    "create_masked_load": ("load", slice(0, 1), 1),
    "create_masked_store": ("store", slice(0, 2), 2),
    "create_atomic_rmw": ("atomic_rmw", slice(1, 3), 3),
    "create_atomic_cas": ("atomic_cas", slice(0, 3), None),
}


def make_observed_class(counting: type[Any], library_folders: Sequence[str]) -> type[Any]:
    """`counting` with every operation published to `self.clients`."""
    locate = _Locator(tuple(library_folders))
    members: dict[str, Any] = {
        "clients": (),
        "depth": 0,
        "observe_reduction": _make_reduction(locate),
    }
    for name, (kind, handles, mask_at) in _ACCESSES.items():
        original = getattr(counting, name)
        members[name] = _make_access(original, locate, kind, handles, mask_at)
    for name in dir(counting):
        if name.startswith("create_") and name not in _SILENT and name not in members:
            original = getattr(counting, name)
            members[name] = _publish(name.removeprefix("create_"), original, locate)
    return type("ObservedBuilder", (counting,), members)


class _Locator:
    """Finds the user's line on the call stack."""

    def __init__(self, library_folders: tuple[str, ...]) -> None:
        self._folders = library_folders

    def __call__(self) -> Location:
        frame = sys._getframe(2)
        outermost = frame
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(self._folders):
                return Location(code.co_filename, frame.f_lineno, code.co_name)
            if frame.f_back is None:
                break
            frame = frame.f_back
        code = outermost.f_code
        return Location(code.co_filename, outermost.f_lineno, code.co_name)


def _publish(name: str, original: Callable[..., Any], locate: _Locator) -> Callable[..., Any]:
    def operation(self: Any, *operands: Any) -> Any:
        if self.depth:
            return original(self, *operands)
        self.depth = 1
        try:
            result = original(self, *operands)
        finally:
            self.depth = 0
        values = tuple(_value(operand) for operand in operands if _is_handle(operand))
        outcome = _value(result) if _is_handle(result) else None
        event = Operation(name, self.grid_idx, locate(), values, outcome)
        _tell(self.clients, event)
        return result

    return operation


def _make_access(
    original: Callable[..., Any], locate: _Locator, kind: str, handles: slice, mask_at: int | None
) -> Callable[..., Any]:
    """An access: `handles` are its pointers, what it compares with, and what it stores."""

    def access(self: Any, *operands: Any, **named: Any) -> Any:
        pointers, *values = operands[handles]
        stored = values[-1] if values else None
        bits = pointers.get_element_ty().primitive_bitwidth
        size = max(1, bits // 8) if stored is None else stored.data.itemsize
        mask = True if mask_at is None else operands[mask_at].data
        event = _access(self, kind, locate(), pointers, mask, size, stored)
        result = original(self, *operands, **named)
        _done(self, event, (pointers, *values), result)
        return result

    return access


def _make_reduction(locate: _Locator) -> Callable[..., Any]:
    def observe_reduction(
        self: Any, name: str, compute: Callable[[], Any], inputs: Any, axis: int | None
    ) -> Any:
        """Do a reduction or scan and publish it as one operation."""
        outer, self.depth = self.depth, 1
        try:
            result = compute()
        finally:
            self.depth = outer
        if not outer:
            tensors = inputs if isinstance(inputs, tuple) else (inputs,)
            first = result[0] if isinstance(result, tuple) else result
            operands = tuple(_value(tensor.handle) for tensor in tensors)
            outcome = _value(first.handle)
            event = Operation(name, self.grid_idx, locate(), operands, outcome, axis=axis)
            _tell(self.clients, event)
        return result

    return observe_reduction


def _access(
    builder: Any,
    kind: str,
    location: Location,
    pointers: Any,
    mask: Any,
    itemsize: int,
    value: Any,
) -> Access:
    """Tell clients of an access that is about to happen."""
    addresses = pointers.data
    lanes = np.broadcast_to(np.asarray(mask, dtype=np.bool_), addresses.shape)
    argument = pointers.attr.get("argument") or builder.owner
    if argument is None:
        argument = _only_owner(builder.arguments, addresses[lanes])
    stored = None if value is None else _value(value)
    access = Access(kind, builder.grid_idx, location, argument, addresses, lanes, itemsize, stored)
    for client in builder.clients:
        client.on_access(access)
    return access


def _done(builder: Any, access: Access, operands: Sequence[Any], result: Any) -> None:
    event = Operation(
        access.kind,
        access.program_id,
        access.location,
        tuple(_value(operand) for operand in operands),
        _value(result) if _is_handle(result) else None,
        access,
    )
    _tell(builder.clients, event)


def _only_owner(arguments: Sequence[Argument], addresses: Any) -> Argument | None:
    """The one argument that all these addresses lie in."""
    for argument in arguments:
        inside = (addresses >= np.uint64(argument.low)) & (addresses < np.uint64(argument.high))
        if inside.any():
            return argument if inside.all() else None
    return None


def _tell(clients: Sequence[Client], event: Operation) -> None:
    for client in clients:
        client.on_operation(event)


def _is_handle(value: Any) -> bool:
    return isinstance(getattr(value, "data", None), np.ndarray) and hasattr(value, "dtype")


def _value(handle: Any) -> Value:
    return Value(str(handle.dtype), handle.data)
