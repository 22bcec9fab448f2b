"""Timing events of the CUDA driver, through ctypes: a bounded pool, and nothing that waits.

Used where CUPTI is taken. Every call is made on the thread that launches, or on one that reads;
events belong to the CUDA context that is current at the launch.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

SUCCESS = 0
NOT_READY = 600
_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED

_FUNCTIONS = (
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuStreamIsCapturing",
    "cuThreadExchangeStreamCaptureMode",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventQuery",
    "cuEventElapsedTime",
    "cuEventDestroy_v2",
)


class Place(NamedTuple):
    """Where a launch is made: a CUDA context, its device, and the stream."""

    context: int
    device: int
    stream: int


class CudaEvents:
    """Records events on streams and reads the time between them, later and without waiting."""

    def __init__(self, library: str, *, limit: int) -> None:
        """Open the driver's library; at most `limit` events exist at a time.

        Raises:
            OSError, AttributeError: it cannot be opened, or is no CUDA driver.
        """
        self._cuda = ctypes.CDLL(library)
        for name in _FUNCTIONS:
            getattr(self._cuda, name).restype = ctypes.c_int
        self._limit = limit
        self._count = 0
        self._idle: defaultdict[int, list[int]] = defaultdict(list)  # context -> events

    def place(self, stream: int) -> Place | None:
        """Where the calling thread launches on `stream`; None with no CUDA context."""
        context, device = ctypes.c_void_p(), ctypes.c_int()
        if self._cuda.cuCtxGetCurrent(ctypes.byref(context)) != SUCCESS or not context.value:
            return None
        if self._cuda.cuCtxGetDevice(ctypes.byref(device)) != SUCCESS:
            return None
        return Place(context.value, device.value, stream)

    def is_capturing(self, stream: int) -> bool:
        """Whether work on the stream is put into a graph instead of being run."""
        status = ctypes.c_int()
        pointer = ctypes.c_void_p(stream)
        failure = self._cuda.cuStreamIsCapturing(pointer, ctypes.byref(status))
        return bool(failure != SUCCESS or status.value)

    def record(self, place: Place) -> int | None:
        """An event behind all work of the stream; None: the limit is reached, or a failure."""
        idle = self._idle[place.context]
        event = idle.pop() if idle else self._create()
        if event is None:
            return None
        pointers = ctypes.c_void_p(event), ctypes.c_void_p(place.stream)
        if self._cuda.cuEventRecord(*pointers) == SUCCESS:
            return event
        idle.append(event)
        return None

    def is_done(self, event: int) -> bool | None:
        """Whether the work before an event is done; None: the driver cannot tell any more."""
        result = self._cuda.cuEventQuery(ctypes.c_void_p(event))
        return None if result not in (SUCCESS, NOT_READY) else result == SUCCESS

    def elapsed_ns(self, first: int, last: int) -> int | None:
        """The time between two events that are done; None: the driver does not say."""
        time_ms = ctypes.c_float()
        pointers = ctypes.c_void_p(first), ctypes.c_void_p(last)
        if self._cuda.cuEventElapsedTime(ctypes.byref(time_ms), *pointers) != SUCCESS:
            return None
        return round(time_ms.value * 1e6)

    def give_back(self, context: int, *events: int) -> None:
        """The events are free for other launches of the context."""
        self._idle[context].extend(events)

    def forget(self, *events: int) -> None:
        """The events cannot be used again: their context is gone."""
        self._count -= len(events)

    def close(self) -> None:
        """Destroy the idle events."""
        for events in self._idle.values():
            for event in events:
                self._cuda.cuEventDestroy_v2(ctypes.c_void_p(event))
            self._count -= len(events)
        self._idle.clear()

    @contextmanager
    def beside_captures(self) -> Iterator[None]:
        """Ask about events without disturbing a graph that another thread captures."""
        mode = ctypes.c_int(_RELAXED)
        self._cuda.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        try:
            yield
        finally:
            self._cuda.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))

    def _create(self) -> int | None:
        if self._count >= self._limit:
            return None
        event = ctypes.c_void_p()
        if self._cuda.cuEventCreate(ctypes.byref(event), 0) != SUCCESS or not event.value:
            return None
        self._count += 1
        return event.value
