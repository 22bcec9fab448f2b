"""When CUPTI lets go of the driver after a session: at once, but not a thousand times.

While CUPTI stays, launches are slower. But each time it goes and comes back it leaves some 80 KiB
of memory behind (CUPTI 13.0, with nothing of ours in the process). So a program that starts many
sessions waits for a while without one, the longer the older it is.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

AT_ONCE = 8  # departures of a process that do not wait
SHARE = 1 / 50  # of the time since the first one: what later ones wait
SHORTEST_S = 1.0
LONGEST_S = 600.0


class Departure:
    """Of one process. Safe for threads."""

    def __init__(
        self, let_go: Callable[[], bool], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._let_go = let_go
        self._clock = clock
        self._lock = threading.Lock()
        self._count = 0
        self._first = self._asked = 0.0
        self._waiter: threading.Thread | None = None
        self._is_over = threading.Event()

    def ask(self) -> None:
        """A session has ended: go, now or when none has begun and ended for long enough."""
        with self._lock:
            self._asked = self._clock()
            if self._count == 0:
                self._first = self._asked
            if self._count >= AT_ONCE:
                self._wait()
                return
            self._count += 1
        self._let_go()

    def wait_s(self) -> float:
        """How long the next one waits, counted from the end of the last session."""
        if self._count < AT_ONCE:
            return 0.0
        return min(max((self._asked - self._first) * SHARE, SHORTEST_S), LONGEST_S)

    def _wait(self) -> None:
        """The lock held. After a fork the thread of the parent is not alive."""
        if self._waiter is not None and self._waiter.is_alive():
            return
        if self._is_over.is_set():
            return
        self._waiter = threading.Thread(target=self._run, name="proton-departure", daemon=True)
        atexit.unregister(self.end)  # once is enough
        atexit.register(self.end)
        self._waiter.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                asked = self._asked
                left_s = asked + self.wait_s() - self._clock()
                if left_s <= 0:
                    self._count += 1
            if left_s > 0:
                if self._is_over.wait(left_s):
                    return
                continue
            self._let_go()  # refused where a session runs: its end asks again
            with self._lock:
                if self._asked == asked:  # nobody has, meanwhile
                    self._waiter = None
                    return

    def end(self) -> None:
        """The process ends: CUPTI stays as it is."""
        self._is_over.set()
        waiter = self._waiter
        if waiter is not None:
            waiter.join(1.0)
