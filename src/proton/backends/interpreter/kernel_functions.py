"""What there is to know of a kernel before it is launched, worked out once per function."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from proton._triton.interpreter import InterpreterParts
from proton.backends.interpreter.language import LanguagePatch
from proton.backends.interpreter.rewrite import rewrite

_log = logging.getLogger("proton")


@dataclass(frozen=True)
class Kernel:
    """A jitted function, ready to be interpreted."""

    name: str
    function: FunctionType
    signature: inspect.Signature
    constexprs: frozenset[str]
    repr_function: Callable[[Any], str] | None
    launch_metadata: Callable[..., dict[str, Any]] | None

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, defaults filled in; other keywords are options of the compiler.

        Raises:
            TypeError: an argument is missing, or there are too many.
        """
        known = {name: value for name, value in kwargs.items() if name in self.signature.parameters}
        try:
            bound = self.signature.bind(*args, **known)
        except TypeError as error:
            raise TypeError(f"kernel {self.name!r}: {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)

    def specialized_name(self, arguments: Mapping[str, Any]) -> str:
        """The kernel's name, by its own `repr` function where it has one."""
        if self.repr_function is None:
            return self.name
        constants = {name: arguments[name] for name in self.constexprs if name in arguments}
        signature = {name: "constexpr" if name in constants else "" for name in arguments}
        specialization = SimpleNamespace(
            constants=constants, constexprs=constants, signature=signature, attrs={}
        )
        try:
            return str(self.repr_function(specialization))
        except Exception as error:  # the user's code, written for the compiler's own object
            _log.warning("repr of kernel %r failed (%s); it keeps its name", self.name, error)
            return self.name


class LaunchTraits(NamedTuple):
    """The `metadata` that launch metadata functions get, as far as an interpreter has it."""

    name: str
    num_warps: int
    num_stages: int
    num_ctas: int
    cluster_dims: tuple[int, int, int]
    shared: int
    maxnreg: int | None
    tmem_size: int
    debug: bool
    hash: str
    target: str
    backend_name: str

    @staticmethod
    def of(name: str, options: Mapping[str, Any]) -> LaunchTraits:
        """From the options a launch was given, with the compiler's defaults."""
        num_ctas = int(options.get("num_ctas") or 1)
        return LaunchTraits(
            name=name,
            num_warps=int(options.get("num_warps") or 4),
            num_stages=int(options.get("num_stages") or 3),
            num_ctas=num_ctas,
            cluster_dims=(num_ctas, 1, 1),
            shared=0,
            maxnreg=options.get("maxnreg"),
            tmem_size=0,
            debug=bool(options.get("debug")),
            hash="",
            target="interpreter",
            backend_name="interpreter",
        )


class KernelTable:
    """Kernels by their Python function; a function that goes away takes its entry along."""

    def __init__(
        self, parts: InterpreterParts, names: Mapping[str, Any], patch: LanguagePatch
    ) -> None:
        self._parts = parts
        self._names = names
        self._patch = patch
        self._kernels: WeakKeyDictionary[FunctionType, Kernel] = WeakKeyDictionary()

    def kernel(self, jitted: Any) -> Kernel:
        """The kernel behind a JITFunction or InterpretedFunction."""
        function: FunctionType = jitted.fn
        found = self._kernels.get(function)
        if found is None:
            found = self._kernels[function] = self._make(jitted, function)
        return found

    def _make(self, jitted: Any, function: FunctionType) -> Kernel:
        options: Mapping[str, Any] = getattr(jitted, "kwargs", {})  # InterpretedFunction's
        normalize = self._parts.normalize_type
        annotations = inspect.get_annotations(function)
        replaced = self._patch.replaced_globals(function.__globals__)
        return Kernel(
            name=function.__name__,
            function=rewrite(function, self._parts.ast_transformer, self._names, replaced),
            signature=inspect.signature(function),
            constexprs=frozenset(
                name for name, kind in annotations.items() if normalize(kind) == "constexpr"
            ),
            repr_function=getattr(jitted, "_repr", None) or options.get("repr"),
            launch_metadata=getattr(jitted, "launch_metadata", None)
            or options.get("launch_metadata"),
        )
