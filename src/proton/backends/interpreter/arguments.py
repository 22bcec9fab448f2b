"""Kernel arguments: from what the program passes to what the interpreter computes with.

Numpy arrays, CPU tensors and numbers go in; where each tensor argument lies in memory is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.patched_language import LanguagePatch
from proton.errors import UsageError

# numpy's (and ml_dtypes') dtype names -> Triton's
_TRITON_TYPES = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float16": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
}


@dataclass(slots=True, eq=False)
class Argument:
    """A tensor argument of the launch under way: where it lies and what was moved so far.

    `low` and `high` bound the bytes of its elements (`high` is one past the last), `address` is
    its first element: what the kernel gets as a pointer. Strides are in elements.
    """

    name: str
    address: int
    low: int
    high: int
    itemsize: int
    type_name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_writable: bool
    value: Any
    load_bytes: int = 0
    store_bytes: int = 0


class ArrayView(np.ndarray[Any, np.dtype[Any]]):
    """A numpy array with the few tensor methods that hooks and launch metadata call."""

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self.__array_interface__["data"][0])

    def element_size(self) -> int:
        """Bytes of one element."""
        return int(self.itemsize)

    def numel(self) -> int:
        """Number of elements."""
        return int(self.size)

    def stride(self, dimension: int | None = None) -> Any:
        """Strides in elements: all, or one dimension's."""
        strides = tuple(step // self.itemsize for step in self.strides)
        return strides if dimension is None else strides[dimension]

    def zero_(self) -> ArrayView:
        """Fill with zeros, in place."""
        self[...] = np.zeros((), self.dtype)
        return self

    def clone(self) -> ArrayView:
        """A copy with memory of its own."""
        return self.copy()

    def copy_(self, other: Any) -> ArrayView:
        """Take over the elements of `other`, in place."""
        self[...] = other
        return self


def as_views(values: Sequence[Any]) -> list[Any]:
    """`values` with numpy arrays as `ArrayView`s of the same memory."""
    return [as_view(value) for value in values]


def as_view(value: Any) -> Any:
    """An `ArrayView` of a numpy array; anything else as it is."""
    return value.view(ArrayView) if type(value) is np.ndarray else value


class ArgumentConverter:
    """Converts the arguments of one launch, and collects the tensors among them."""

    def __init__(
        self, parts: InterpreterParts, semantic: Any, patch: LanguagePatch, kernel: str
    ) -> None:
        self._parts = parts
        self._semantic = semantic
        self._patch = patch
        self._kernel = kernel
        self.tensors: list[Argument] = []

    def convert(self, name: str, value: Any) -> Any:
        """What the kernel gets for `value`.

        Raises:
            UsageError: the value is in GPU memory, or of a type kernels do not know.
        """
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool | np.bool_):
            return self._scalar(np.array([value], dtype=np.bool_), self._parts.language.int1)
        if isinstance(value, int | np.integer):
            return self._integer(name, int(value))
        if isinstance(value, float | np.floating):
            return self._float(float(value))
        if isinstance(value, np.ndarray):
            return self._array(name, value, None)
        if isinstance(value, self._parts.jit.TensorWrapper):
            if isinstance(value.base, np.ndarray):
                return self._array(name, value.base, str(value.dtype))
            return self._tensor(name, value)
        if hasattr(value, "data_ptr"):
            return self._tensor(name, value)
        if isinstance(value, tuple):
            return self._tuple(name, value)
        if isinstance(value, self._parts.TensorDescriptor):
            return self._descriptor(name, value)
        if hasattr(value, "__cuda_array_interface__"):
            raise self._in_gpu_memory(name, type(value).__name__)
        return value

    def _scalar(self, data: Any, dtype: Any) -> Any:
        return self._parts.language.tensor(self._parts.interpreter.TensorHandle(data, dtype), dtype)

    def _integer(self, name: str, value: int) -> Any:
        # Triton's own conversion imports torch where it is installed, only to look at types
        for type_name, low, high in (
            ("int32", -(2**31), 2**31),
            ("int64", -(2**63), 2**63),
            ("uint64", 0, 2**64),
        ):
            if low <= value < high:
                dtype = getattr(self._parts.language, type_name)
                return self._scalar(np.array([value], dtype=type_name), dtype)
        raise UsageError(
            f"argument {name!r} of kernel {self._kernel!r} is {value}; integers have up to 64 bits"
        )

    def _float(self, value: float) -> Any:
        # of 32 bits, as compiled kernels get it: what is computed with it is counted and promoted
        with np.errstate(over="ignore"):
            return self._scalar(np.array([value], dtype=np.float32), self._parts.language.float32)

    def _pointer(self, argument: Argument) -> Any:
        self.tensors.append(argument)
        dtype = self._parts.language.str_to_ty("*" + argument.type_name, None)
        pointer = self._scalar(np.array([argument.address], dtype=np.uint64), dtype)
        pointer.handle.attr["argument"] = argument
        return pointer

    def _array(self, name: str, array: np.ndarray[Any, Any], type_name: str | None) -> Any:
        if type_name is None:
            type_name = _TRITON_TYPES.get(array.dtype.name)
        if type_name is None or not array.dtype.isnative:
            raise UsageError(
                f"argument {name!r} of kernel {self._kernel!r} is a numpy array of "
                f"{array.dtype!r}, which kernels do not know; convert it to one of "
                + ", ".join(repr(known) for known in _TRITON_TYPES)
            )
        low, high = _byte_bounds(array)
        return self._pointer(
            Argument(
                name=name,
                address=int(array.__array_interface__["data"][0]),
                low=low,
                high=high,
                itemsize=array.itemsize,
                type_name=type_name,
                shape=array.shape,
                strides=tuple(step // array.itemsize for step in array.strides),
                is_writable=array.flags.writeable,
                value=array,
            )
        )

    def _tensor(self, name: str, tensor: Any) -> Any:
        device = getattr(tensor, "device", None)
        if str(getattr(device, "type", device or "cpu")) != "cpu":
            raise self._in_gpu_memory(name, str(device))
        mangled = str(self._parts.jit.mangle_type(tensor))
        base = getattr(tensor, "base", tensor)  # a TensorWrapper keeps its tensor there
        address = int(tensor.data_ptr())
        shape = tuple(int(size) for size in base.shape)
        strides = tuple(int(step) for step in base.stride())
        itemsize = int(base.element_size())
        last = sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
        return self._pointer(
            Argument(
                name=name,
                address=address,
                low=address,
                high=address + (last + 1) * itemsize if 0 not in shape else address,
                itemsize=itemsize,
                type_name=mangled.removeprefix("*k").removeprefix("*"),
                shape=shape,
                strides=strides,
                is_writable=True,
                value=tensor,
            )
        )

    def _tuple(self, name: str, values: Any) -> Any:
        converted = [self.convert(f"{name}[{i}]", value) for i, value in enumerate(values)]
        is_named = hasattr(values, "_fields")
        return type(values)(*converted) if is_named else type(values)(converted)

    def _descriptor(self, name: str, descriptor: Any) -> Any:
        constexpr = self._parts.language.core.constexpr
        self._patch.apply()  # making one is itself an operation of the language
        try:
            result = self._semantic.make_tensor_descriptor(
                base=self.convert(name, descriptor.base),
                shape=[self._integer(name, int(size)) for size in descriptor.shape],
                strides=[
                    *(self._integer(name, int(step)) for step in descriptor.strides[:-1]),
                    constexpr(1),
                ],
                block_shape=[constexpr(size) for size in descriptor.block_shape],
                padding_option=descriptor.padding,
            )
        finally:
            self._patch.restore()
        if hasattr(descriptor, "round_f32_to_tf32"):  # Triton 3.9
            result.handle.round_f32_to_tf32 = descriptor.round_f32_to_tf32
        return result

    def _in_gpu_memory(self, name: str, where: str) -> UsageError:
        return UsageError(
            f"argument {name!r} of kernel {self._kernel!r} is in GPU memory ({where}); the "
            "interpreter backend reads CPU memory only: pass a CPU tensor or a numpy array"
        )


def _byte_bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """First byte of an array's elements and one past the last, strides of either sign."""
    address = int(array.__array_interface__["data"][0])
    if array.size == 0:
        return address, address
    reach = [(size - 1) * step for size, step in zip(array.shape, array.strides, strict=True)]
    return (
        address + sum(step for step in reach if step < 0),
        address + sum(step for step in reach if step > 0) + array.itemsize,
    )
