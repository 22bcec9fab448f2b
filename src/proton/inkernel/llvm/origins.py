"""Which argument of the kernel a pointer comes from, found by following its definitions."""

from __future__ import annotations

import re

from proton.inkernel.llvm.llvm_types import split_list, value_of
from proton.inkernel.llvm.module import Kernel

MOST_STEPS = 4096  # of one search; beyond it the origin counts as unknown

_DEFINED = re.compile(r"^\s*(%[-\w.$]+) = (.*)$")
_BASE = re.compile(
    r"(?:getelementptr|addrspacecast|bitcast|freeze)\b.*?\bptr(?: addrspace\(1\))? (%[-\w.$]+)"
)
_PHI = re.compile(r"phi ptr")
_EDGE = re.compile(r"\[ (\S+), %")
_SELECT = re.compile(r"select i1 \S+, (.*)")


class Origins:
    """The pointers of a kernel and where they come from."""

    def __init__(self, kernel: Kernel) -> None:
        self._arguments = {
            value_of(parameter): number
            for number, parameter in enumerate(split_list(kernel.parameters))
        }
        self._definitions = {
            found[1]: found[2]
            for block in kernel.blocks
            for line in block.lines
            if " ptr" in line and (found := _DEFINED.match(line))
        }
        self._known: dict[str, int | None] = {}

    def argument(self, pointer: str) -> int | None:
        """The number of the argument that `ptr addrspace(1) %5` points into; None: not known."""
        name = value_of(pointer)
        if name not in self._known:
            self._known[name] = self._search(name)
        return self._known[name]

    def _search(self, name: str) -> int | None:
        """The one argument that all ways from `name` lead to."""
        found: set[int] = set()
        seen: set[str] = set()
        pending = [name]
        while pending and len(seen) < MOST_STEPS:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self._arguments:
                found.add(self._arguments[name])
                continue
            before = _before(self._definitions.get(name, ""))
            if not before:
                return None
            pending += before
        return found.pop() if len(found) == 1 and not pending else None


def _before(definition: str) -> list[str]:
    """The pointers that a pointer is made of; none where it is made otherwise."""
    if _PHI.match(definition):
        return _EDGE.findall(definition)
    if found := _SELECT.match(definition):
        return [value_of(part) for part in split_list(found[1])[:2]]
    found = _BASE.match(definition)
    return [found[1]] if found else []
