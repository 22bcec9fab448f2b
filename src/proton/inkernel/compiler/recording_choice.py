"""Which mode is in force for the kernel that this thread launches or compiles, and its salt.

Recording is on between `begin` and `end` (`instrument`). Meanwhile a kernel is
recorded in the mode chosen for it, else in the one chosen for all, else in the session's.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from proton._version import __version__
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode


@dataclass(frozen=True)
class Choice:
    """A mode, how far its records are thinned out, and whose regions of the source do not count."""

    mode: InstrumentationMode
    thinning: int = 0
    without: tuple[str, ...] = ()  # kinds of kernels: "triton", "gluon"

    @cached_property
    def salt(self) -> str:
        """What tells kernels compiled this way from all others in Triton's caches."""
        without = "".join(f"-no-{each}" for each in self.without)
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
Decision = tuple[Choice | None, ...]
PLAIN: Decision = (None,)


@dataclass
class _Chosen:
    """Who chose what; changed under `lock`, read without it."""

    session: InstrumentationMode | None = None  # None: recording is off, or pauses
    paused: InstrumentationMode | None = None  # what `session` was before a pause
    everywhere: InstrumentationMode | None = None
    kernels: dict[int, tuple[Any, InstrumentationMode]] = field(default_factory=dict)  # by id
    thinning: dict[int, tuple[Any, int]] = field(default_factory=dict)  # likewise
    known: dict[int, Choice] = field(default_factory=dict)  # what was looked up, by id
    without: set[str] = field(default_factory=set)  # kinds of kernels whose own regions are off


class _OfThread(threading.local):
    kernel: Any = None  # being launched; None: something is compiled on its own
    decided: Decision = ()
    is_plain: bool = False
    may_compile: bool = True


lock = threading.RLock()
chosen = _Chosen()
_thread = _OfThread()


def renew_lock() -> None:
    """In a forked child: a thread of the parent may have held it."""
    global lock
    lock = threading.RLock()


def is_on() -> bool:
    """Whether somebody records, or pauses: our places in Triton are taken."""
    return chosen.session is not None or chosen.paused is not None


def current() -> Choice | None:
    """What is in force on this thread now; None: kernels stay plain."""
    if _thread.is_plain:
        return None
    if _thread.decided:
        return _thread.decided[0]
    if chosen.session is None:
        return None
    return chosen.known.get(id(_thread.kernel)) or _look_up(_thread.kernel)


def _look_up(kernel: Any) -> Choice | None:
    with lock:
        if chosen.session is None:
            return None
        _, own = chosen.kernels.get(id(kernel), (None, None))
        mode = own or chosen.everywhere or chosen.session
        without = tuple(sorted(chosen.without)) if "default" in mode.names else ()
        choice = Choice(mode, chosen.thinning.get(id(kernel), (None, 0))[1], without)
        return chosen.known.setdefault(id(kernel), choice)


def set_session(mode: InstrumentationMode | None) -> None:
    """Switch recording on, in this mode where nobody chose another, or off."""
    with lock:
        chosen.session = mode
        chosen.paused = None
        chosen.thinning.clear()
        chosen.known.clear()


def pause(is_paused: bool) -> None:
    """Leave kernels plain for a while, or record on; how far records are thinned out stays."""
    with lock:
        mode = chosen.session or chosen.paused
        chosen.session, chosen.paused = (None, mode) if is_paused else (mode, None)


def choose(kernel: Any, mode: InstrumentationMode) -> None:
    """Record `kernel` (None: every kernel that has no choice of its own) in this mode."""
    with lock:
        if kernel is None:
            chosen.everywhere = mode
        else:
            chosen.kernels[id(kernel)] = (kernel, mode)
        chosen.known.clear()


def chosen_everywhere() -> InstrumentationMode | None:
    """What was chosen for every kernel; None: nothing."""
    return chosen.everywhere


def put_back_everywhere(mode: InstrumentationMode, before: InstrumentationMode | None) -> None:
    """Choose `before` for every kernel again, unless somebody has chosen another than `mode`."""
    with lock:
        if chosen.everywhere is mode:
            chosen.everywhere = before
            chosen.known.clear()


def take_back(kernel: Any) -> bool:
    """Undo `choose` for `kernel`, or for all; whether there was something to undo."""
    with lock:
        chosen.known.clear()
        if kernel is not None:
            return chosen.kernels.pop(id(kernel), None) is not None
        was_chosen = chosen.everywhere is not None or bool(chosen.kernels)
        chosen.everywhere = None
        chosen.kernels.clear()
        return was_chosen


def thin(kernel: Any, thinning: int) -> None:
    """Compile `kernel` with fewer records from its next launch on."""
    with lock:
        chosen.thinning[id(kernel)] = (kernel, thinning)
        chosen.known.pop(id(kernel), None)


def salt() -> str:
    """The salt of what is in force; empty: nothing is."""
    choice = current()
    return choice.salt if choice else ""


def is_launching(kernel: Any) -> bool:
    """Whether this thread has said so already."""
    return _thread.kernel is kernel


def swap_kernel(kernel: Any) -> Any:
    """Say which kernel this thread launches from now on; the one before, to be put back."""
    outer, _thread.kernel = _thread.kernel, kernel
    return outer


def decide() -> None:
    """Have this thread's launch go on as it begins, whatever sessions do meanwhile.

    Triton asks several times in a launch that compiles: for a key in memory, for one on the disk,
    for the passes. Answers that differ would keep a kernel with records under a plain one's key.
    """
    _thread.decided = ()
    _thread.decided = (current(),)


def swap_decision(decided: Decision = ()) -> Decision:
    """Take back what was decided, for a launch inside another's; the one before, to be put back."""
    outer, _thread.decided = _thread.decided, decided
    return outer


@contextmanager
def plainly(*, may_compile: bool = True) -> Iterator[None]:
    """What this thread launches or compiles meanwhile stays plain, or is only looked up."""
    outer = _thread.is_plain, _thread.may_compile
    _thread.is_plain, _thread.may_compile = True, may_compile
    try:
        yield
    finally:
        _thread.is_plain, _thread.may_compile = outer


def may_compile() -> bool:
    """Whether this thread may compile what is in no cache."""
    return _thread.may_compile


def switch_semantic(name: str, *, is_on: bool) -> None:
    """Have the regions count that the source of kernels of this kind names, or not."""
    with lock:
        (chosen.without.discard if is_on else chosen.without.add)(name)
        chosen.known.clear()


def records_user_scopes(semantic: str) -> bool:
    """Whether the regions that a kernel's source names are recorded in it.

    Args:
        semantic: The kind of kernel: "triton" or "gluon"; empty: it is not compiled.
    """
    choice = current()
    if choice is None or not semantic:
        return False
    return "default" in choice.mode.names and semantic not in choice.without
