"""The text of modes, for every backend: `name:key=value:key=value`, joined with `+`.

Values may be lists `a,b`; texts in values have `%2B` for a plus, and so on (`escape`). What a mode
does is the business of its backend.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from proton.errors import UsageError

NAME = r"[A-Za-z][\w-]*"  # of a mode
_NAME = re.compile(rf"\s*{NAME}\s*(?::|$)")  # and no more of it
_PATH = re.compile(r"(?:^|:)\s*file\s*=[^:]*$")  # an option `file` at the end


@dataclass(frozen=True)
class ModeText:
    """One mode as written: its name and its options, not yet looked up."""

    name: str
    options: Mapping[str, str]

    def __str__(self) -> str:
        options = (f"{key}={value}" for key, value in self.options.items())
        return ":".join(filter(None, (self.name, *options)))


def escape(text: str) -> str:
    """`text` without the characters that divide a mode's text."""
    return re.sub(r"[%:+\s]", lambda found: "".join(f"%{b:02X}" for b in found[0].encode()), text)


def unescape(text: str) -> str:
    """What `escape` made of a text, back again; other texts with few percent signs stay."""
    return re.sub(
        r"(?:%[0-9A-Fa-f]{2})+",
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode(errors="replace"),
        text,
    )


def split_modes(text: str) -> tuple[ModeText, ...]:
    """The modes of a string, in order; options without a mode name belong to the name `""`.

    Raises:
        UsageError: an option is not `key=value`, or is given twice; or a `+` joins nothing.
    """
    parts = [part.strip() for part in _split_at_plus(text)]
    if len(parts) > 1 and "" in parts:
        raise UsageError(f"mode {text!r} has a '+' with no mode beside it; write mode+mode")
    return tuple(map(_split_mode, parts)) if text.strip() else ()


def _split_at_plus(text: str) -> list[str]:
    """The parts that a `+` joins. In a path, one that no mode's name follows belongs to it."""
    parts: list[str] = []
    pieces = text.split("+")
    for number, piece in enumerate(pieces, 1):
        is_cut = number == len(pieces) and not piece.strip()  # nothing follows the last `+`
        is_more = not (is_cut or _NAME.match(piece))
        if parts and is_more and _PATH.search(parts[-1]):
            parts[-1] += f"+{piece}"
        else:
            parts.append(piece)
    return parts


def _split_mode(text: str) -> ModeText:
    head, *rest = text.split(":")
    if "=" in head:
        head, rest = "", [head, *rest]
    options: dict[str, str] = {}
    for option in rest:
        key, equals, value = (piece.strip() for piece in option.partition("="))
        if not (key and equals and value):
            raise UsageError(f"malformed option {option!r} in mode {text!r}; write key=value")
        if key in options:
            raise UsageError(f"option {key!r} is given twice in mode {text!r}; give it once")
        options[key] = value
    return ModeText(head.strip(), options)


@dataclass(frozen=True)
class BaseMode:
    """A mode with a name and nothing else."""

    name: str

    def __str__(self) -> str:
        return self.name
