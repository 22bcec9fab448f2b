"""Where an operation comes from: reads MLIR's `loc(...)` texts and their aliases.

A location is a chain of source frames, innermost first: inlining adds one for every call. Which
of them is the user's line is decided here too, so that a loop inside Triton's own library is
shown at the line that called it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

_ALIAS = re.compile(r"^#loc\d*$")
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):(\d+)(?: to .*)?$')
_NAME = re.compile(r'^"((?:[^"\\]|\\.)*)"(?:\((.*)\))?$', re.DOTALL)
_LIBRARY = re.compile(r"[/\\]triton[/\\](?:language|experimental|tools)[/\\]")
_STRING_OR_BRACKET = r'"(?:[^"\\]|\\.)*"|[()\[\]{}<>]'
_OPENING, _CLOSING = "([{<", ")]}>"
_DEEPEST = 64  # alias chains longer than this are a cycle


@dataclass(frozen=True, slots=True)
class Source:
    """One place in a source file; `name` is the variable that the operation's result was given."""

    file: str
    line: int
    column: int = 0
    name: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def find_frames(text: str, aliases: Mapping[str, str], depth: int = 0) -> tuple[Source, ...]:
    """The source frames of the inside of a `loc(...)`, innermost first; empty where unknown."""
    text = text.strip()
    if depth > _DEEPEST or not text:
        return ()
    if _ALIAS.match(text):
        return find_frames(aliases.get(text, ""), aliases, depth + 1)
    if found := _FILE.match(text):
        return (Source(found[1], int(found[2]), int(found[3])),)
    if found := _NAME.match(text):
        frames = find_frames(found[2] or "", aliases, depth + 1)
        return (replace(frames[0], name=found[1]), *frames[1:]) if frames else ()
    if text.startswith("callsite("):
        callee, caller = (*split_outside(text[len("callsite(") : -1], " at "), "")[:2]
        inner = find_frames(callee, aliases, depth + 1)
        return inner + find_frames(caller, aliases, depth + 1)
    if text.startswith("fused"):
        for part in split_outside(text[text.rfind("[") + 1 : text.rfind("]")], ", "):
            if frames := find_frames(part, aliases, depth + 1):
                return frames
    return ()


def users_line(frames: tuple[Source, ...]) -> Source | None:
    """The innermost frame outside Triton's own library; the outermost one where all are inside."""
    for frame in frames:
        if not _LIBRARY.search(frame.file):
            return frame
    return frames[-1] if frames else None


def trailing_location(line: str) -> str:
    """The inside of the `loc(...)` that ends a line of IR; empty where it has none."""
    line = line.rstrip()
    at = line.rfind("loc(")
    if at < 0 or not line.endswith(")") or (at and line[at - 1] not in " \t"):
        return ""
    return line[at + len("loc(") : -1]


def split_outside(text: str, separator: str) -> list[str]:
    """The parts of `text` between separators that stand outside brackets and strings."""
    parts, depth, start = [], 0, 0
    for token in re.finditer(f"{_STRING_OR_BRACKET}|{re.escape(separator)}", text):
        if token[0] in _OPENING:
            depth += 1
        elif token[0] in _CLOSING:
            depth -= 1
        elif token[0] == separator and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]
