"""The session of the `proton` command: opened before the target runs, closed after it.

While it is open, the target's own `start()` answers with its id and `finalize()` does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proton.errors import ProtonError, ProtonWarning
from proton.runtime import sessions
from proton.runtime.request import SessionRequest
from proton.runtime.sessions import flags


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of the session."""

    paths: tuple[str, ...] = ()  # the files written, in the order of their phases
    error: str = ""  # why the profile is not where it should be, and where it is; a line a file
    is_empty: bool = False
    missed: str = ""  # of an empty one: losses and warnings that tell why
    losses: Mapping[str, int] = field(default_factory=dict)


def start(request: SessionRequest) -> int | None:
    """Open the command's session; None when profiling is disabled.

    Raises:
        ProtonError: it cannot be opened; nothing is left behind.
    """
    opened = sessions.open_session(request)
    flags.command_line = opened is not None
    return opened


def call_at_signal(function: Callable[[], None]) -> None:
    """Have `function` write and close the session when a signal ends the process."""
    sessions.write_at_signal = function


def is_empty() -> bool:
    """Whether nothing was captured so far."""
    return all(opened.native.is_empty for opened in sessions.open_sessions())


def finish() -> Ending:
    """Write and close the session; never raises for what can be told in a line."""
    targets = sessions.open_sessions()
    if not targets:
        flags.command_line = False
        return Ending()
    opened = targets[0]
    error, was_empty, missed = "", False, ""
    losses: Mapping[str, int] = {}
    try:
        opened.stop()
        was_empty = opened.native.is_empty
        missed = opened.what_was_missed() if was_empty else ""
        losses = dict(opened.native.losses)
        sessions.close_sessions(None, "")
    except ProtonWarning:  # warnings are errors in this process; the lines below say the same
        pass
    except (ProtonError, OSError) as failure:
        error = "\n".join([str(failure), *getattr(failure, "__notes__", ())])
    finally:
        flags.command_line = False
    return Ending(tuple(opened.files.written), error, was_empty, missed, losses)


def discard() -> None:
    """Close the session and write nothing."""
    flags.command_line = False
    sessions.discard_sessions()


def forget() -> None:
    """Leave the command's session to the parent: for a forked child."""
    flags.command_line = False
