"""Scopes and states as users see them, and how a region becomes a decorator of any function.

The scope is a native type. A plain function or a coroutine runs wholly inside its region. A
generator, plain or asynchronous, is inside it only while its own body runs: between two items the
caller's work is the caller's.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, TypeVar, cast

from proton import _native
from proton.errors import ScopeMismatch, UsageError
from proton.runtime import tensor_metrics

F = TypeVar("F", bound=Callable[..., Any])
Region = AbstractContextManager[object]

scope = _native.Scope
enter_scope = _native.enter_scope
exit_scope = _native.exit_scope

_MEASURED = ("cpu_time", "cpu_time (ns)", "cpu_time (exc)", "cpu_time (ns)(exc)")

# Work done to compute launch metadata or metrics is labelled with this; viewers leave it out.
COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
COMPUTE_METADATA_SCOPE_PREFIX = f"{COMPUTE_METADATA_SCOPE_NAME}:"

enter_state = _native.enter_state
exit_state = _native.exit_state


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


class state:  # noqa: N801 - the name users know
    """Labels kernels launched inside it: one frame between the scope path and the kernel.

    A context manager and a decorator. States nest: the innermost one labels, and the outer one
    is back when it is left. One object may be entered many times, by many threads.

    Example:
        >>> with proton.scope("step"), proton.state("warmup"):
        ...     kernel[grid](x)  # ROOT / step / warmup / kernel
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> state:
        enter_state(self.name)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        try:
            exit_state()
        except ScopeMismatch:
            if exc is None:  # else it would hide the exception that is on its way
                raise

    def __call__(self, function: F) -> F:
        """`function`, labelled whenever it runs."""
        return wrap(function, lambda: self)


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    """The state that work for the launch metadata of `kernel_name` is labelled with."""
    if kernel_name is None:
        return COMPUTE_METADATA_SCOPE_NAME
    return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name


def metadata_state(kernel_name: str | None = None) -> state:
    """A state for work that is not the program's own: computing launch metadata or metrics."""
    return state(get_metadata_state_name(kernel_name))


def _nothing() -> None:
    return None


def wrap(
    function: F,
    region: Callable[[], Region],
    *,
    step: Callable[[], Region] | None = None,
    finish: Callable[[], None] = _nothing,
) -> F:
    """`function` run inside `region()`; its name, signature and kind are kept.

    Args:
        function: a plain, coroutine, generator or asynchronous generator function, or a callable.
        region: gives the context manager of one call.
        step: gives the one of each run of a generator's body; `region` when left out.
        finish: called once when a generator has ended, in whichever way.

    Raises:
        UsageError: `function` cannot be called.
    """
    import inspect  # slow to import, and only decorators need it

    if not callable(function):
        raise UsageError(
            f"cannot decorate {function!r}: it is not a function; "
            "put the decorator below @classmethod or @property"
        )
    wrapped: Callable[..., object]
    if inspect.iscoroutinefunction(function):
        wrapped = _wrap_coroutine(function, region)
    elif inspect.isasyncgenfunction(function):
        wrapped = _wrap_async_generator(function, step or region, finish)
    elif inspect.isgeneratorfunction(function):
        wrapped = _wrap_generator(function, step or region, finish)
    else:
        wrapped = _wrap_plain(function, region)
    return cast(F, functools.wraps(function)(wrapped))


class _Parked:
    """The scopes that a generator has open while its caller runs."""

    __slots__ = ("scopes",)

    def __init__(self) -> None:
        self.scopes: object = None


class _Step:
    """One run of a generator's body, in a region: scopes around a `yield` rest in between."""

    __slots__ = ("_parked", "_region")

    def __init__(self, region: Region, parked: _Parked) -> None:
        self._region = region
        self._parked = parked

    def __enter__(self) -> None:
        self._region.__enter__()
        scopes, self._parked.scopes = self._parked.scopes, None
        _native.unpark_scopes(scopes)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(self._region, _native.Scope):
            self._parked.scopes = _native.park_scopes(self._region)
        self._region.__exit__(exc_type, exc, traceback)


def _wrap_plain(
    function: Callable[..., object], region: Callable[[], Region]
) -> Callable[..., object]:
    def run(*args: object, **kwargs: object) -> object:
        with region():
            return function(*args, **kwargs)

    return run


def _wrap_coroutine(
    function: Callable[..., Awaitable[object]], region: Callable[[], Region]
) -> Callable[..., object]:
    async def run(*args: object, **kwargs: object) -> object:
        with region():
            return await function(*args, **kwargs)

    return run


def _wrap_generator(
    function: Callable[..., Generator[object, object, object]],
    step: Callable[[], Region],
    finish: Callable[[], None],
) -> Callable[..., object]:
    def run(*args: object, **kwargs: object) -> Generator[object, object, object]:
        inner = function(*args, **kwargs)
        resume: Callable[[], object] = inner.__next__
        parked = _Parked()
        try:
            while True:
                try:
                    with _Step(step(), parked):
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                except GeneratorExit:
                    with _Step(step(), parked):
                        inner.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(inner.throw, error)
                else:
                    resume = functools.partial(inner.send, sent)
        finally:
            finish()

    return run


def _wrap_async_generator(
    function: Callable[..., AsyncGenerator[object, object]],
    step: Callable[[], Region],
    finish: Callable[[], None],
) -> Callable[..., object]:
    async def run(*args: object, **kwargs: object) -> AsyncGenerator[object, object]:
        inner = function(*args, **kwargs)
        resume: Callable[[], Awaitable[object]] = inner.__anext__
        parked = _Parked()
        try:
            while True:
                try:
                    with _Step(step(), parked):
                        item = await resume()
                except StopAsyncIteration:
                    return
                try:
                    sent = yield item
                except GeneratorExit:
                    with _Step(step(), parked):
                        await inner.aclose()
                    raise
                except BaseException as error:
                    resume = functools.partial(inner.athrow, error)
                else:
                    resume = functools.partial(inner.asend, sent)
        finally:
            finish()

    return run


_native.set_scope_decorator(decorate)
_native.set_metric_converter(tensor_metrics.to_value)
