"""A thread beside the program: it takes the steps of autosave, and writes when a signal ends us.

There is one while sessions are open. It is stopped before a fork and started again after it in the
parent, so that children never see it in the middle of something, and not before `os.fork` has
returned: Python warns of threads that it finds then.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

from proton._native import Termination

if TYPE_CHECKING:
    import logging

SIGNAL_LIMIT_S = 8.0  # containers are killed ten seconds after they were asked to end
PATIENCE_S = 2.0  # for the GIL; then a forked child writes the journals
JOIN_LIMIT_S = 10.0
GONE_LIMIT_S = 0.1
LONGEST_WAIT_S = 3600.0
RETRY_S = 10.0

Step = Callable[[], float]  # does what is due; in how many seconds to come again


def _log() -> logging.Logger:
    import logging  # slow to load; most programs never need it

    return logging.getLogger("proton")


class _Thread:
    """A thread that `threading` does not list: programs that count theirs do not see it."""

    def __init__(self, run: Callable[[_Thread], None]) -> None:
        self.is_stopping = False
        self._native_id = 0
        self._ended = threading.Lock()
        self._ended.acquire()
        self.ident = _thread.start_new_thread(self._call, (run,))

    def _call(self, run: Callable[[_Thread], None]) -> None:
        self._native_id = threading.get_native_id()
        try:
            run(self)
        finally:
            self._ended.release()

    def has_ended(self, timeout_s: float) -> bool:
        """Waits for that, at most so long."""
        if not self._ended.acquire(timeout=timeout_s):
            return False
        self._ended.release()
        return True

    def wait_until_gone(self) -> None:
        """The system may list a thread for a moment after its last step."""
        end = time.monotonic() + GONE_LIMIT_S
        path = f"/proc/self/task/{self._native_id}"
        while os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.0001)


class BackgroundThread:
    """The thread, started and stopped by whoever holds the lock of the sessions."""

    def __init__(self, steps: Callable[[], Sequence[Step]], write: Callable[[], None]) -> None:
        """`steps`: of the open sessions, now; `write`: closes and writes them all."""
        self.write = write
        self._steps = steps
        self._thread: _Thread | None = None
        self._is_paused = False  # for a fork
        self._catches_signals = False
        self._ending: _Thread | None = None  # a signal came: this one is about to end the process

    @property
    def is_running(self) -> bool:
        """Whether there is a thread."""
        return self._thread is not None

    def start(self, *, catches_signals: bool) -> None:
        """Run, and catch signals that end the process if asked to; if it runs: look at once."""
        if catches_signals:
            self._catches_signals = True
            Termination.catch_signals(limit_s=SIGNAL_LIMIT_S)
        self._is_paused = False
        if self._thread is None:
            try:
                self._thread = _Thread(self._run)
            except RuntimeError:  # the process is about to end, or can have no more threads
                Termination.release_signals()
                return
        if self._catches_signals:
            Termination.rescue_after(PATIENCE_S)
        self.wake()

    def wake(self) -> None:
        """Look at once what is due."""
        if self._thread is not None:
            Termination.wake()

    def stop(self) -> None:
        """End the thread and give the signals back."""
        if self._thread is not None or self._is_paused:
            self._is_paused = False
            Termination.release_signals()
            self._join()

    def yield_to_signal(self) -> None:
        """Where a signal is ending the process, let it: the caller is about to exit otherwise.

        The thread may still wait for the GIL, which a program that ends by itself can keep.
        """
        thread = self._ending or (self._thread if Termination.caught() else None)
        if thread is not None and thread.ident != threading.get_ident():
            thread.has_ended(SIGNAL_LIMIT_S)

    def before_fork(self) -> None:
        """End the thread for the time of a fork."""
        if (thread := self._thread) is not None:
            self._join()
            thread.wait_until_gone()
            self._is_paused = True

    def after_fork_in_parent(self) -> None:
        """Go on, once the fork is over."""
        if self._is_paused and threading.current_thread() is threading.main_thread():
            _Later(self._go_on, sys._getframe(1))
        else:  # the main thread may not move for long
            self._go_on()

    def _go_on(self) -> None:
        if self._is_paused:
            self.start(catches_signals=False)  # they are caught still

    def after_fork_in_child(self) -> None:
        """There is no thread here."""
        self._thread = None
        self._is_paused = False

    def _join(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        thread.is_stopping = True
        if thread.ident == threading.get_ident():
            return
        Termination.stop_rescue()
        Termination.wake()
        end = time.monotonic() + JOIN_LIMIT_S
        while not (thread.has_ended(0.1) or self._ending):  # that one may wait for our caller
            if time.monotonic() > end:
                _log().warning("waited %.0f s for a journal to be written; going on", JOIN_LIMIT_S)
                return

    def _run(self, thread: _Thread) -> None:
        wait_s = 0.0
        while True:
            signal = Termination.wait(wait_s)
            if signal and not (thread.is_stopping and self._steps()):
                self._end(signal, thread)
            if thread.is_stopping:
                return
            wait_s = LONGEST_WAIT_S
            for step in self._steps():
                try:
                    wait_s = min(wait_s, step())
                except Exception:  # the program must not suffer, and a bug must be seen
                    _log().exception("keeping a session safe failed; it is tried again")
                    wait_s = min(wait_s, RETRY_S)

    def _end(self, signal: int, thread: _Thread) -> None:
        """Write, and then end as the program would have without us."""
        self._ending = thread
        try:
            self.write()
        except BaseException as error:
            _log().error("%s", error)
        Termination.end_process(signal)


class _Later:
    """Has the main thread call a function once it is back in the frame that called `os.fork`."""

    LIMIT = 10_000  # of attempts: then it is called wherever the thread is

    def __init__(self, function: Callable[[], None], frame: FrameType | None) -> None:
        import ctypes  # slow to load; few programs fork

        self._function = function
        self._frame = frame
        self._left = self.LIMIT
        self._add = ctypes.pythonapi.Py_AddPendingCall
        self._callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._call)
        _pending.append(self)  # alive until it was called
        self._ask()

    def _ask(self) -> None:
        if self._add(self._callback, None) != 0:  # too many wait already
            self._finish()

    def _call(self, _: object) -> int:
        if self._left > 0 and sys._getframe(1) is not self._frame:  # a handler of the fork's
            self._left -= 1
            self._ask()
        else:
            self._finish()
        return 0

    def _finish(self) -> None:
        _pending.remove(self)
        self._frame = None
        self._function()


_pending: list[_Later] = []


def follow_forks(background: BackgroundThread) -> None:
    """Have the background thread out of the way of every fork."""
    os.register_at_fork(
        before=background.before_fork,
        after_in_parent=background.after_fork_in_parent,
        after_in_child=background.after_fork_in_child,
    )
