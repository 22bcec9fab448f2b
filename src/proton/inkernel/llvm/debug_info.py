"""Where a line of LLVM text comes from: file and line, read from the debug metadata."""

from __future__ import annotations

import os.path
import re

_NODE = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$")
_REFERENCE = re.compile(r"\b(\w+): !(\d+)")
_LINE = re.compile(r"\bline: (\d+)")
_FILE = re.compile(r'filename: "([^"]*)"(?:, directory: "([^"]*)")?')


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
