"""The interpreter's operations, counted: Triton's builder with flops, bytes and lanes added up.

Every operation that a kernel does arrives here, so each costs one more Python call and an addition
at most. What is counted: one flop per element of float arithmetic, comparison-free; two per
multiply-add; one per element of a math function; one per combination in a reduction or scan; 2MNK
per dot. Bytes are those of lanes whose mask is set; an atomic reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.arguments import Argument
from proton.backends.interpreter.libdevice import make_extern_elementwise
from proton.backends.interpreter.memory import memory_operations
from proton.backends.interpreter.numeric import PACKED_FLOATS, pack, unpack

Operation = Callable[..., Any]

# one flop per element of the result
_FLOAT_OPERATIONS = (
    *("fadd", "fsub", "fmul", "fdiv", "frem", "precise_divf", "approx_divf", "fneg", "fabs"),
    *("minimumf", "minnumf", "maximumf", "maxnumf", "exp", "exp2", "log", "log2", "sin", "cos"),
    *("sqrt", "precise_sqrt", "rsqrt", "erf", "floor", "ceil"),
)
# flops per element of the result
FLOPS = {**dict.fromkeys(_FLOAT_OPERATIONS, 1), "fma": 2, "clampf": 2}


def make_builder_class(parts: InterpreterParts) -> type[Any]:
    """Triton's InterpreterBuilder with counting (see the module) and right packed floats."""
    base = parts.interpreter.InterpreterBuilder
    members: dict[str, Any] = {
        **memory_operations(parts),
        "__init__": _make_init(parts),
        "begin_launch": _begin_launch,
        "metrics": _metrics,
        "cast_impl": _make_cast(base.cast_impl, parts),
        "create_fp_to_fp": _make_fp_to_fp(base.create_fp_to_fp, parts),
        "create_dot": _make_dot(base.create_dot, parts),
        "create_ashr": _make_ashr(parts),
        "create_extern_elementwise": make_extern_elementwise(parts),
        "create_minnumf": lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmin),
        "create_maxnumf": lambda self, lhs, rhs: self.binary_op(lhs, rhs, np.fmax),
    }
    for name, flops in FLOPS.items():
        original = members.get(f"create_{name}") or getattr(base, f"create_{name}", None)
        if original is not None:  # which there are depends on Triton's version
            members[f"create_{name}"] = _count_flops(name, original, flops, parts)
    for name in [name for name in vars(base) if name.startswith("create_fcmp")]:
        members[name] = _compare(name, getattr(base, name), parts)
    if hasattr(base, "create_dot_scaled"):
        members["create_dot_scaled"] = _make_dot_scaled(base.create_dot_scaled)
    return type("CountingBuilder", (base,), members)


def _make_init(parts: InterpreterParts) -> Operation:
    def init(self: Any) -> None:
        parts.interpreter.InterpreterBuilder.__init__(self)
        _begin_launch(self, [], (0, 0, 0), parts.interpreter.InterpreterOptions())

    return init


def _begin_launch(
    self: Any, arguments: Sequence[Argument], grid: tuple[int, int, int], options: Any
) -> None:
    """Count from zero, for a launch with these tensor arguments."""
    self.arguments = arguments
    self.grid_dim = grid
    self.grid_idx = (0, 0, 0)
    self.options = options
    self.flops = 0
    self.lanes = 0
    self.masked_lanes = 0
    self.load_bytes = 0
    self.store_bytes = 0
    self.owner = None  # the argument behind a block pointer or descriptor being read or written


def _metrics(self: Any) -> dict[str, int | float]:
    """What the launch did, by metric name; `flops` and `bytes` are added by the launch."""
    x, y, z = self.grid_dim
    metrics: dict[str, int | float] = {
        "programs": x * y * z,
        "counted_flops": int(self.flops),
        "counted_bytes": self.load_bytes + self.store_bytes,
        "counted_load_bytes": self.load_bytes,
        "counted_store_bytes": self.store_bytes,
        "lanes": self.lanes,
        "masked_lanes": self.masked_lanes,
    }
    for argument in self.arguments:
        if argument.load_bytes:
            metrics[f"load_bytes[{argument.name}]"] = argument.load_bytes
        if argument.store_bytes:
            metrics[f"store_bytes[{argument.name}]"] = argument.store_bytes
    return metrics


def _count_flops(name: str, original: Any, flops: int, parts: InterpreterParts) -> Operation:
    packed = _in_float32(name, original, parts)

    def binary(self: Any, lhs: Any, rhs: Any) -> Any:
        compute = original if lhs.data.dtype.kind == "f" else packed
        result = compute(self, lhs, rhs)
        self.flops += result.data.size
        return result

    def other(self: Any, *operands: Any) -> Any:
        compute = original if operands[0].data.dtype.kind == "f" else packed
        result = compute(self, *operands)
        self.flops += flops * result.data.size
        return result

    is_binary = flops == 1 and original.__code__.co_argcount == 3
    return binary if is_binary else other


def _compare(name: str, original: Operation, parts: InterpreterParts) -> Operation:
    packed = _in_float32(name.removeprefix("create_"), original, parts, rounds=False)

    def compare(self: Any, lhs: Any, rhs: Any) -> Any:
        if lhs.data.dtype.kind != "f":
            return packed(self, lhs, rhs)
        return original(self, lhs, rhs)

    return compare


def _in_float32(
    name: str, original: Operation, parts: InterpreterParts, *, rounds: bool = True
) -> Operation:
    """`original` for operands that numpy lacks a type for: bf16 by way of float32, fp8 refused."""
    handle = parts.interpreter.TensorHandle
    float32 = parts.language.float32

    def compute(self: Any, *operands: Any) -> Any:
        type_name = operands[0].dtype.scalar.name
        if type_name != "bf16":
            raise NotImplementedError(
                f"{name} of {type_name} is not computed by the interpreter; "
                "convert the operands to tl.float32 first"
            )
        wide = [
            handle(unpack(operand.data, "bf16"), float32) if hasattr(operand, "data") else operand
            for operand in operands
        ]
        result = original(self, *wide)
        if not rounds:
            return handle(result.data, operands[0].dtype.scalar)
        return handle(pack(result.data, "bf16"), operands[0].dtype.scalar)

    return compute


def _make_cast(original: Operation, parts: InterpreterParts) -> Operation:
    handle = parts.interpreter.TensorHandle
    numpy_type = parts.interpreter._get_np_dtype

    def cast(self: Any, source: Any, target: Any) -> Any:
        source_name, target_name = source.dtype.scalar.name, target.scalar.name
        if source_name not in PACKED_FLOATS and target_name not in PACKED_FLOATS:
            return original(self, source, target)
        data = source.data
        if source_name in PACKED_FLOATS:
            data = unpack(data, source_name)
        if target_name in PACKED_FLOATS:
            return handle(pack(data, target_name), target.scalar)
        return handle(data.astype(numpy_type(target)), target.scalar)

    return cast


def _make_fp_to_fp(original: Operation, parts: InterpreterParts) -> Operation:
    cast = _make_cast(original, parts)
    to_zero = parts.rounding_mode.RTZ
    known = PACKED_FLOATS | {"fp16", "fp32", "fp64"}

    def fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        names = {source.dtype.scalar.name, target.scalar.name}
        if rounding == to_zero or not names <= known or not names & PACKED_FLOATS:
            return original(self, source, target, rounding)
        return cast(self, source, target)

    return fp_to_fp


def _make_dot(original: Operation, parts: InterpreterParts) -> Operation:
    handle = parts.interpreter.TensorHandle
    float32 = parts.language.float32

    def widened(operand: Any) -> Any:
        name = operand.dtype.scalar.name
        if name not in PACKED_FLOATS:
            return operand
        return handle(unpack(operand.data, name), float32)

    def dot(self: Any, lhs: Any, rhs: Any, accumulator: Any, *options: Any) -> Any:
        if accumulator.dtype.scalar.name in PACKED_FLOATS:
            raise NotImplementedError(
                f"tl.dot into {accumulator.dtype.scalar} is not computed by the interpreter; "
                "accumulate in tl.float32"
            )
        self.flops += 2 * lhs.data.size * rhs.data.shape[-1]
        return original(self, widened(lhs), widened(rhs), accumulator, *options)

    return dot


def _make_dot_scaled(original: Operation) -> Operation:
    def dot_scaled(self: Any, *operands: Any) -> Any:
        result = original(self, *operands)
        lhs, rhs = operands[0].data, operands[3].data
        # two 4-bit values share a byte, in one operand or the other: the larger K is the true one
        self.flops += 2 * result.data.size * max(lhs.shape[-1], rhs.shape[-2])
        return result

    return dot_scaled


def _make_ashr(parts: InterpreterParts) -> Operation:
    handle = parts.interpreter.TensorHandle

    def ashr(self: Any, lhs: Any, rhs: Any) -> Any:
        # Triton 3.6 changes its operands here, so that an unsigned variable turns signed
        signed = [
            handle(operand.data.astype(f"i{operand.data.itemsize}"), operand.dtype)
            for operand in (lhs, rhs)
        ]
        return self.binary_op(*signed, np.right_shift)

    return ashr
