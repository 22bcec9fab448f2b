"""One finding of `proton doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a subject; with a remedy it is a problem."""

    subject: str
    text: str
    remedy: str = ""

    @property
    def is_problem(self) -> bool:
        """Whether the user has something to do."""
        return bool(self.remedy)

    def __str__(self) -> str:
        mark = "problem" if self.is_problem else "ok"
        line = f"{mark:<8} {self.subject:<22} {self.text}"
        return f"{line}\n{'':<31} remedy: {self.remedy}" if self.is_problem else line
