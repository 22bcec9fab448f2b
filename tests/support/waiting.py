"""Waiting for what another thread or process does, with a limit and a reason."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def wait_for(condition: Callable[[], Any], what: str, limit_s: float = 30) -> float:
    """Return once `condition()` is true, with the seconds that took; fail after `limit_s`."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < limit_s, f"waited {limit_s} s for {what}"
        time.sleep(0.005)
    return time.monotonic() - start
