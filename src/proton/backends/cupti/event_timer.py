"""Where another tool holds CUPTI: Triton kernels timed by launch hooks and CUDA events.

Two events round each launch; their times are read later, when the GPU has passed them, so that no
launch waits. Other kernels than Triton's are not seen, and none while a graph is captured.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from proton import _native, _triton
from proton._triton.types import LaunchMetadata
from proton.backends.cupti.cuda_events import CudaEvents, Place

EVENT_LIMIT = 8192  # two a launch: how far the GPU may be behind
_READ_EVERY = 256  # launches
_REBASE_NS = 10_000_000_000  # times between events are floats: they must stay short
_POLL_S = 0.0005

CAPTURED = "captured_launch"
UNTIMED = "untimed_launch"


class _Launch(NamedTuple):
    name: str
    context: int  # of the session
    place: Place
    first: int
    last: int
    host_ns: int  # when it was made


class _Base:
    """An event and its host time, as far as launches tell: no work runs before its launch."""

    def __init__(self, event: int, host_ns: int) -> None:
        self.event = event
        self.host_ns = host_ns

    def to_host(self, since_ns: int, launched_ns: int) -> int:
        """The host time of work that began `since_ns` after this event."""
        self.host_ns = max(self.host_ns, launched_ns - since_ns)
        return self.host_ns + since_ns


class EventTimer:
    """Times the Triton kernels of one session."""

    def __init__(self, sink: _native.Session, events: CudaEvents) -> None:
        self._sink = sink
        self._events = events
        self._entered = threading.local()  # the launch that this thread is making
        # Guards what follows, and the pool of events. Booking may collect garbage, and that may
        # launch kernels: a thread may come back while it holds the lock.
        self._lock = threading.RLock()
        self._pending: deque[_Launch] = deque()
        self._lanes: dict[tuple[int, int], int] = {}  # CUDA context and stream -> number
        self._bases: dict[int, _Base] = {}  # by CUDA context
        self._pid = os.getpid()
        self._stop_waiting: Callable[[], None] = lambda: None

    @classmethod
    def open(cls, sink: _native.Session, library: str) -> EventTimer | None:
        """A timer over the driver's library; None where that cannot be used."""
        try:
            return cls(sink, CudaEvents(library, limit=EVENT_LIMIT))
        except (OSError, AttributeError):
            return None

    def start(self) -> None:
        """Stand in Triton's launch hooks, from its import on."""
        self._stop_waiting = _triton.when_imported(
            lambda: _triton.add_launch_hooks(self._enter, self._exit)
        )

    def flush(self, limit_s: float) -> int:
        """Book what has run, and wait for the rest; returns how many launches are still running."""
        deadline = time.monotonic() + limit_s
        while self._read(everything=True) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return len(self._pending)

    def leave(self) -> None:
        """Leave the hooks: what was launched so far can still be flushed. Harmless twice."""
        self._stop_waiting()
        if _triton.is_imported():
            _triton.remove_launch_hooks(self._enter, self._exit)

    def stop(self) -> None:
        """Leave the hooks, and give the events back."""
        self.leave()
        if os.getpid() != self._pid:
            return  # the events are the parent's
        with self._lock:
            for context, base in self._bases.items():
                self._events.give_back(context, base.event)
            for launch in self._pending:
                self._events.give_back(launch.place.context, launch.first, launch.last)
            self._bases.clear()
            self._pending.clear()
            self._events.close()

    def _enter(self, metadata: LaunchMetadata) -> None:
        self._entered.launch = None
        if os.getpid() != self._pid or not self._sink.is_active:
            return
        stream = int(metadata.data["stream"])
        if self._events.is_capturing(stream):
            self._sink.count_loss(CAPTURED)  # it does not run now, and its events never would
            return
        place = self._events.place(stream)
        if place is None or (first := self._record(place)) is None:
            self._sink.count_loss(UNTIMED)
            return
        self._entered.launch = (place, first, time.monotonic_ns(), self._sink.launch_context())

    def _exit(self, metadata: LaunchMetadata) -> None:
        launch = getattr(self._entered, "launch", None)
        self._entered.launch = None
        if launch is None or os.getpid() != self._pid:
            return
        place, first, host_ns, context = launch
        last = self._record(place)
        if last is None:
            self._sink.count_loss(UNTIMED)
            with self._lock:
                self._events.give_back(place.context, first)
            return
        name = str(metadata.data["name"])
        with self._lock:
            self._pending.append(_Launch(name, context, place, first, last, host_ns))
            is_due = len(self._pending) % _READ_EVERY == 0
        if is_due:
            self._read(everything=False)

    def _record(self, place: Place) -> int | None:
        with self._lock:
            event = self._events.record(place)
        if event is None and self._pending:  # maybe the GPU is done with some
            self._read(everything=True)
            with self._lock:
                event = self._events.record(place)
        return event

    def _read(self, *, everything: bool) -> int:
        """Book the launches that have run, in order of their making; how many are left."""
        with self._lock, self._events.beside_captures():
            waiting: list[_Launch] = []
            while self._pending:
                launch = self._pending.popleft()
                is_done = self._events.is_done(launch.last)
                if is_done is None:
                    self._lose(launch)
                elif is_done:
                    self._book(launch)
                else:
                    waiting.append(launch)
                    if not everything:
                        break
            self._pending.extendleft(reversed(waiting))
            return len(self._pending)

    def _book(self, launch: _Launch) -> None:
        place = launch.place
        base = self._bases.get(place.context)
        is_first = base is None
        if base is None:
            base = self._bases[place.context] = _Base(launch.first, launch.host_ns)
        time_ns = self._events.elapsed_ns(launch.first, launch.last)
        since_ns = 0 if is_first else self._events.elapsed_ns(base.event, launch.first)
        if time_ns is None or since_ns is None:
            if is_first:
                del self._bases[place.context]
            self._lose(launch)
            return
        start_ns = base.to_host(since_ns, launch.host_ns)
        used = [launch.first, launch.last]
        if is_first:
            used.remove(launch.first)
        elif since_ns > _REBASE_NS:
            used[0] = base.event
            self._bases[place.context] = _Base(launch.first, start_ns)
        self._events.give_back(place.context, *used)
        self._sink.on_kernel(
            launch.name,
            start_ns,
            start_ns + time_ns,
            device_type="CUDA",
            device_id=place.device,
            lane=self._lanes.setdefault((place.context, place.stream), len(self._lanes)),
            context=launch.context,
        )

    def _lose(self, launch: _Launch) -> None:
        self._sink.count_loss(UNTIMED)
        self._events.forget(launch.first, launch.last)
