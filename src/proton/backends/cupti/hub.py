"""Opens libcupti and the CUDA driver through the native core, and lets go of them; says why not.

While CUPTI stays, launches are slower. But each time it goes and comes back it leaves some 80 KiB
of memory behind (CUPTI 13.0, with nothing of ours in the process). So a program that starts many
sessions waits for a while without one, the longer the older it is (`DetachTimer`).

What goes wrong while instructions are sampled is noted by the core where no Python may run, as in
the driver's callbacks; the main thread then says it here, in the log and in profiles.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable

from proton import _native
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver
from proton.backends.cupti.candidates import Candidate, chosen_of, find_candidates
from proton.errors import BackendUnavailable

HELD_BY_ANOTHER = 39  # CUPTI's number for a second subscriber

_INTERPRET = "backend='interpreter' (--backend interpreter) runs Triton kernels on the CPU"
AT_ONCE = 8  # sessions of a process after which CUPTI does not wait
SHARE = 1 / 50  # of the time since the first one: what later ones wait
SHORTEST_S = 1.0
LONGEST_S = 600.0
_log = logging.getLogger("proton")
_sampled: list[_native.Session] = []  # those that sample


def open_hub(knobs: Knobs) -> None:
    """Load the libraries; nothing to do where that was done.

    Raises:
        BackendUnavailable: there is no driver, it is too old, or no libcupti suits it.
    """
    library = knobs.cuda_library or find_driver(knobs)
    if _native.Cupti.is_loaded():
        return
    candidates = find_candidates(knobs)
    chosen = chosen_of(candidates)
    if chosen is None:
        raise _no_libcupti(candidates, knobs)
    try:
        _native.Cupti.load(chosen.path, library)
    except BackendUnavailable as error:
        error.add_note(f"libcupti: {chosen}")
        raise


def find_driver(knobs: Knobs, backend: str = "cupti") -> str:
    """The CUDA driver's library to open, for the backend that errors are to name.

    Raises:
        BackendUnavailable: there is none, or the driver is too old.
    """
    version = driver.version()
    library = driver.find_library(knobs.library_folders)
    if not driver.devices() and library is None:
        raise BackendUnavailable(
            backend,
            reason="this machine has no NVIDIA driver",
            remedy=f"install it, in a container start with --gpus all; {_INTERPRET}",
        )
    if (newest := driver.newest_cuda(version)) is not None and newest < 12:
        raise BackendUnavailable(
            backend,
            reason=f"the NVIDIA driver {version} is too old",
            remedy=f"install driver {driver.OLDEST_DRIVER} or later; {_INTERPRET}",
        )
    return library or driver.CUDA_LIBRARY


def is_held(error: BackendUnavailable) -> bool:
    """Whether another tool holds CUPTI, which serves one tool a process."""
    return getattr(error, "code", None) == HELD_BY_ANOTHER


def _no_libcupti(candidates: list[Candidate], knobs: Knobs) -> BackendUnavailable:
    named = next((each for each in candidates if each.is_named), None)
    if named is not None:
        value = knobs.cupti_lib_dir if named.is_for_all else knobs.cupti_lib_blackwell_dir
        reason = (
            f"{named.origin}={value!r} holds no libcupti that can be used "
            f"({named.path}: {named.verdict})"
        )
        remedy = "name a folder that has one, or unset it; `proton doctor` lists those there are"
    elif candidates:
        reason = "no libcupti suits the driver: " + "; ".join(map(str, candidates))
        remedy = "install one of the driver's CUDA version: pip install nvidia-cuda-cupti-cu12"
    else:
        reason = "no libcupti was found"
        remedy = "pip install nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12)"
    return BackendUnavailable("cupti", reason=reason, remedy=remedy)


class DetachTimer:
    """Has CUPTI let go of the driver after a session: at once, but not a thousand times.

    There is one in a process. Safe for threads.
    """

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
        self._waiter = threading.Thread(target=self._run, name="proton-detach", daemon=True)
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


def follow_problems(session: _native.Session) -> None:
    """Have a session warned of what goes wrong from now on."""
    _native.Cupti.set_problem_listener(_tell)
    _sampled.append(session)


def unfollow_problems(session: _native.Session) -> None:
    """End that; nothing to do where it never began."""
    if session in _sampled:
        _sampled.remove(session)


def _tell(problems: list[str]) -> None:
    for problem in problems:
        _log.warning("%s", problem)
        for session in tuple(_sampled):
            session.warn(problem)
