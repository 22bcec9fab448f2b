"""Proton: a profiler for GPU programs, above all for Triton kernels.

`import proton` loads no Triton, no torch and no driver library; what a session needs is loaded
when one is started.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proton._version import __version__

# Loaded here, before the class or function of the same name is bound: importing `proton.scope`
# later must not put the module in its place.
from proton.profile import (
    DEFAULT_PROFILE_NAME,
    activate,
    deactivate,
    finalize,
    profile,
    start,
)
from proton.scope import cpu_timed_scope, enter_scope, exit_scope, scope
from proton.state import enter_state, exit_state, metadata_state, state

if TYPE_CHECKING:
    from proton import context, data, mode, specs

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "__version__",
    "activate",
    "context",
    "cpu_timed_scope",
    "data",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "metadata_state",
    "mode",
    "profile",
    "scope",
    "specs",
    "start",
    "state",
]

_SUBMODULES = frozenset(
    ("context", "data", "errors", "flags", "hooks", "language", "metric", "mode", "specs", "viewer")
)


def __getattr__(name: str) -> Any:
    """Submodules, imported when first used."""
    if name in _SUBMODULES:
        return import_module(f"proton.{name}")
    raise AttributeError(f"module 'proton' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
