"""Sees to it that a recording is written however the process ends in Python.

At a normal end that is an exit handler, registered before the target runs and so called after its
own handlers and threads. `os._exit` and the exec family skip those handlers: here they write
first. A signal that kills is not caught.
"""

from __future__ import annotations

import atexit
import functools
import os
from collections.abc import Callable
from typing import Any


def before_exit(finish: Callable[[], None]) -> None:
    """Have `finish` called before this process ends or becomes another program.

    It may be called in forked children too, and more than once: it has to look who it is.
    """
    atexit.register(finish)
    os._exit = _after(finish, os._exit, lambda status: True)
    os.execv = _after(finish, os.execv, _will_run)  # the other exec functions end in these two
    os.execve = _after(finish, os.execve, _will_run)


def _after(
    finish: Callable[[], None], function: Callable[..., Any], applies: Callable[..., bool]
) -> Callable[..., Any]:
    """`function`, with `finish` before it where `applies` to its arguments."""

    @functools.wraps(function)
    def ending(*args: Any, **kwargs: Any) -> Any:
        if applies(*args, **kwargs):
            finish()
        return function(*args, **kwargs)

    return ending


def _will_run(path: Any, *_args: Any, **_kwargs: Any) -> bool:
    """Whether exec can succeed: `execvp` tries one folder after another, and most must fail."""
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except (TypeError, ValueError):
        return False
