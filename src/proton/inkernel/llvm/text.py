"""What single lines of LLVM text say: sizes of types, values of operands, file and line."""

from __future__ import annotations

import os.path
import re

from proton.inkernel.ir.parse import split_list

_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8}
_INTEGER = re.compile(r"i(\d+)")
_VECTOR = re.compile(r"<(\d+) x (.+)>|\[(\d+) x (.+)\]")
_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_REFERENCE = re.compile(r"\b(\w+): !(\d+)")
_LINE = re.compile(r"\bline: (\d+)")
_FILE = re.compile(r'filename: "([^"]*)"(?:, directory: "([^"]*)")?')


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


def value_of(operand: str) -> str:
    """The value of an operand such as `ptr addrspace(3) nonnull %5`: its last word."""
    return operand.rpartition(" ")[2]


class DebugInfo:
    """The debug metadata of a module; it is read when the first question comes."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._nodes: dict[str, tuple[str, str]] | None = None

    def location(self, suffix: str) -> tuple[str, int]:
        """File and line of an instruction that ends in `, !dbg !N`; "" and 0 where unknown."""
        number = suffix.rpartition("!")[2]
        kind, text = self._node(number)
        if kind != "DILocation":
            return "", 0
        line = _LINE.search(text)
        return self._file(dict(_REFERENCE.findall(text)).get("scope", "")), int(
            line[1] if line else 0
        )

    def _node(self, number: str) -> tuple[str, str]:
        if self._nodes is None:
            matches = (_NODE.match(line) for line in self._lines if line.startswith("!"))
            self._nodes = {m[1]: (m[2], m[3]) for m in matches if m}
        return self._nodes.get(number, ("", ""))

    def _file(self, scope: str) -> str:
        for _ in range(64):  # scopes nest; a cycle would be no debug metadata
            kind, text = self._node(scope)
            if kind == "DIFile":
                found = _FILE.search(text)
                return os.path.join(found[2] or "", found[1]) if found else ""
            references = dict(_REFERENCE.findall(text))
            scope = references.get("file") or references.get("scope", "")
            if not scope:
                break
        return ""
