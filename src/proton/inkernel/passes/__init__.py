"""The passes: one file each, named here, imported when used.

A pass is a frozen dataclass: its fields are its options, each with a default; `apply` edits the
module it is given.
Passes of level "ttgir" get a `proton.inkernel.ir.Module`, passes of level "llvm" the module of
LLVM text. They need and leave verified IR; `proton.inkernel.compiler.pipeline` runs them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

from proton.errors import PassError, ProtonError, UsageError

_log = logging.getLogger("proton")

PASSES = (
    "drop-emptied-scopes",
    "drop-specialized-scopes",
    "prepare",
    "record-user-scopes",
    "record-around-ops",
    "record-loops",
    "record-mma",
    "record-async-waits",
    "record-ctas",
    "thin-records",
    "count-bytes",
    "record-memory",
    "call-at",
    "lower-records-circular",
    "lower-records-flush",
    "allocate-global",
    "allocate-shared",
    "lower-to-nvidia",
    "lower-to-amd",
)
LEVELS = ("ttgir", "llvm")


class Pass(Protocol):
    """One step from IR to IR. Its docstring's first line is what `proton-opt --list` shows."""

    name: ClassVar[str]
    level: ClassVar[str]  # "ttgir" or "llvm"

    def apply(self, module: Any) -> None:
        """Edit the module; raises InstrumentationError where it cannot."""


class OwnPass:
    """Base of the passes in this room: a pass, its file and its class have one name."""

    name: ClassVar[str]
    level: ClassVar[str]

    def __init_subclass__(cls, *, level: str = "") -> None:
        if level:  # else a user's, which names itself
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")
            cls.level = level


_REGISTERED: dict[str, type[Pass]] = {}  # passes of tools


def load_pass_class(name: str) -> type[Pass]:
    """The class of a pass.

    Raises:
        UsageError: no pass has this name; the message lists those there are.
    """
    if (registered := _REGISTERED.get(name)) is not None:
        return registered
    if name not in PASSES:
        raise UsageError.unknown("pass", name, choices={*PASSES, *_REGISTERED})
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    return cast(type[Pass], getattr(module, "".join(map(str.capitalize, name.split("-")))))


def registered_passes() -> tuple[str, ...]:
    """The names of the passes that were registered."""
    return tuple(_REGISTERED)


def register_pass(kind: type[Any]) -> str:
    """Make a pass known by its name, which is returned; the same class may come again.

    Raises:
        UsageError: it is no pass, or its name is another one's.
    """
    name, level = getattr(kind, "name", ""), getattr(kind, "level", "")
    if not (isinstance(kind, type) and isinstance(name, str) and name and hasattr(kind, "apply")):
        raise UsageError(
            f"{kind!r} is no pass: a pass is a class with name, level and apply(module)"
        )
    if level not in LEVELS:
        raise UsageError.unknown(f"level of pass {name!r}", level, choices=LEVELS)
    before = _REGISTERED.get(name)
    if name in PASSES or (before is not None and before.__qualname__ != kind.__qualname__):
        raise UsageError(f"pass {name!r} is there already; name {kind.__qualname__} otherwise")
    _check_fields(name, kind)
    _REGISTERED[name] = cast(type[Pass], kind)
    return name


def _check_fields(name: str, kind: type[Any]) -> None:
    if not is_dataclass(kind):
        raise UsageError(
            f"pass {name!r} is no dataclass; write @dataclass(frozen=True) above class "
            f"{kind.__qualname__}"
        )
    for each in fields(kind):
        if each.init and each.default is MISSING and each.default_factory is MISSING:
            raise UsageError(
                f"pass {name!r}: its field {each.name!r} has no default, so nobody can make "
                "the pass by its name; give it one"
            )


def apply_pass(each: Pass, module: Any) -> None:
    """Have a pass edit a module.

    Raises:
        ProtonError: of the pass itself; a `PassError` for all others, whose traceback is logged.
    """
    try:
        each.apply(module)
    except ProtonError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        _log.warning("pass %r failed:", each.name, exc_info=True)
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise PassError(f"pass {each.name!r} failed: {text}") from error


def load_pass(name: str, options: Mapping[str, str] | None = None) -> Pass:
    """A pass with its options given as text.

    Raises:
        UsageError: the pass or an option is unknown, or an option's value is not of its kind.
    """
    kind = load_pass_class(name)
    defaults = options_of(kind)
    values = {}
    for key, text in (options or {}).items():
        if key not in defaults:
            what = f"option of pass {name!r}"
            if not defaults:
                raise UsageError(f"unknown {what} {key!r}; it has no options")
            raise UsageError.unknown(what, key, choices=defaults)
        values[key] = convert_option(f"{name}: option {key!r}", text, defaults[key])
    return kind(**values)


def options_of(kind: type[Pass]) -> dict[str, Any]:
    """The options of a pass and their defaults."""
    defaults: dict[str, Any] = {}
    for each in fields(cast(Any, kind)):
        if each.init and each.default is not MISSING:
            defaults[each.name] = each.default
        elif each.init and each.default_factory is not MISSING:
            defaults[each.name] = each.default_factory()
    return defaults


def convert_option(what: str, text: str, default: object) -> object:
    """`text` as a value of the kind that `default` is.

    Raises:
        UsageError: it is none; the message begins with `what`.
    """
    if isinstance(default, bool):
        if text.lower() not in ("true", "false"):
            raise UsageError(f"{what} must be true or false, not {text!r}")
        return text.lower() == "true"
    if isinstance(default, int):
        if not text.isdecimal():
            raise UsageError(f"{what} must be a whole number, 0 or more, not {text!r}")
        return int(text)
    if isinstance(default, float):
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{what} must be a number, not {text!r}") from None
    if isinstance(default, tuple):
        words = (word.strip() for word in text.split(","))
        like = default[0] if default else ""
        return tuple(convert_option(what, word, like) for word in words if word)
    return text
