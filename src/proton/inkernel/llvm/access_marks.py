"""Puts a `proton.access` behind every access to global memory; what it is for is its pass's say.

An access carries how many of its lane took part (0 or 1) and, where wanted, the lane's address. The
argument that its pointer comes from is found by following definitions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from proton.inkernel.ir.parse import split_list
from proton.inkernel.llvm.access_sites import find_sites
from proton.inkernel.llvm.accesses import MASKED_OFFSET, Access, find_accesses, find_uncovered
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carrier
from proton.inkernel.llvm.module import Block, Kernel, LlvmModule
from proton.inkernel.llvm.text import DebugInfo, value_of

_OURS = ("%proton.on", "%proton.access")
MOST_STEPS = 4096  # of one search; beyond it the origin counts as unknown
_DEFINED = re.compile(r"^\s*(%[-\w.$]+) = (.*)$")
_BASE = re.compile(
    r"(?:getelementptr|addrspacecast|bitcast|freeze)\b.*?\bptr(?: addrspace\(1\))? (%[-\w.$]+)"
)
_PHI = re.compile(r"phi ptr")
_EDGE = re.compile(r"\[ (\S+), %")
_SELECT = re.compile(r"select i1 \S+, (.*)")


def mark_accesses(
    module: LlvmModule,
    *,
    has_addresses: bool,
    names: Sequence[str] = (),
    attributes: Mapping[str, str] | None = None,
    stem: str = "%proton.",
) -> int:
    """Mark the kernel's accesses; returns how many. Marks that say as much or more stay.

    Args:
        module: Not lowered yet.
        has_addresses: Whether the marks carry addresses too.
        names: Of the kernel's parameters, in order; parameters beyond are `argN`.
        attributes: What the kernel's `init` is to carry on.
        stem: How names of values begin that are computed for marks.
    """
    kernel = module.kernel
    if marks := find_sites(kernel):
        if marks.has_addresses or not has_addresses:
            return 0
        _unmark(kernel)
    accesses = find_accesses(kernel)
    if not accesses:
        if find_uncovered(module):  # which must be said
            note_in_init(kernel.blocks[0], {"counts": "1"})
        return 0
    maker = _Maker(module, has_addresses, names, stem)
    by_place: dict[tuple[str, int], list[Access]] = {}
    for access in accesses:
        by_place.setdefault((access.block, access.at), []).append(access)
    for block in kernel.blocks:
        lines: list[str] = []
        for at, line in enumerate(block.lines):
            lines.append(line)
            for access in by_place.get((block.name, at), ()):
                lines += maker.lines(access)
        block.lines = lines
    if attributes:
        note_in_init(kernel.blocks[0], attributes)
    return len(accesses)


class _Maker:
    """Makes the lines that mark one access."""

    def __init__(
        self, module: LlvmModule, has_addresses: bool, names: Sequence[str], stem: str
    ) -> None:
        self._stem = stem
        self._has_addresses = has_addresses
        self._names = names
        self._debug = DebugInfo(module.epilogue)
        self._origins = Origins(module.kernel)
        self._is_amd = module.kernel.vendor == "amd"
        self._count = 0

    def lines(self, access: Access) -> list[str]:
        number = self._count
        self._count += 1
        lines, taken = _taken(access.mask, f"{self._stem}on{number}")
        operands, constraints = f"i32 {taken}", ["=r", "v" if self._is_amd else "r"]
        if self._has_addresses and access.pointer:
            lines += _address(access, f"{self._stem}at{number}")
            operands += f", i64 {self._stem}at{number}"
            constraints.append("v" if self._is_amd else "l")
        carrier = CarrierLine(
            "access",
            f"{self._stem}access{number}",
            attributes=self._attributes(access),
            constraints=",".join(constraints),
            operands=operands,
            location=access.location,
        )
        return [*(f"  {line}" for line in lines), str(carrier)]

    def _attributes(self, access: Access) -> dict[str, str]:
        file, line = self._debug.location(access.location)
        argument = self._origins.argument(access.pointer) if access.pointer else None
        words = [access.kind] if access.pointer else [access.kind, "by descriptor"]
        tensor = ""
        if argument is not None:
            tensor = next(iter(self._names[argument : argument + 1]), "")
            words.append(tensor or f"arg{argument}")
        facts = {
            "name": " ".join(words) + (f"@{line}" if line else ""),
            "kind": access.kind,
            "bytes": access.bytes,
            "line": line or "",
            "file": file,
            "argument": "" if argument is None else argument,
            "tensor": tensor,
        }
        return {key: str(value) for key, value in facts.items() if value != ""}


def _unmark(kernel: Kernel) -> None:
    """Take out the marks, and what was computed for them."""
    for block in kernel.blocks:
        block.lines = [line for line in block.lines if not line.lstrip().startswith(_OURS)]


def _taken(mask: str, name: str) -> tuple[list[str], str]:
    """Lines that make 1 of a lane that takes part and 0 of another, and the value."""
    if not mask:
        return [], "1"
    value = value_of(mask.removesuffix(" masked"))
    if mask.endswith(" masked"):
        test = f"{name}.mask = icmp ne i32 {value}, {MASKED_OFFSET}"
    elif mask.startswith("i32"):
        test = f"{name}.mask = icmp ne i32 {value}, 0"
    elif mask.startswith("!"):
        test = f"{name}.mask = xor i1 {value}, true"
    else:
        return [f"{name} = zext i1 {value} to i32"], name
    return [test, f"{name} = zext i1 {name}.mask to i32"], name


def _address(access: Access, name: str) -> list[str]:
    """Lines that give the address of the lane's first byte."""
    base = f"ptrtoint {access.pointer} to i64"
    if not access.offset:
        return [f"{name} = {base}"]
    lines = [f"{name}.base = {base}"]
    offset = access.offset
    if " " in offset:  # a value; offsets into buffers have no sign
        lines.append(f"{name}.offset = zext i32 {value_of(offset)} to i64")
        offset = f"{name}.offset"
    return [*lines, f"{name} = add i64 {name}.base, {offset}"]


def note_in_init(entry: Block, attributes: Mapping[str, str]) -> None:
    """Have the entry block's `init` carry these attributes; one is made where there is none."""
    for at, line in enumerate(entry.lines):
        carrier = read_carrier(line)
        if carrier is not None and carrier.op == "init":
            kept = {**carrier.attributes, **attributes}
            entry.lines[at] = str(CarrierLine("init", carrier.result, attributes=kept))
            return
    entry.lines.insert(0, str(CarrierLine("init", "%proton.marked", attributes=dict(attributes))))


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
