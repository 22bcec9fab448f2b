"""What `triton.language` must be while a kernel is interpreted, put in place for one launch.

Triton collects these replacements anew at every launch and at every call of a jitted function; we
collect them once, which is where the time for counting comes from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.reduce import make_reduce, make_scan

_MISSING = object()


class LanguagePatch:
    """Replacements of attributes of `triton.language`; `apply` and `restore` go in pairs."""

    def __init__(self, parts: InterpreterParts, semantic: Any) -> None:
        self._replacements: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._originals: list[tuple[Any, str, Any]] = []
        self._depth = 0
        language, core = parts.language, parts.core
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
            if isinstance(member, parts.JITFunction):
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
            if parts.is_builtin(member):
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
