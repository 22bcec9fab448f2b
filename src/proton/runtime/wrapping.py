"""How a region (scope, state, profile) becomes a decorator of any kind of function.

A plain function or a coroutine runs wholly inside the region. A generator, plain or asynchronous,
is inside it only while its own body runs: between two items the caller's work is the caller's.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

from proton.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])
Region = AbstractContextManager[object]


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
    wrapped: Callable[..., Any]
    if inspect.iscoroutinefunction(function):
        wrapped = _wrap_coroutine(function, region)
    elif inspect.isasyncgenfunction(function):
        wrapped = _wrap_async_generator(function, step or region, finish)
    elif inspect.isgeneratorfunction(function):
        wrapped = _wrap_generator(function, step or region, finish)
    else:
        wrapped = _wrap_plain(function, region)
    return cast(F, functools.wraps(function)(wrapped))


def _wrap_plain(function: Callable[..., Any], region: Callable[[], Region]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with region():
            return function(*args, **kwargs)

    return run


def _wrap_coroutine(
    function: Callable[..., Any], region: Callable[[], Region]
) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        with region():
            return await function(*args, **kwargs)

    return run


def _wrap_generator(
    function: Callable[..., Any], step: Callable[[], Region], finish: Callable[[], None]
) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = function(*args, **kwargs)
        resume: Callable[[], Any] = inner.__next__
        try:
            while True:
                try:
                    with step():
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                except GeneratorExit:
                    with step():
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
    function: Callable[..., Any], step: Callable[[], Region], finish: Callable[[], None]
) -> Callable[..., Any]:
    async def run(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        inner = function(*args, **kwargs)
        resume: Callable[[], Any] = inner.__anext__
        try:
            while True:
                try:
                    with step():
                        item = await resume()
                except StopAsyncIteration:
                    return
                try:
                    sent = yield item
                except GeneratorExit:
                    with step():
                        await inner.aclose()
                    raise
                except BaseException as error:
                    resume = functools.partial(inner.athrow, error)
                else:
                    resume = functools.partial(inner.asend, sent)
        finally:
            finish()

    return run
