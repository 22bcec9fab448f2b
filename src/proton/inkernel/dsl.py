"""The functions behind `proton.language`: regions and events inside kernels.

They are valid where Triton compiles (`@triton.jit`, `@gluon.jit`) and where a kernel is
interpreted. No in-kernel recording is built yet, so they check their arguments and emit nothing:
a kernel with them compiles to the same code as one without. Importing this imports no Triton.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from proton import _triton
from proton.errors import SemanticError, UsageError

F = TypeVar("F", bound=Callable[..., Any])

SEMANTICS = ("triton", "gluon")
_enabled_semantics = {"gluon"}


@dataclass(frozen=True)
class Event:
    """A named asynchronous transaction; what `allocate_event` returns."""

    name: str


def builtin(function: F) -> F:
    """Mark a function as one that Triton's compiler calls instead of compiling."""
    function.__triton_builtin__ = True  # type: ignore[attr-defined]
    return function


@builtin
def enter_scope(name: Any, _semantic: Any = None) -> None:
    """Begin the region `name`; end it with `exit_scope` of the same name."""
    _checked_name(name)


@builtin
def exit_scope(name: Any, _semantic: Any = None) -> None:
    """End the region `name`."""
    _checked_name(name)


class scope:  # noqa: N801 - the name users know
    """A region of a kernel: `with pl.scope("load"): ...`."""

    __triton_builtin__ = True

    def __init__(self, name: Any, _semantic: Any = None) -> None:
        self.name = _checked_name(name)
        self._semantic = _semantic

    def __enter__(self) -> scope:
        enter_scope(self.name, _semantic=self._semantic)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        exit_scope(self.name, _semantic=self._semantic)


@builtin
def allocate_event(name: Any, _semantic: Any = None) -> Any:
    """A handle for `start_event` and `end_event`, which may be in different warps."""
    event = Event(_checked_name(name))
    # a compiled kernel may keep only values of its compiler's kind
    return event if _semantic is None else _triton.opaque_value(event)


@builtin
def start_event(event: Any, _semantic: Any = None) -> None:
    """Begin the transaction of an event."""
    _check_event(event)


@builtin
def end_event(event: Any, _semantic: Any = None) -> None:
    """End the transaction of an event."""
    _check_event(event)


def enable_semantic(semantic_name: str) -> None:
    """Record regions in kernels of this kind too: 'triton' or 'gluon' (on from the start)."""
    _enabled_semantics.add(_checked_semantic(semantic_name))


def disable_semantic(semantic_name: str) -> None:
    """Record no regions in kernels of this kind; harmless where none were."""
    _enabled_semantics.discard(_checked_semantic(semantic_name))


def enabled_semantics() -> frozenset[str]:
    """The kinds of kernels whose regions count."""
    return frozenset(_enabled_semantics)


def _checked_semantic(name: str) -> str:
    if name not in SEMANTICS:
        raise SemanticError.unknown("semantic", name, choices=SEMANTICS)
    return name


def _checked_name(name: Any) -> str:
    value = getattr(name, "value", name)  # the compiler passes constants as constexpr
    if not isinstance(value, str) or not value:
        raise UsageError(f"a region needs a name: got {value!r}, give a string that is not empty")
    return value


def _check_event(event: Any) -> None:
    value = getattr(event, "payload", event)
    if not isinstance(value, Event):
        raise SemanticError(f"{value!r} is no event; pass what allocate_event returned")
