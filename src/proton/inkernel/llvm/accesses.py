"""Finds what a kernel reads and writes in global memory, in LLVM text of both vendors.

Triton writes NVIDIA's accesses as inline assembly with predicates, AMD's as instructions or buffer
intrinsics. Copies by descriptor (TMA) have no address in the text: those that read are known by the
bytes that their barrier expects, those that write are only counted as not covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proton.inkernel.ir.locations import split_outside
from proton.inkernel.ir.parse import split_list
from proton.inkernel.llvm.module import Kernel, LlvmModule
from proton.inkernel.llvm.text import size_of, value_of

READS = ("load", "copy")
MASKED_OFFSET = -(1 << 31)  # where Triton points a lane of a buffer access that is masked off

_ASM = re.compile(
    r'\bcall (?P<type>.*?) ?asm (?:sideeffect )?(?:alignstack )?"(?P<text>[^"]*)", '
    r'"(?P<constraints>[^"]*)"\((?P<operands>.*)\)(?: #\d+)?(?P<location>, !dbg !\d+)?'
)
_PTX = re.compile(
    r"(?:@(?P<not>!?)\$(?P<predicate>\d+)\s+)?(?P<op>ld|st|atom|red|cp\.async)(?P<rest>\.[\w.:]+)"
    r"\s+(?P<operands>[^;]*);"
)
_ADDRESS = re.compile(r"\[\s*\$(\d+)(?:\s*\+\s*(-?\w+))?\s*\]")
_WIDTH = re.compile(r"\.(?:v(\d))?\.?([busf])(8|16|32|64|128)(?:x2)?\b")
_COPY_BYTES = re.compile(r",\s*(0x[0-9a-fA-F]+|\d+)\s*(?:,\s*(\$\d+|0x[0-9a-fA-F]+|\d+))?")
_PLACE = re.compile(r", !dbg !\d+")
_LOAD = re.compile(
    r"= load (?:atomic )?(?:volatile )?(?P<type>.+?), (?P<pointer>ptr addrspace\(1\) \S+?),"
)
_STORE = re.compile(
    r"^\s*store (?:atomic )?(?:volatile )?(?P<value>.+), (?P<pointer>ptr addrspace\(1\) \S+?),"
)
_ATOMIC = re.compile(
    r"= (?:atomicrmw (?:volatile )?\w+|cmpxchg (?:weak )?(?:volatile)?) ?"
    r"(?P<pointer>ptr addrspace\(1\) \S+), (?P<value>.+)"
)
_BUFFER = re.compile(
    r"call (?P<type>.*?) ?@llvm\.amdgcn\.raw\.(?:ptr\.)?buffer\."
    r"(?P<op>load\.lds|load\.async\.lds|load|store|atomic)[\w.]*\((?P<operands>.*)\)"
)
_TO_LDS = re.compile(
    r"@llvm\.amdgcn\.global\.load\.(?:async\.)?(?:to\.)?lds[\w.]*\((?P<operands>.*)\)"
)
_RESOURCE = re.compile(r"^\s*(%\S+) = .*@llvm\.amdgcn\.make\.buffer\.rsrc[\w.]*\((.*)\)")
_EXPECTED = re.compile(
    r"(?:@(?P<not>!?)\$(?P<predicate>\d+)\s+)?mbarrier\.arrive\.expect_tx[\w.:]*\s+_,\s*\[[^\]]*\],"
    r"\s*(?P<bytes>\d+);"
)
_UNCOVERED = {
    "tma_load_addresses": re.compile(r"cp\.async\.bulk\.tensor[\w.]*\.shared::\w+\.global"),
    "tma_stores": re.compile(r"cp\.(?:reduce\.)?async\.bulk\.tensor[\w.]*\.global\.shared::"),
    "tdm_copies": re.compile(r"@llvm\.amdgcn\.tensor\."),
}


@dataclass(frozen=True)
class Access:
    """One instruction that reads or writes global memory, once per lane that is not masked off."""

    block: str
    at: int  # its line in the block
    kind: str  # load, store, atomic, or copy (to shared memory)
    bytes: int  # of a lane
    pointer: str  # `ptr addrspace(1) %5`; "" where the text has no address
    offset: str = ""  # `i32 %7` or a number to add to it, in bytes
    mask: str = ""  # the lane takes part if `i1 %3` is true, or `!i1 %3` false; "": always
    location: str = ""  # `, !dbg !12`


def find_accesses(kernel: Kernel) -> list[Access]:
    """The accesses of the kernel itself, in the order of its text."""
    resources = dict(_resources(kernel))
    found: list[Access] = []
    for block in kernel.blocks:
        for at, line in enumerate(block.lines):
            found += _of_line(block.name, at, line, resources)
    return found


def find_uncovered(module: LlvmModule) -> dict[str, int]:
    """What is not counted: copies by descriptor, and accesses of functions that are not inlined."""
    kernel = module.kernel
    counts = {
        kind: sum(bool(pattern.search(line)) for block in kernel.blocks for line in block.lines)
        for kind, pattern in _UNCOVERED.items()
    }
    counts["in_called_functions"] = sum(
        len(_of_line("", 0, line, {})) for _, line in module.called_lines()
    )
    return {kind: count for kind, count in counts.items() if count}


def _resources(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Buffer resource -> the pointer it was made of."""
    for block in kernel.blocks:
        for line in block.lines:
            if found := _RESOURCE.match(line):
                yield found[1], split_list(found[2])[0]


def _of_line(block: str, at: int, line: str, resources: dict[str, str]) -> list[Access]:
    place = _PLACE.search(line)
    location = place[0] if place else ""
    if " asm " in line:
        return list(_of_asm(block, at, line, location))
    if "amdgcn" in line:
        return list(_of_intrinsic(block, at, line, location, resources))
    if "addrspace(1)" not in line:
        return []
    if found := _LOAD.search(line):
        return _plain(block, at, "load", found["type"], found["pointer"], location)
    if found := _STORE.search(line):
        return _plain(block, at, "store", _type_of(found["value"]), found["pointer"], location)
    if found := _ATOMIC.search(line):
        type_ = _type_of(split_list(found["value"])[0])
        return _plain(block, at, "atomic", type_, found["pointer"], location)
    return []


def _type_of(operand: str) -> str:
    """The type in front of a value, which may be a constant of several words."""
    type_, *value = split_outside(operand, " ")
    return type_ if value else ""


def _plain(block: str, at: int, kind: str, type_: str, pointer: str, location: str) -> list[Access]:
    size = size_of(type_)
    return [Access(block, at, kind, size, pointer, location=location)] if size else []


def _of_asm(block: str, at: int, line: str, location: str) -> Iterator[Access]:
    found = _ASM.search(line)
    if found is None or not ("global" in found["text"] or "expect_tx" in found["text"]):
        return
    outputs = sum(each.startswith("=") for each in found["constraints"].split(","))
    operands = split_list(found["operands"])

    def operand(number: str) -> str:
        index = int(number) - outputs
        return operands[index] if 0 <= index < len(operands) else ""

    def mask_of(each: re.Match[str]) -> str:
        return f"{each['not'] or ''}{operand(each['predicate'])}" if each["predicate"] else ""

    text = found["text"].replace("\\0A", "\n").replace("\\09", "\t")
    for each in _EXPECTED.finditer(text):
        mask = "" if mask_of(each) == "i1 true" else mask_of(each)
        yield Access(block, at, "copy", int(each["bytes"]), "", "", mask, location)
    for each in _PTX.finditer(text):
        if ".global" not in each["rest"] or ".bulk" in each["rest"]:
            continue
        kind = {"ld": "load", "st": "store", "cp.async": "copy"}.get(each["op"], "atomic")
        addresses = _ADDRESS.findall(each["operands"])
        if not addresses:
            continue
        number, offset = addresses[-1] if kind == "copy" else addresses[0]
        mask = mask_of(each)
        size = _width(each["rest"])
        if kind == "copy":
            after = _COPY_BYTES.search(each["operands"][each["operands"].rindex("]") :])
            size = int(after[1], 0) if after else None
            if after and after[2] and not mask:  # fewer bytes are read and the rest is filled
                mask = operand(after[2][1:]) if after[2].startswith("$") else mask
        pointer = operand(number)
        if size and pointer.startswith("ptr addrspace(1)") and not mask.endswith("i1 false"):
            moved = str(int(offset, 0)) if offset and int(offset, 0) else ""
            mask = "" if mask in ("i1 true", f"i32 {size}") else mask
            pointer = f"ptr addrspace(1) {value_of(pointer)}"
            yield Access(block, at, kind, size, pointer, moved, mask, location)


def _width(opcode: str) -> int | None:
    found = _WIDTH.search(opcode)
    return int(found[1] or 1) * int(found[3]) // 8 if found else None


def _of_intrinsic(
    block: str, at: int, line: str, location: str, resources: dict[str, str]
) -> Iterator[Access]:
    if found := _TO_LDS.search(line):
        source, _, amount, *_ = split_list(found["operands"])
        pointer = f"ptr addrspace(1) {value_of(source)}"
        yield Access(block, at, "copy", int(value_of(amount)), pointer, location=location)
    elif found := _BUFFER.search(line):
        operands = split_list(found["operands"])
        where = next((i for i, each in enumerate(operands) if "addrspace(8)" in each), None)
        if where is None or (base := resources.get(value_of(operands[where]))) is None:
            return
        if "lds" in found["op"]:
            size, kind, offset = int(value_of(operands[where + 2])), "copy", operands[where + 3]
        else:
            kind, offset = found["op"], operands[where + 1]
            known = size_of(found["type"]) if kind == "load" else size_of(_type_of(operands[0]))
            size = known or 0
        base = f"ptr addrspace(1) {value_of(base)}"
        if size:
            yield Access(block, at, kind, size, base, offset, f"{offset} masked", location)
