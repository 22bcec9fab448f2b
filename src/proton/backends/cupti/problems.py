"""Says at once what goes wrong while instructions are sampled: in the log, and in profiles.

The core notes such things where no Python may run, as in the driver's callbacks, and asks the main
thread to come here as soon as it can.
"""

from __future__ import annotations

import logging
from typing import Any

from proton import _native

_log = logging.getLogger("proton")
_sinks: list[Any] = []  # of the sessions that sample


def follow(sink: Any) -> None:
    """Have a session warned of what goes wrong from now on."""
    _native.Cupti.set_problem_listener(_tell)
    _sinks.append(sink)


def unfollow(sink: Any) -> None:
    """End that; nothing to do where it never began."""
    if sink in _sinks:
        _sinks.remove(sink)


def _tell(problems: list[str]) -> None:
    for problem in problems:
        _log.warning("%s", problem)
        for sink in tuple(_sinks):
            sink.warn(problem)
