"""Every exception and warning class of Proton.

The class says who can act: the caller (`UsageError`), the owner of the machine
(`BackendUnavailable`), the owner of a file (`FormatError`). Classes also derive from the builtin
that users of `triton.profiler` already catch. Texts say what failed, why, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """`" (did you mean 'x'?)"` for the choice that is spelled most like `value`; else nothing."""
    from difflib import get_close_matches  # not needed unless something is wrong

    near = get_close_matches(str(value), [*choices], n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


class ProtonError(Exception):
    """Base of every error that Proton raises on purpose."""


class UsageError(ProtonError, ValueError):
    """The call is wrong; the message says how to fix it (exit code 2 on the command line)."""

    @classmethod
    def unknown(cls, what: str, value: object, *, choices: Iterable[str]) -> Self:
        """The error for a `value` that is none of `choices`."""
        known = sorted(choices)
        listed = ", ".join(repr(choice) for choice in known)
        hint = did_you_mean(value, known)
        return cls(f"unknown {what} {value!r}; choose one of {listed}{hint}")


class SessionNotFound(UsageError, IndexError):
    """No open session has this id."""


class PhaseNotFound(UsageError, IndexError):
    """The session has no data for this phase."""


class ScopeMismatch(UsageError, RuntimeError):
    """Scopes or states were left in another order than they were entered."""


class MetricNotFound(UsageError, RuntimeError):
    """A profile does not have this metric; the message lists what it has."""


class MetricTypeError(UsageError, TypeError):
    """A metric value is of a kind that cannot be recorded."""


class SemanticError(UsageError, TypeError):
    """A region or event inside a kernel is used in a way its kind of kernel does not know."""


class DataKindError(UsageError, RuntimeError):
    """The session's data kind (tree or trace) cannot answer this call."""


class BackendUnavailable(ProtonError, RuntimeError):
    """The machine lacks something the backend needs; the message says what, and how to get it."""

    def __init__(self, backend: str, *, reason: str, remedy: str) -> None:
        super().__init__(f"backend {backend!r} is unavailable: {reason}; {remedy}")


class PackageMissing(ProtonError, ImportError):
    """What was asked for needs a package that is not installed; the message says how to get it."""

    def __init__(self, what: str, package: str, *, remedy: str) -> None:
        super().__init__(f"{what} needs {package}, which is not installed; {remedy}")


class FormatError(ProtonError, ValueError):
    """A file is not what it should be; the message starts with its path."""


class CutShort(FormatError):
    """A file ends in the middle."""


class StillGrowing(CutShort):
    """The same, and it was written to a moment ago: it may be whole soon."""


class ServeError(ProtonError, OSError):
    """Pages cannot be served from this port; the message says which to take."""


class WriteError(ProtonError, OSError):
    """A profile could not be written where it was asked to go; the message names the rescue file.

    `rescued_to` is that file's path; None when there was no room for it anywhere.
    """

    rescued_to: str | None = None


class PageNotBuilt(ProtonError, FileNotFoundError):
    """The installation has no page to show profiles in; the message says how to build it."""


class KernelError(ProtonError, RuntimeError):
    """An interpreted kernel failed; the message names kernel, program id and line."""


class InstrumentationError(ProtonError, RuntimeError):
    """A kernel could not be instrumented; the message names it."""


class PassError(ProtonError, RuntimeError):
    """A pass failed with an error that is none of Proton's; the message names both."""


class ProtonWarning(UserWarning):
    """Something was lost, skipped or guessed; the profile counts it too."""
