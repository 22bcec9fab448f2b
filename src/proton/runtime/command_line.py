"""The session of the `proton` command: opened before the target runs, closed after it.

While it is open, the target's own `start()` answers with its id and `finalize()` does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proton.errors import ProtonError, ProtonWarning
from proton.runtime import sessions
from proton.runtime.open_session import OpenSession
from proton.runtime.options import file_name
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
    kept: str = ""  # the profile of an earlier run that an empty one did not replace


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


def finish(*, keeps_earlier: bool = False) -> Ending:
    """Write and close the session; never raises for what can be told in a line.

    With `keeps_earlier` an empty profile does not replace one that is there already.
    """
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
        if was_empty and keeps_earlier and (kept := _earlier_file(opened)):
            sessions.discard_sessions()
            return Ending(is_empty=True, missed=missed, losses=losses, kept=kept)
        sessions.close_sessions(None, "")
    except ProtonWarning:  # warnings are errors in this process; the lines below say the same
        pass
    except (ProtonError, OSError) as failure:
        error = "\n".join([str(failure), *getattr(failure, "__notes__", ())])
    finally:
        flags.command_line = False
    return Ending(tuple(opened.files.written), error, was_empty, missed, losses)


def _earlier_file(opened: OpenSession) -> str:
    """The file that the session would replace, all of it; "" where there is none."""
    if opened.files.stem is None or opened.files.written or opened.native.phase:
        return ""
    path = file_name(opened.files.stem, opened.options.format_to_write(""))
    return path if os.path.isfile(path) and os.path.getsize(path) else ""


def discard() -> None:
    """Close the session and write nothing."""
    flags.command_line = False
    sessions.discard_sessions()


def forget() -> None:
    """Leave the command's session to the parent: for a forked child."""
    flags.command_line = False
