"""The process-wide switches that user code may look at. Plain state, no behaviour."""

from __future__ import annotations


class Flags:
    """What Proton is doing in this process; `flags` is the only instance.

    Attributes:
        profiling_on: a session is open.
        instrumentation_on: a session with the instrumentation backend is open.
        command_line: the process was started by the `proton` command, which owns the session.
    """

    __slots__ = ("command_line", "instrumentation_on", "profiling_on")

    def __init__(self) -> None:
        self.profiling_on = False
        self.instrumentation_on = False
        self.command_line = False

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)}" for name in sorted(self.__slots__))
        return f"Flags({values})"


flags = Flags()
