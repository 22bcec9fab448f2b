"""Which memory a launch's arguments are: the ranges that accesses are told apart by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TensorRange:
    """Memory of one argument: from its lowest byte to behind its highest."""

    name: str
    address: int
    size_bytes: int
    argument: int | None = None  # its number among the compiled kernel's parameters, if known


def tensor_ranges(names: Sequence[str], arguments: Iterable[Any]) -> tuple[TensorRange, ...]:
    """The ranges of those arguments that are tensors.

    Args:
        names: Of the arguments, in order; an argument without one is called by its number.
        arguments: What the kernel was launched with. Tensors are what has `data_ptr()` and a size
            (torch's, and those like them); of a tensor descriptor, its `base`.
    """
    found = []
    for number, argument in enumerate(arguments):
        name = names[number] if number < len(names) else f"arg{number}"
        tensor: Any = argument if hasattr(argument, "data_ptr") else getattr(argument, "base", None)
        size = _size_bytes(tensor)
        if size:
            found.append(TensorRange(name, int(tensor.data_ptr()), size))
    return tuple(found)


def _size_bytes(tensor: Any) -> int:
    """What lies between a tensor's first and last byte; 0 for what is no tensor, or empty."""
    if not (hasattr(tensor, "data_ptr") and hasattr(tensor, "element_size")):
        return 0
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    if any(length == 0 for length in shape):
        return 0
    last = sum((length - 1) * stride for length, stride in zip(shape, strides, strict=True))
    return (int(last) + 1) * int(tensor.element_size())
