"""Where another tool holds CUPTI: Triton kernels timed by launch hooks and CUDA events.

Each launch is waited for, so that its event is booked where it was made: right, but not fast. Other
kernels than Triton's are not seen.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from proton import _torch, _triton
from proton.backends.base import EventSink


class EventTimer:
    """Times the Triton kernels of one session with events of torch's."""

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink
        self._started: dict[int, Any] = {}  # thread -> its launch's first event
        self._pid = os.getpid()
        self._stop_waiting: Callable[[], None] = lambda: None

    @staticmethod
    def is_possible() -> bool:
        """Whether the program uses torch, whose events we borrow."""
        return _torch.is_imported()

    def start(self) -> None:
        """Stand in Triton's launch hooks, from its import on."""
        self._stop_waiting = _triton.when_imported(
            lambda: _triton.add_launch_hooks(self._enter, self._exit)
        )

    def stop(self) -> None:
        """Leave them."""
        self._stop_waiting()
        if _triton.is_imported():
            _triton.remove_launch_hooks(self._enter, self._exit)

    def _enter(self, metadata: Any) -> None:
        if os.getpid() != self._pid or not self._sink.is_active:
            return
        stream = metadata.data["stream"]
        if _torch.is_capturing():
            self._sink.count_loss("captured_launch")  # nothing can be timed while it is captured
            return
        self._started[threading.get_ident()] = _torch.record_event(stream)

    def _exit(self, metadata: Any) -> None:
        first = self._started.pop(threading.get_ident(), None)
        if first is None:
            return
        device, time_ns = _torch.elapsed_ns(first, _torch.record_event(metadata.data["stream"]))
        end_ns = time.monotonic_ns()
        self._sink.on_kernel(
            str(metadata.data["name"]),
            end_ns - time_ns,
            end_ns,
            device_type="CUDA",
            device_id=device,
        )
