"""Whether profiles can be ranks of one run: by their programs, contexts and times."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise

from proton.errors import UsageError
from proton.model.profile import Profile, TraceProfile, TreeProfile

_MOST_NOTES = 8


class RunCheck:
    """Takes in the profiles of a merge one by one; `notes` says what is strange about them."""

    def __init__(self, *, allows_strangers: bool = False, ran_together: bool = True) -> None:
        """`ran_together`: whether they should have run at the same time."""
        self._allows_strangers = allows_strangers
        self._ran_together = ran_together
        self._contexts: set[int] = set()
        self._first: tuple[str, str] = ("", "")  # path and program of the first that names one
        self._ends: dict[str, int] = {}
        self._notes: list[str] = []

    def add(self, profile: Profile, path: str) -> None:
        """Compare `profile` with those before it.

        Raises:
            UsageError: It is of another program and has nothing in common with the others.
        """
        contexts = set(_contexts(profile))
        is_apart = bool(contexts and self._contexts) and contexts.isdisjoint(self._contexts)
        program = _program(profile)
        other, first_program = self._first
        is_other = bool(program and first_program) and program != first_program
        if is_other and is_apart and not self._allows_strangers:
            raise UsageError(
                f"{path}: of another program ({program!r}, but {other} is of {first_program!r}) "
                "with no context in common; merge the ranks of one run, or all the same with "
                "--force"
            )
        if is_other:
            self._notes.append(
                f"{path}: of another program: {program!r}, but {other} is of {first_program!r}"
            )
        elif is_apart:
            self._notes.append(f"{path}: has no context in common with the other ranks")
        self._check_time(profile, path)
        self._contexts |= contexts
        if program and not first_program:
            self._first = (path, program)

    def notes(self) -> list[str]:
        """What to say of profiles that were taken in and look like strangers."""
        more = len(self._notes) - _MOST_NOTES
        last = [f"and {more} more files that look like another run"] if more > 0 else []
        return [*self._notes[:_MOST_NOTES], *last]

    def _check_time(self, profile: Profile, path: str) -> None:
        """Old files in a folder of new ones are the likeliest mistake; ranks run side by side."""
        start, end = profile.header.start_time_ns, profile.header.end_time_ns
        if start is None or end is None or not self._ran_together:
            return
        if self._ends:
            first, first_end = min(self._ends.items(), key=lambda known: known[1])
            if start > first_end:
                self._notes.append(f"{path}: began after {first} had ended: is it of the same run?")
        self._ends[path] = end


def _program(profile: Profile) -> str:
    """The script or module that was run, by the command as `sys.orig_argv` has it."""
    words = profile.header.command
    script = next((word for word in words if word.endswith(".py")), "")
    modules = (word for flag, word in pairwise(words) if flag in ("-m", "--module"))
    named = (word for word in words[1:] if not word.startswith("-"))
    return os.path.basename(script or next(modules, "") or next(named, ""))


def _contexts(profile: Profile) -> Iterable[int]:
    """A number for each context below the root; the same for the same path in any profile."""
    if isinstance(profile, TreeProfile):
        tree = profile.tree
        numbers: list[int] = [0]
        for row in range(1, len(tree)):
            numbers.append(hash((numbers[tree.parents[row]], tree.frames[row].name)))
        yield from numbers[1:]
    elif isinstance(profile, TraceProfile):
        yield from (hash((tuple(span.path), span.name)) for span in profile.trace.spans)
