"""NVTX ranges as scopes: the library that NVTX loads, and when it is listened to.

NVTX asks once per module that uses it, at that module's first call, which library follows its
ranges: an environment variable names it. So `import proton` sets the variable (nothing is loaded
by that), and sessions only turn the listening on and off. Light to import.
"""

from __future__ import annotations

import os

from proton import _native
from proton.errors import UsageError
from proton.runtime.environment import read_switch

VARIABLE = "NVTX_INJECTION64_PATH"
LIBRARY = "libproton_nvtx.so"
_PATH = os.path.join(os.path.dirname(_native.__file__), LIBRARY)

_listeners: set[int] = set()  # ids of the sessions that want ranges
_has_warned = False


def announce() -> None:
    """Have NVTX load our library in this process and its children, unless another tool is set."""
    try:
        is_wanted = read_switch("enable_nvtx", default=True)
    except UsageError:
        is_wanted = True  # a session will say what is wrong with it
    if is_wanted and other_tool() is None and os.path.exists(_PATH):
        os.environ[VARIABLE] = _PATH


def other_tool() -> str | None:
    """The library of another tool that NVTX loads instead of ours; None: there is none."""
    # One of another installation of Proton was set by a parent process: it tells us nothing.
    asked = os.environ.get(VARIABLE)
    return asked if asked and os.path.basename(asked) != LIBRARY else None


def join(session: int) -> str | None:
    """A session wants ranges from now on; what the user should be told, if they cannot come."""
    global _has_warned
    if (tool := other_tool()) is not None:
        if _has_warned:
            return None
        _has_warned = True
        return (
            f"NVTX ranges do not become scopes: {VARIABLE} names the library of another tool, "
            f"{tool!r}; unset it, or set TRITON_ENABLE_NVTX=0 to do without them"
        )
    _native.Nvtx.load(_PATH)
    if not _listeners:
        _native.Nvtx.listen(True)
    _listeners.add(session)
    return None


def leave(session: int) -> None:
    """A session is over; with the last one NVTX calls cost next to nothing again."""
    if session not in _listeners:
        return
    _listeners.remove(session)
    if not _listeners:
        _native.Nvtx.listen(False)


def forget() -> None:
    """In a forked child: the parent's sessions are not ours."""
    _listeners.clear()
