"""What a session is asked for: one frozen value from `start`, `@profile`, the command and children.

Nothing is checked here: `runtime/options.py` does that, for all of them. Light to import.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:  # not to break a cycle: `import proton` must not load them
    from proton._mode_text import BaseMode
    from proton.runtime.hooks import Hook
    from proton.runtime.schedule import Schedule

DEFAULT_PROFILE_NAME = "proton"
STDOUT_NAMES = ("", "-")
FITTING_CONTEXT = ""  # of the command: scopes, and what suits a framework once one is imported


class RequestOptions(TypedDict, total=False):
    """The arguments of `start()` by name; `SessionRequest` has their defaults."""

    name: str | os.PathLike[str] | None
    context: str
    data: str
    backend: str | None
    mode: str | BaseMode | None
    hook: Hook | str | None
    schedule: Schedule | str | None


class SessionRequest(NamedTuple):
    """The arguments of `start()`, as they were given.

    `output_format` is what the `proton` command will write; elsewhere `finalize()` says it.
    """

    name: str | os.PathLike[str] | None = None
    context: str = "shadow"
    data: str = "tree"
    backend: str | None = None
    mode: str | BaseMode | None = None
    hook: Hook | str | None = None
    output_format: str = ""
    schedule: Schedule | str | None = None
