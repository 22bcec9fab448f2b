"""Looking into an open session: its phases as data, and where the calling thread stands."""

from __future__ import annotations

from typing import Any

from proton.errors import DataKindError, PhaseNotFound
from proton.runtime.open_session import OpenSession
from proton.runtime.sessions import background, find, flags, with_session


def get(session: int | None = 0, phase: int = 0) -> list[Any] | None:
    """What a tree session holds of one phase, as the parsed content of its hatchet file.

    Waits for nothing: what is still under way on a device is not in it.

    Raises:
        SessionNotFound: no open session has this id.
        PhaseNotFound: the phase has not begun, or was cleared or written.
        DataKindError: a trace session.
    """
    if session is None:
        return None
    from proton.files.encoding.decode_json import decode_json  # slow to import; takes any depth

    parsed: list[Any] = decode_json(_serialize(session, "hatchet", phase), f"session {session}")
    return parsed


def get_msgpack(session: int | None = 0, phase: int = 0) -> bytes | None:
    """The same as the bytes of a hatchet_msgpack file."""
    return None if session is None else _serialize(session, "hatchet_msgpack", phase)


def advance_phase(session: int | None = 0) -> int | None:
    """Begin the next phase of a session; its number.

    Waits for nothing: the phase that was left is complete, and in its file, some time later.
    """
    if session is None:
        return None
    phase = with_session(session, OpenSession.advance_phase)
    background.wake()
    return phase


def is_phase_complete(session: int | None = 0, phase: int = 0) -> bool:
    """Whether a phase was left and everything launched in it is recorded."""
    if session is None:
        return False
    return with_session(session, lambda opened: opened.is_phase_complete(phase))


def clear(session: int | None = 0, phase: int = 0, clear_up_to_phase: bool = False) -> None:
    """Drop what a phase holds, or all phases up to and including it; no file will have them."""
    if session is not None:
        with_session(session, lambda opened: opened.clear(phase, up_to=clear_up_to_phase))


def depth(session: int | None = 0) -> int | None:
    """Frames in the calling thread's (or task's) context as a session sees it; None when off."""
    if session is None or not flags.profiling_on:
        return None
    return find(session).native.depth()


def _serialize(session: int, output_format: str, phase: int) -> bytes:
    def serialize(opened: OpenSession) -> bytes:
        name = opened.options.name
        if opened.options.data != "tree":
            raise DataKindError(
                f"session {name!r} records a trace; only tree sessions can be looked into, "
                "start it with data='tree'"
            )
        current = opened.native.phase
        if not (phase == current or opened.native.has_phase(phase)):
            raise PhaseNotFound(
                f"phase {phase!r} of session {name!r} has no data: "
                f"the current phase is {current}, and earlier ones may have been cleared"
            )
        return opened.native.serialize(output_format, phase, opened.header(phase))

    return with_session(session, serialize)
