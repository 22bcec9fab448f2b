"""What the runtime does when its process ends."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable

_registered_in: int | None = None  # the process that will make the call


def call_at_exit(function: Callable[[], None]) -> None:
    """Have `function` called once when this process ends; not in children forked from it.

    Only the first call in a process counts.
    """
    global _registered_in
    if _registered_in == os.getpid():
        return
    _registered_in = os.getpid()
    atexit.register(_call, function, _registered_in)
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        # a worker of multiprocessing ends without the handlers of atexit
        from multiprocessing.util import Finalize

        Finalize(None, _call, args=(function, _registered_in), exitpriority=0)


def _call(function: Callable[[], None], pid: int) -> None:
    if pid == os.getpid():
        function()
