"""The native core for those who only look at profiles: the reading half uses it through here alone.

It is there wherever profiles are recorded. Without it all but the functions below works.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from types import ModuleType

_NO_SYMBOLS = "C++ symbols are shown as recorded: the native core of proton is not installed"


@cache
def load() -> ModuleType | None:
    """The extension module; None where it is not installed."""
    try:
        return import_module("proton._native")
    except ImportError:  # not there, or made for another system
        return None


def demangle(name: str) -> str:
    """The declaration behind a C++ symbol; without the core the symbol, and one line that says so.

    A symbol whose text would be longer than 64 KiB stays as it is.
    """
    core = load()
    if core is None:
        _say_once(_NO_SYMBOLS)
        return name
    return str(core.demangle(name))


@cache
def _say_once(text: str) -> None:
    logging.getLogger("proton").warning(text)
