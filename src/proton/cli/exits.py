"""Sees to it that a recording is written however the process ends in Python.

At a normal end that is an exit handler, registered before the target runs and so called after its
own handlers and threads. `os._exit` and the exec family skip those handlers: here they write
first. A signal that kills is not caught.
"""

from __future__ import annotations

import atexit
import functools
import os
from typing import Any, Protocol


class Finish(Protocol):
    """What is done before the end."""

    def __call__(self, *, may_fail: bool = True) -> None:
        """Write the recording; where that goes wrong, end as a failure if it `may_fail`."""


def before_exit(finish: Finish) -> None:
    """Have `finish` called before this process ends or becomes another program.

    It may be called in forked children too, and more than once: it has to look who it is.
    """
    atexit.register(finish)
    leave, execv, execve = os._exit, os.execv, os.execve

    @functools.wraps(leave)
    def leave_after(status: Any) -> Any:
        finish(may_fail=status == 0)
        return leave(status)

    @functools.wraps(execv)
    def execv_after(path: Any, *args: Any, **kwargs: Any) -> Any:
        if _will_run(path):
            finish(may_fail=False)
        return execv(path, *args, **kwargs)

    @functools.wraps(execve)
    def execve_after(path: Any, *args: Any, **kwargs: Any) -> Any:
        if _will_run(path):
            finish(may_fail=False)
        return execve(path, *args, **kwargs)

    functions = {"_exit": leave_after, "execv": execv_after, "execve": execve_after}
    vars(os).update(functions)  # the other exec functions end in these two


def _will_run(path: Any) -> bool:
    """Whether exec can succeed: `execvp` tries one folder after another, and most must fail."""
    try:
        return os.path.isfile(path) and os.access(path, os.X_OK)
    except (TypeError, ValueError):
        return False
