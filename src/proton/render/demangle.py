"""C++ symbol names made readable: demangled by the native core, then shortened for people."""

from __future__ import annotations

import re
from functools import cache

from proton import _core

_ARGUMENT_ROOM = 40  # columns for the template arguments of a shortened name
_CALL, _CALL_STANDS_FOR = "operator()", "operator\N{CENT SIGN}"  # brackets that open nothing
_OPERATOR = re.compile(r"\boperator ?[^\w\s\N{CENT SIGN}]")  # operator<, operator->: same, but rare
_PAIRS = {"<": ">", "(": ")", "[": "]", "{": "}"}


@cache
def demangle(name: str) -> str:
    """The C++ declaration that `name` stands for; `name` itself where that cannot be told."""
    if not name.startswith("_Z") or not name.isascii():
        return name
    return _core.demangle(name)


@cache
def shorten_cpp(declaration: str, room: int = _ARGUMENT_ROOM) -> str:
    """`void a::f<4, b::C<int> >(int)` -> `a::f<4, C<int>>`.

    Return type and parameters go; template arguments lose their namespaces and, past a room of
    40 columns or what is given, their tail. What does not look like a C++ function stays as it is.
    """
    text = declaration.replace("(anonymous namespace)::", "").replace(_CALL, _CALL_STANDS_FOR)
    parts = None if _OPERATOR.search(text) else _top_level_parts(text)
    if parts is None:
        return text.replace(_CALL_STANDS_FOR, _CALL)
    name, arguments = parts
    short = name if arguments is None else name + _shorten_arguments(arguments, room)
    return short.replace(_CALL_STANDS_FOR, _CALL)


def _top_level_parts(text: str) -> tuple[str, str | None] | None:
    """Name and last template arguments of a declaration; None where brackets do not match."""
    depth: list[str] = []
    start = 0
    opened = closed = None
    for position, character in enumerate(text):
        if character in _PAIRS:
            if character == "(" and not depth and position > start:
                text = text[:position]
                break
            if character == "<" and not depth:
                opened = position
            depth.append(_PAIRS[character])
        elif depth and character == depth[-1]:
            depth.pop()
            if character == ">" and not depth:
                closed = position
        elif character in ">)]}":
            return None
        elif character == " " and not depth:  # what stands before is the return type
            start = position + 1
            opened = closed = None
    if depth:
        return None
    text = text.rstrip()
    if opened is None or closed is None or text[closed + 1 :].strip():
        return text[start:], None
    return text[start:opened], text[opened + 1 : closed]


def _shorten_arguments(arguments: str, room: int) -> str:
    kept: list[str] = []
    used = 0
    pieces = _split_arguments(arguments)
    for piece in pieces:
        short = _without_namespaces(piece.strip())
        if used + len(short) > room:  # the name of a template says more than nothing
            head, bracket, _ = short.partition("<")
            short = f"{head}<…>" if bracket and head.isidentifier() else short
        if used + len(short) > room:
            kept.append("…")
            break
        used += len(short) + 2
        kept.append(short)
    return "<" + ", ".join(kept) + ">"


def _split_arguments(arguments: str) -> list[str]:
    """The template arguments, split at the commas outside brackets."""
    pieces: list[str] = []
    start = depth = 0
    for position, character in enumerate(arguments):
        if character in _PAIRS:
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == "," and depth == 0:
            pieces.append(arguments[start:position])
            start = position + 1
    pieces.append(arguments[start:])
    return pieces


def _without_namespaces(argument: str) -> str:
    """`at::native::Add<c10::Half> const` -> `Add<Half> const`."""
    if "{lambda" in argument:  # named by the function it stands in; the rest is noise
        return argument.partition("(")[0].partition("<")[0].rsplit("::", 1)[-1] + "::{lambda}"
    words: list[str] = []
    word = ""
    for character in argument:
        if character.isalnum() or character in "_:~$":
            word += character
            continue
        words.append(word.rsplit("::", 1)[-1])
        words.append(character)
        word = ""
    words.append(word.rsplit("::", 1)[-1])
    return "".join(words).replace(" >", ">")
