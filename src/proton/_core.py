"""The native core for those who only look at profiles: the reading half uses it through here alone.

It is there wherever profiles are recorded. Without it all but the functions below works.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from proton.errors import PackageMissing

_NO_SYMBOLS = "C++ symbols are shown as recorded: the native core of proton is not installed"


@cache
def load() -> ModuleType | None:
    """The extension module; None where it is not installed."""
    try:
        return load_or_fail()
    except ImportError:  # not there, or made for another system
        return None


def load_or_fail() -> ModuleType:
    """The extension module; ImportError says why it cannot be loaded."""
    return import_module("proton._native")


def demangle(name: str) -> str:
    """The declaration behind a C++ symbol; without the core the symbol, and one line that says so.

    A symbol whose text would be longer than 64 KiB stays as it is.
    """
    core = load()
    if core is None:
        _say_once(_NO_SYMBOLS)
        return name
    return str(core.demangle(name))


def short_name(name: str) -> str:
    """What people read in place of a C++ symbol, as short as viewers show it; else the name."""
    core = load() if name.startswith("_Z") else None
    return name if core is None else str(core.short_name(name))


def encode_perfetto(**columns: object) -> bytes:
    """A trace as a file of Perfetto's format, from columns as the core's function takes them.

    Raises:
        PackageMissing: The core is not installed.
    """
    core = load()
    if core is None:
        raise PackageMissing(
            "writing .pftrace",
            "the native core of proton",
            remedy="install a wheel that has it (pip install --force-reinstall proton-profiler), "
            "or write a .chrome_trace",
        )
    file: bytes = core.encode_perfetto(**columns)
    return file


def packet_scanner() -> Any:
    """What reads the events of a Perfetto trace into columns; None without the core."""
    core = load()
    return None if core is None else core.PacketScanner()


def event_scanner() -> Any:
    """What reads the events of a chrome trace into columns; None without the core."""
    core = load()
    return None if core is None else core.EventScanner()


def columns() -> Any:
    """What goes over whole columns of numbers, for `model/columns.py`; None without the core."""
    core = load()
    return None if core is None else core.Columns


@cache
def _say_once(text: str) -> None:
    logging.getLogger("proton").warning(text)
