"""What `triton.language` must be while a kernel is interpreted, put in place for one launch.

Triton collects these replacements anew at every launch and at every call of a jitted function; we
collect them once, which is where the time for counting comes from. Reductions and scans are counted
here, without numpy's warnings about lanes that hold NaN.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from proton._triton.interpreter import InterpreterParts

_MISSING = object()


def make_reduce(parts: InterpreterParts, semantic: Any) -> Callable[..., Any]:
    """`tl.reduce` for interpreted kernels."""
    reduce_type = type(
        "CountingReduce", (parts.interpreter.ReduceOps,), {"min_max": _make_min_max(parts)}
    )

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
        operation = parts.interpreter.ScanOps(axis, combine_fn, _plain(reverse))
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
    original = parts.interpreter.ReduceOps.min_max

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


class LanguagePatch:
    """Replacements of attributes of `triton.language`; `apply` and `restore` go in pairs."""

    def __init__(self, parts: InterpreterParts, semantic: Any) -> None:
        self._replacements: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._originals: list[tuple[Any, str, Any]] = []
        self._depth = 0
        language, core = parts.language, parts.language.core
        cuda = parts.cuda_libdevice
        for owner in (language, core, language.tensor, language.math, core.tensor_descriptor_base):
            self._replace_builtins(owner, parts, semantic)
        self._replace_builtins(cuda, parts, semantic)
        for name, member in inspect.getmembers(parts.libdevice, inspect.isfunction):
            # stubs, which the compiler swaps for those of its target
            self.set_attr(
                parts.libdevice, name, _interpreted(getattr(cuda, name, member), semantic)
            )
        for lang in (language, core):
            # these set attributes through the scope they are given; ours only takes note
            parts.patch_language_tensor(lang.tensor, self)
            parts.patch_language_core(lang, self)
        # numpy 2.4 refuses what Triton 3.6 does here: int() of an array of one element
        self.set_attr(language.tensor, "__index__", lambda self: int(self.handle.data.item()))
        for owner in (language, core):
            self.set_attr(owner, "reduce", make_reduce(parts, semantic))
            self.set_attr(owner, "associative_scan", make_scan(parts, semantic))
        for name, member in inspect.getmembers(language.tensor):
            if isinstance(member, parts.jit.JITFunction):
                self.set_attr(language.tensor, name, _method(member))
        self._by_original = {
            id(vars(owner)[name]): value
            for owner, name, value in self._replacements.values()
            if isinstance(owner, ModuleType) and name in vars(owner)
        }

    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        """Note a replacement; the last one of an attribute counts."""
        self._replacements[id(owner), name] = (owner, name, value)

    def replaced_globals(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Globals of a module that are replaced here: `from triton.language import load`."""
        return {
            name: self._by_original[id(value)]
            for name, value in names.items()
            if id(value) in self._by_original
        }

    def apply(self) -> None:
        """Put every replacement in place; inside another `apply` there is nothing to do."""
        self._depth += 1
        if self._depth > 1:
            return
        for owner, name, value in self._replacements.values():
            original = owner.__dict__.get(name, _MISSING)
            self._originals.append((owner, name, original))
            setattr(owner, name, value)

    def restore(self) -> None:
        """Take every replacement out again, at the end of the outermost `apply`."""
        self._depth -= 1
        if self._depth == 0:
            self.reset()

    def reset(self) -> None:
        """Take every replacement out, however often it was applied."""
        self._depth = 0
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

    def _replace_builtins(self, owner: Any, parts: InterpreterParts, semantic: Any) -> None:
        for name, member in inspect.getmembers(owner):
            if parts.language.core.is_builtin(member):
                self.set_attr(owner, name, _interpreted(member, semantic))


def _interpreted(builtin: Callable[..., Any], semantic: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs["_semantic"] = semantic
        return builtin(*args, **kwargs)

    return call


def _method(function: Any) -> Callable[..., Any]:
    """A jitted function as a method of tensors: `x.sum()`."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return call
