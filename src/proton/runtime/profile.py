"""`@profile`: record while a function runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from proton.errors import SessionNotFound
from proton.runtime import sessions
from proton.runtime.request import RequestOptions, SessionRequest
from proton.runtime.scopes import wrap
from proton.runtime.sessions import flags

if TYPE_CHECKING:  # not to break a cycle: `import proton` must not load them
    from proton._mode_text import BaseMode
    from proton.runtime.hooks import Hook
    from proton.runtime.open_session import OpenSession
    from proton.runtime.schedule import Schedule

F = TypeVar("F", bound=Callable[..., Any])


class _Call:
    """One call of a profiled function. The last of nested or parallel calls pauses the session."""

    __slots__ = ("_request", "_session")

    def __init__(self, request: SessionRequest) -> None:
        self._request = request
        self._session: int | None = None

    def __enter__(self) -> None:
        if flags.command_line:
            return  # the command's session records anyway
        active = {opened.id for opened in sessions.open_sessions() if opened.native.is_active}
        self._session = sessions.open_session(self._request)
        if self._session is not None:
            was_active = self._session in active
            sessions.with_session(self._session, lambda opened: _begin(opened, was_active))

    def __exit__(self, *error: object) -> None:
        if self._session is not None:
            with suppress(SessionNotFound):  # the function may have finalized it
                sessions.with_session(self._session, _end)


def _begin(opened: OpenSession, was_active: bool) -> None:
    if opened.profiled_calls == 0:
        opened.pauses_after_call = not was_active
    opened.profiled_calls += 1


def _end(opened: OpenSession) -> None:
    opened.profiled_calls -= 1
    if opened.profiled_calls == 0 and opened.pauses_after_call:
        opened.deactivate()


@overload
def profile(func: F, **options: Unpack[RequestOptions]) -> F: ...


@overload
def profile(func: None = None, **options: Unpack[RequestOptions]) -> Callable[[F], F]: ...


def profile(
    func: F | None = None,
    *,
    name: str | os.PathLike[str] | None = None,
    context: str = "shadow",
    data: str = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: Hook | str | None = None,
    schedule: Schedule | str | None = None,
) -> F | Callable[[F], F]:
    """Record whenever the decorated function runs; `finalize()` writes what all calls gave.

    The arguments are those of `start`. The function's result is returned; the session is paused
    again however the function ends, unless it was active before.

    Example:
        >>> @proton.profile(name="training", context="python")
        ... def train() -> float: ...
    """
    request = SessionRequest(name, context, data, backend, mode, hook, schedule=schedule)

    def decorate(function: F) -> F:
        return wrap(function, lambda: _Call(request))

    return decorate if func is None else decorate(func)
