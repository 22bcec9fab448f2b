"""What the index of a folder tells of each recording: read once, the small ones first."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from proton.analysis.measurements import whole_of
from proton.analysis.prepare import prepare
from proton.errors import FormatError
from proton.files.growing import Recording, Stamp, open_growing, stamp
from proton.model.metric import COUNT, TIME_NS
from proton.render.text.head import device_names
from proton.render.units import format_count, format_time

_MOST_BYTES = 8_000_000  # larger ones take seconds: who wants to know opens them


class Facts(NamedTuple):
    """A recording in a few words; empty where it does not say."""

    device: str = ""
    kernels: str = ""
    time: str = ""
    problem: str = ""  # why it cannot be read


class FolderFacts:
    """The facts of recordings as they were when they were last read. Safe to use from threads."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[str, tuple[Stamp, Facts]] = {}
        self._learning = threading.Lock()

    def of(self, recording: Recording) -> Facts:
        """What is known now."""
        return self._known.get(recording.name, ((), Facts()))[1]

    def learn(self, recordings: Sequence[Recording], limit_s: float) -> int:
        """Read what is new for about `limit_s`; how many recordings were read in all.

        What another thread reads at the same time is left to it.
        """
        if not self._learning.acquire(blocking=False):
            return len(self._known)
        try:
            ends_at = time.monotonic() + limit_s
            for name in self._known.keys() - {each.name for each in recordings}:
                del self._known[name]
            stamps = [(stamp(each), each) for each in recordings]
            for now, each in sorted(stamps, key=lambda entry: _size(entry[0])):
                if _size(now) > _MOST_BYTES or time.monotonic() > ends_at:
                    break
                if self._known.get(each.name, (None,))[0] != now:
                    self._known[each.name] = (now, facts_of(each))
            return len(self._known)
        finally:
            self._learning.release()


def _size(now: Stamp) -> int:
    return sum(size for _, _, size, _ in now)


def facts_of(recording: Recording) -> Facts:
    """A recording in a few words."""
    try:
        profile = open_growing(recording)
    except FormatError as error:
        return Facts(problem=str(error))
    try:
        profile = prepare(profile)
    except FormatError:  # the file is sound, and empty
        return Facts("nothing was recorded")
    kernels, time_ns = whole_of(profile.tree, COUNT), whole_of(profile.tree, TIME_NS)
    shown = "" if time_ns is None else format_time(time_ns)
    return Facts(device_names(profile), "" if kernels is None else format_count(kernels), shown)
