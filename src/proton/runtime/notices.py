"""Says aloud what a session noted: as warnings that point at the user's own line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping

from proton.errors import ProtonWarning

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def say(notices: list[str]) -> None:
    """Warn of each notice once; the list is empty afterwards.

    Raises:
        ProtonWarning: where the program made warnings errors.
    """
    for text in take(notices):
        warnings.warn(text, ProtonWarning, stacklevel=_outside_level())


def take(notices: list[str]) -> tuple[str, ...]:
    """What was noted, for whoever tells it; the list is empty afterwards."""
    texts = tuple(notices)
    notices.clear()
    return texts


def list_losses(losses: Mapping[str, int]) -> str:
    """How many were lost of each kind."""
    return ", ".join(f"{count} {kind}" for kind, count in sorted(losses.items()))


def _outside_level() -> int:
    """The `stacklevel`, counted from our caller, of the first frame outside this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
