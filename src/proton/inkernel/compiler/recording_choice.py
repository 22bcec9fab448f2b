"""Which mode is in force for the kernel that this thread launches or compiles, and its salt.

Recording is on between `begin` and `end` (`instrument`). Meanwhile a kernel is recorded in the mode
chosen for it, else in the one chosen for all, else in the session's.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from proton._version import __version__
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode


@dataclass(frozen=True)
class ChosenMode:
    """A mode, how far its records are thinned out, and whose regions of the source do not count."""

    mode: InstrumentationMode
    thinning: int = 0
    without: tuple[str, ...] = ()  # kinds of kernels: "triton", "gluon"

    @cached_property
    def salt(self) -> str:
        """What tells kernels compiled this way from all others in Triton's caches."""
        without = "".join(f"-no-{kind}" for kind in self.without)
        return f"-proton-{__version__}-{_digest_of_passes()}-{self.mode}-{self.thinning}{without}"

    @cached_property
    def digest(self) -> str:
        """The salt, short."""
        return hashlib.sha256(self.salt.encode()).hexdigest()


@lru_cache(maxsize=1)
def _digest_of_passes() -> str:
    """Changes with the code that edits kernels: what an older one left is not taken for ours."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.parent.rglob("*")):
        if path.suffix in (".py", ".ll"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# What the launch under way on a thread is recorded as; empty: nothing was decided.
Decision = tuple[ChosenMode | None, ...]


class _ThreadState(threading.local):
    kernel: object = None  # being launched; None: something is compiled on its own
    decided: Decision = ()
    is_plain: bool = False
    may_compile: bool = True


class _Launch:
    """A launch on this thread; the one around it is back afterwards."""

    __slots__ = ("_inner", "_outer", "_thread")

    def __init__(self, thread: _ThreadState, kernel: object, decided: Decision) -> None:
        self._thread = thread
        self._inner = kernel, decided

    def __enter__(self) -> None:
        thread = self._thread
        self._outer = thread.kernel, thread.decided
        thread.kernel, thread.decided = self._inner

    def __exit__(self, *error: object) -> None:
        self._thread.kernel, self._thread.decided = self._outer


class RecordingChoice:
    """Who chose what, and what this thread launches. Safe for threads: changed under its lock.

    Kernels are any objects; they are kept as long as something is chosen for them.
    """

    def __init__(self) -> None:
        self.session: InstrumentationMode | None = None  # None: recording is off, or pauses
        self._paused: InstrumentationMode | None = None  # what `session` was before a pause
        self._everywhere: InstrumentationMode | None = None
        self._kernels: dict[int, tuple[object, InstrumentationMode]] = {}  # by id
        self._thinning: dict[int, tuple[object, int]] = {}  # likewise
        self._known: dict[int, ChosenMode] = {}  # what was looked up, by id
        self._without: set[str] = set()  # kinds of kernels whose own regions are off
        self._thread = _ThreadState()
        self._lock = threading.RLock()

    def after_fork(self) -> None:
        """In a forked child: a thread of the parent may have held the lock."""
        self._lock = threading.RLock()

    @property
    def is_on(self) -> bool:
        """Whether somebody records, or pauses: our places in Triton are taken."""
        return self.session is not None or self._paused is not None

    def set_session(self, mode: InstrumentationMode | None) -> None:
        """Switch recording on, in this mode where nobody chose another, or off."""
        with self._lock:
            self.session, self._paused = mode, None
            self._thinning.clear()
            self._known.clear()

    def pause(self, is_paused: bool) -> None:
        """Leave kernels plain for a while, or record on; how far records are thinned out stays."""
        with self._lock:
            mode = self.session or self._paused
            self.session, self._paused = (None, mode) if is_paused else (mode, None)

    def choose(self, kernel: object, mode: InstrumentationMode) -> None:
        """Record `kernel` in this mode."""
        with self._lock:
            self._kernels[id(kernel)] = (kernel, mode)
            self._known.clear()

    def choose_everywhere(self, mode: InstrumentationMode) -> InstrumentationMode | None:
        """Record kernels that have no choice of their own in this mode; what was chosen before."""
        with self._lock:
            before, self._everywhere = self._everywhere, mode
            self._known.clear()
            return before

    def undo_everywhere(
        self, mode: InstrumentationMode, before: InstrumentationMode | None
    ) -> None:
        """Choose `before` for every kernel again, if the choice is still `mode`."""
        with self._lock:
            if self._everywhere is mode:
                self._everywhere = before
                self._known.clear()

    def take_back(self, kernel: object = None) -> bool:
        """Undo what was chosen for `kernel`, or for all; whether there was something to undo."""
        with self._lock:
            self._known.clear()
            if kernel is not None:
                return self._kernels.pop(id(kernel), None) is not None
            was_chosen = self._everywhere is not None or bool(self._kernels)
            self._everywhere = None
            self._kernels.clear()
            return was_chosen

    def thin(self, kernel: object, thinning: int) -> None:
        """Compile `kernel` with fewer records from its next launch on."""
        with self._lock:
            self._thinning[id(kernel)] = (kernel, thinning)
            self._known.pop(id(kernel), None)

    def switch_semantic(self, name: str, *, is_on: bool) -> None:
        """Have the regions count that the source of kernels of this kind names, or not."""
        with self._lock:
            (self._without.discard if is_on else self._without.add)(name)
            self._known.clear()

    def current(self) -> ChosenMode | None:
        """What is in force on this thread now; None: kernels stay plain."""
        thread = self._thread
        if thread.is_plain:
            return None
        if thread.decided:
            return thread.decided[0]
        if self.session is None:
            return None
        return self._known.get(id(thread.kernel)) or self._look_up(thread.kernel)

    def _look_up(self, kernel: object) -> ChosenMode | None:
        with self._lock:
            if self.session is None:
                return None
            _, own = self._kernels.get(id(kernel), (None, None))
            mode = own or self._everywhere or self.session
            without = tuple(sorted(self._without)) if "default" in mode.names else ()
            chosen = ChosenMode(mode, self._thinning.get(id(kernel), (None, 0))[1], without)
            return self._known.setdefault(id(kernel), chosen)

    def salt(self) -> str:
        """The salt of what is in force; empty: nothing is."""
        chosen = self.current()
        return chosen.salt if chosen else ""

    def records_user_scopes(self, semantic: str) -> bool:
        """Whether the regions that a kernel's source names are recorded in it.

        Args:
            semantic: The kind of kernel: "triton" or "gluon"; empty: it is not compiled.
        """
        chosen = self.current()
        if chosen is None or not semantic:
            return False
        return "default" in chosen.mode.names and semantic not in chosen.without

    def launching(self, kernel: object) -> _Launch:
        """This thread launches `kernel` meanwhile; what is in force is looked up anew."""
        return _Launch(self._thread, kernel, ())

    def launching_plainly(self) -> _Launch:
        """What this thread launches meanwhile is plain, whatever sessions do."""
        return _Launch(self._thread, self._thread.kernel, (None,))

    def is_launching(self, kernel: object) -> bool:
        """Whether this thread has said so already."""
        return self._thread.kernel is kernel

    def decide(self) -> None:
        """Have this thread's launch go on as it begins, whatever sessions do meanwhile.

        Triton asks several times in a launch that compiles: for a key in memory, for one on the
        disk, for the passes. Answers that differ would keep a kernel with records under a plain
        one's key.
        """
        self._thread.decided = ()
        self._thread.decided = (self.current(),)

    @contextmanager
    def plainly(self, *, may_compile: bool = True) -> Iterator[None]:
        """What this thread launches or compiles meanwhile stays plain, or is only looked up."""
        thread = self._thread
        outer = thread.is_plain, thread.may_compile
        thread.is_plain, thread.may_compile = True, may_compile
        try:
            yield
        finally:
            thread.is_plain, thread.may_compile = outer

    @property
    def may_compile(self) -> bool:
        """Whether this thread may compile what is in no cache."""
        return self._thread.may_compile


choice = RecordingChoice()
