"""One line of `proton doctor`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a subject; with a remedy it is a problem."""

    subject: str
    text: str
    remedy: str = ""
