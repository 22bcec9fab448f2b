"""Proton: a profiler for GPU programs, above all for Triton kernels.

`import proton` loads no Triton, no torch and no driver library; what a session needs is loaded
when one is started. Where the native core is missing, profiles can still be read and viewed.

For pytest, which would warn under `proton pytest` that it cannot: PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from proton._version import __version__

_HAS_CORE = find_spec("proton._native") is not None

if TYPE_CHECKING or _HAS_CORE:
    # Loaded here, before the class or function of the same name is bound: importing
    # `proton.scope` later must not put the module in its place.
    from proton.profile import (
        DEFAULT_PROFILE_NAME,
        activate,
        deactivate,
        finalize,
        profile,
        start,
    )
    from proton.runtime.nvtx import announce as _announce_nvtx
    from proton.runtime.schedule import schedule
    from proton.runtime.sessions import step
    from proton.scope import cpu_timed_scope, enter_scope, exit_scope, scope
    from proton.state import enter_state, exit_state, metadata_state, state

    _announce_nvtx()  # NVTX asks at its first call, which may come before any session

if TYPE_CHECKING:
    from proton import context, data, mode, specs
    from proton.inkernel.compiler.instrument import instrument, restore
    from proton.notebook import show

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
    "instrument",
    "metadata_state",
    "mode",
    "profile",
    "restore",
    "schedule",
    "scope",
    "show",
    "specs",
    "start",
    "state",
    "step",
]

_SUBMODULES = frozenset(
    (
        *("context", "data", "errors", "flags", "hooks", "language", "metric", "mode", "specs"),
        *("testing", "viewer"),
    )
)


_LATE = {
    "instrument": "proton.inkernel.compiler.instrument",
    "restore": "proton.inkernel.compiler.instrument",
    "show": "proton.notebook",
}


def __getattr__(name: str) -> Any:
    """What is imported when first used; recording names only when the core is missing."""
    if name in _SUBMODULES:
        return import_module(f"proton.{name}")
    if (_HAS_CORE and name in _LATE) or name == "show":  # reading needs no core
        return getattr(import_module(_LATE[name]), name)
    if not _HAS_CORE and (name == "_native" or name in __all__):
        from proton.errors import BackendUnavailable

        reason, remedy = _why_no_core()
        raise BackendUnavailable("native core", reason=reason, remedy=remedy)
    raise AttributeError(f"module 'proton' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext proton` calls: adds `%proton` and `%%proton`."""
    import_module("proton.cli.magic").register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """What `%unload_ext proton` calls."""
    import_module("proton.cli.magic").unregister(shell)


def _why_no_core() -> tuple[str, str]:
    """What is missing from this installation, and what to do."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        facts = distribution("proton-profiler").read_text("WHEEL") or ""
    except PackageNotFoundError:
        facts = ""
    if "-none-any" in facts:
        return (
            "this wheel only reads profiles, and recording needs more than Python",
            "record on Linux, with the wheel for its Python; profiles of any machine open here",
        )
    return (
        "recording needs it and it is missing from this installation",
        "reinstall with `pip install --force-reinstall proton-profiler`",
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_LATE})
