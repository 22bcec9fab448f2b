"""Scopes as users see them: the native type, its timed variant, and how they decorate functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from proton import _native
from proton.errors import UsageError
from proton.runtime import tensor_metrics
from proton.runtime.wrapping import wrap

F = TypeVar("F", bound=Callable[..., Any])

scope = _native.Scope
enter_scope = _native.enter_scope
exit_scope = _native.exit_scope

_MEASURED = ("cpu_time", "cpu_time (ns)", "cpu_time (exc)", "cpu_time (ns)(exc)")


class cpu_timed_scope(_native.Scope):  # noqa: N801 - the name users know
    """A scope that also books its own wall time as `cpu_time (ns)`; safe in recursion and threads.

    Example:
        >>> with cpu_timed_scope("load"):
        ...     batch = next(loader)
    """

    __slots__ = ()  # no state on the object: it may be entered twice at once

    def __init__(self, name: str, metrics: Mapping[str, Any] | None = None) -> None:
        if metrics and any(key in metrics for key in _MEASURED):
            raise UsageError("metric 'cpu_time' is measured here; give yours another name")
        super().__init__(name, metrics, timed=True)


def decorate(region: _native.Scope, function: F) -> F:
    """`function` run inside `region`: what `@scope(...)` does.

    A generator's body is in the scope whenever it runs; its metrics are booked once, at its end.
    """
    timed = isinstance(region, cpu_timed_scope)
    bare = _native.Scope(region.name, None, timed=timed)

    def book_metrics() -> None:
        if region.metrics:
            with _native.Scope(region.name, region.metrics):
                pass

    return wrap(function, lambda: region, step=lambda: bare, finish=book_metrics)


_native.set_scope_decorator(decorate)
_native.set_metric_converter(tensor_metrics.to_value)
