"""Sizes of LLVM's types and lists of its text: the little that reading memory accesses needs."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_INTEGER = re.compile(r"i(\d+)")
_VECTOR = re.compile(r"<(\d+) x (.+)>|\[(\d+) x (.+)\]")
_OPENING, _CLOSING = "([{<", ")]}>"


def size_of(type_: str) -> int | None:
    """Bytes of a type in memory; None for one that no access here has."""
    type_ = type_.strip()
    if type_ in _FLOATS:
        return _FLOATS[type_]
    if type_.startswith("ptr"):
        return 4 if "addrspace(3)" in type_ else 8
    if found := _INTEGER.fullmatch(type_):
        return (int(found[1]) + 7) // 8
    if found := _VECTOR.fullmatch(type_):
        size = size_of(found[2] or found[4])
        return None if size is None else int(found[1] or found[3]) * size
    if type_.startswith("{") and type_.endswith("}"):
        sizes = [size_of(each) for each in split_list(type_[1:-1])]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    return None


def split_list(text: str) -> list[str]:
    """The parts of `text` between commas that stand in no bracket and no string."""
    return [part.strip() for part in _parts(text) if part.strip()]


def _parts(text: str) -> Iterator[str]:
    depth, start, is_quoted = 0, 0, False
    for at, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif is_quoted:
            continue
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def value_of(operand: str) -> str:
    """The value of an operand such as `ptr addrspace(3) nonnull %5`: its last word."""
    return operand.rpartition(" ")[2]
