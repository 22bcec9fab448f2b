"""Reductions and scans, counted, and without numpy's warnings about lanes that hold NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts


def make_reduce(parts: InterpreterParts, semantic: Any) -> Callable[..., Any]:
    """`tl.reduce` for interpreted kernels."""
    reduce_type = type("CountingReduce", (parts.ReduceOps,), {"min_max": _make_min_max(parts)})

    def reduce(input: Any, axis: Any, combine_fn: Any, keep_dims: bool = False, **_: Any) -> Any:
        axis = _plain(axis)
        operation = reduce_type(axis, combine_fn, _plain(keep_dims))
        before = semantic.builder.flops
        result = _observed(semantic.builder, "reduce", operation, input, axis)
        # a combine function that Triton interprets itself has been counted operation by operation
        if semantic.builder.flops == before and _is_float(input):
            semantic.builder.flops += _size(input) - _size(result)
        return result

    return reduce


def make_scan(parts: InterpreterParts, semantic: Any) -> Callable[..., Any]:
    """`tl.associative_scan` for interpreted kernels."""

    def scan(input: Any, axis: Any, combine_fn: Any, reverse: bool = False, **_: Any) -> Any:
        axis = _plain(axis)
        before = semantic.builder.flops
        operation = parts.ScanOps(axis, combine_fn, _plain(reverse))
        result = _observed(semantic.builder, "scan", operation, input, axis)
        if semantic.builder.flops == before and _is_float(input):
            size = _size(input)
            semantic.builder.flops += size - size // _first(input).handle.data.shape[axis]
        return result

    return scan


def _observed(builder: Any, name: str, operation: Any, input: Any, axis: int | None) -> Any:
    if not hasattr(builder, "observe_reduction"):  # nobody listens to single operations
        return operation.apply(input)
    return builder.observe_reduction(name, lambda: operation.apply(input), input, axis)


def _make_min_max(parts: InterpreterParts) -> Callable[..., Any]:
    # fmax and fmin skip NaN as a GPU does; numpy's nanmax warns where all lanes are NaN
    quiet = {
        np.nanmax: np.fmax.reduce,
        np.nanmin: np.fmin.reduce,
        np.nanargmax: lambda data, **options: _arg_best(np.argmax, data, -np.inf, options),
        np.nanargmin: lambda data, **options: _arg_best(np.argmin, data, np.inf, options),
    }
    original = parts.ReduceOps.min_max

    def min_max(self: Any, input: Any, val_reduce_op: Any, idx_reduce_op: Any = None) -> Any:
        return original(
            self,
            input,
            quiet.get(val_reduce_op, val_reduce_op),
            quiet.get(idx_reduce_op, idx_reduce_op),
        )

    return min_max


def _arg_best(choose: Callable[..., Any], data: Any, worst: float, options: dict[str, Any]) -> Any:
    if data.dtype.kind == "f":
        data = np.where(np.isnan(data), data.dtype.type(worst), data)
    return choose(data, **options)


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)  # a constexpr carries its value


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, tuple) else values


def _size(values: Any) -> int:
    return int(_first(values).handle.data.size)


def _is_float(values: Any) -> bool:
    return bool(_first(values).dtype.is_floating())
