"""What a recorded program does to Proton: noted when it is recorded, done again when replayed.

A deed is a small mapping, written into the recording as JSON. Deeds that may flush are followed
by a note `done` on the same thread.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import proton

Deed = Mapping[str, Any]
DONE = "done"
FLUSHING = frozenset({"start", "finalize", "activate", "deactivate", "advance_phase"})


class Stage:
    """Does deeds, and has `note` write each down before; sessions go by their names."""

    def __init__(self, note: Callable[[str], None] = lambda text: None) -> None:
        self._note = note
        self._sessions: dict[str, int] = {}

    def do(self, deed: Deed) -> None:
        """Note a deed, do it, and note its end where it may have flushed."""
        self._note(json.dumps(deed, separators=(",", ":")))
        self.perform(deed)
        if deed["op"] in FLUSHING:
            self._note(DONE)

    def perform(self, deed: Deed, **changed: Any) -> None:
        """Do a deed; `changed` options win over those of a `start`."""
        match deed["op"]:
            case "enter":
                proton.enter_scope(deed["name"], metrics=deed.get("metrics"))
            case "exit":
                proton.exit_scope(deed["name"])
            case "start":
                options = {**deed["options"], **changed}
                session = proton.start(deed["name"], backend="cupti", **options)
                assert session is not None
                self._sessions[deed["name"]] = session
            case "finalize":
                proton.finalize(self._sessions.pop(deed["name"]))
            case "activate":
                proton.activate(self._sessions[deed["name"]])
            case "deactivate":
                proton.deactivate(self._sessions[deed["name"]], flushing=deed["flushing"])
            case "advance_phase":
                proton.data.advance_phase(self._sessions[deed["name"]])
            case other:
                raise ValueError(f"no deed {other!r}; the recording is of another version")

    @contextmanager
    def scope(self, name: str, metrics: Mapping[str, float] | None = None) -> Iterator[None]:
        """A noted scope."""
        self.do({"op": "enter", "name": name, **({"metrics": metrics} if metrics else {})})
        try:
            yield
        finally:
            self.do({"op": "exit", "name": name})

    @contextmanager
    def session(self, name: str, **options: Any) -> Iterator[None]:
        """A noted session."""
        self.do({"op": "start", "name": name, "options": options})
        try:
            yield
        finally:
            self.do({"op": "finalize", "name": name})

    def advance_phase(self, name: str) -> None:
        """Begin a session's next phase."""
        self.do({"op": "advance_phase", "name": name})

    def pause(self, name: str, *, flushing: bool = False) -> None:
        """Deactivate a session."""
        self.do({"op": "deactivate", "name": name, "flushing": flushing})

    def resume(self, name: str) -> None:
        """Activate a session."""
        self.do({"op": "activate", "name": name})

    def close(self) -> None:
        """Finalize what a recording that was cut off left open."""
        for session in self._sessions.values():
            proton.finalize(session)
        self._sessions.clear()


class Audience(Stage):
    """A stage on which nothing happens: for runs of the same work without Proton."""

    def do(self, deed: Deed) -> None:
        """Nothing."""
