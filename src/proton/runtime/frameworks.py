"""Sessions of tier `blame` and `ops`: torch is observed once the program has imported it.

torch is found and called by `_torch.py`; the core observes. What cannot be had is said once, in a
sentence that stands in the file too: scopes, frames and modules are recorded all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from proton import _native, _torch
from proton.errors import ProtonError
from proton.model.schema import to_object
from proton.model.summary import FrameworkContext

TIERS = ("blame", "ops")

_readers: set[int] = set()  # ids of the sessions whose paths have frames
_refused: str | None = None  # why torch cannot be observed; "": it is; None: nobody has tried


class FrameworkWatch:
    """What one session records of a framework.

    Attributes:
        since_ns: Unix time from which on it does; None: the program has imported none.
        refused: why operators and backward work are missing; "": they are not.
    """

    def __init__(
        self, session: int, tier: str, *, waits: bool, tell: Callable[[str], None]
    ) -> None:
        """`waits`: until the program imports torch, there are scopes alone.

        `tell` gets what the user should know.
        """
        self._session = session
        self._tier = tier
        self._waits = waits
        self._tell = tell
        self._stop_waiting: Callable[[], None] = lambda: None
        self._version = ""
        self._counts: dict[str, int] = {}  # of the process when this began
        self.since_ns: int | None = None
        self.refused = ""

    def start(self) -> None:
        """Record frames from now on, and torch once it is there."""
        if not self._waits:
            self._read_frames()
        self._stop_waiting = _torch.when_imported(self._begin)

    def stop(self) -> None:
        """The session is over. Harmless when done twice."""
        self._stop_waiting()
        _readers.discard(self._session)
        if not _readers:
            _native.TorchObserver.read_frames(False)

    def context(self) -> str:
        """What the paths of the session are made of so far, as files say it."""
        return "shadow" if self._waits and self.since_ns is None else self._tier

    def header(self) -> dict[str, object]:
        """What a file says of it; nothing where no framework was seen."""
        if self.since_ns is None:
            return {}
        now = _native.TorchObserver.counts()
        counts = {name: count - self._counts.get(name, 0) for name, count in now.items()}
        found = FrameworkContext(self._tier, self._version, self.since_ns, self.refused, **counts)
        return {"framework_context": to_object(found)}

    def _begin(self) -> None:
        self._read_frames()
        self._version = _torch.version() or ""
        self.refused = _observe()
        self.since_ns = time.time_ns()
        self._counts = _native.TorchObserver.counts()
        if self.refused:
            self._tell(self.refused)

    def _read_frames(self) -> None:
        _readers.add(self._session)
        _native.TorchObserver.read_frames(True)


def forget() -> None:
    """In a forked child: the parent's sessions are not ours."""
    _readers.clear()
    _native.TorchObserver.read_frames(False)


def _observe() -> str:
    """Have the core observe torch; why it cannot, or "". Operators are tried once in a process."""
    global _refused
    if _refused is not None:
        return _refused
    try:
        code = _torch.module_call()
        if code is not None:
            _native.TorchObserver.call_of_modules(code)
        _torch.open_observer(_native.TorchObserver)
        _refused = ""
    except Exception as error:  # a torch of another make: the program's import of it must not fail
        is_sentence = isinstance(error, ProtonError | RuntimeError | OSError)
        why = error if is_sentence else f"{type(error).__name__}: {error}"
        _refused = (
            f"operators and backward work of torch {_torch.version()} are not recorded: {why}"
        )
    return _refused
