"""The record map of a kernel: region ids in order of first appearance, and what each id means.

All values of one name have one type in the buffer, the narrowest that holds what each place
records: i32, i64, f32 or f64. Carriers of floats have their bits as an integer and say `type=f32`
or `type=f64`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carriers
from proton.inkernel.llvm.module import Kernel, LlvmModule
from proton.inkernel.llvm.text import DebugInfo

WIDTHS = {"i32": 32, "i64": 64, "f32": 32, "f64": 64}
_LLVM_FLOATS = {"f32": "float", "f64": "double"}
_SMALL = ("i1", "i8", "i16")


@dataclass
class Region:
    """What the records of one name and kind measure."""

    name: str
    kind: str
    is_moment: bool  # it has marks or values, no passages
    file: str
    line: int
    parent: int | None = None
    value_type: str = ""  # of values: i32, i64, f32 or f64
    every: int = 1  # one iteration of so many is recorded, where some are thinned out
    cap: int = 0  # of iterations: so many of each run of the loop are recorded; 0: all
    overlaps: bool = False  # others begin in it and end behind it, or it does so in them

    def to_json(self, number: int) -> dict[str, object]:
        """As it stands in the record map."""
        described: dict[str, object] = {
            "id": number,
            "name": self.name,
            "kind": self.kind,
            "file": self.file,
            "line": self.line,
            "parent": self.parent,
        }
        if self.value_type:
            described |= {"bits": WIDTHS[self.value_type], "value_type": self.value_type}
        if self.every > 1:
            described["every"] = self.every
        if self.cap:
            described["cap"] = self.cap
        if self.overlaps:
            described["overlaps"] = True
        return described


class _Key(NamedTuple):
    name: str
    kind: str
    is_moment: bool  # marks of a mode are not counted among the passages of another


@dataclass
class Regions:
    """The regions of a kernel by their records' keys: a value and a scope may share a name."""

    ids: dict[_Key, int] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)

    def id_of(self, carrier: CarrierLine) -> int | None:
        """The region of a record; None where there is none yet."""
        number = self.ids.get(_key(carrier))
        if number is None and carrier.action == "end" and "kind" not in carrier.attributes:
            # the start alone says of what kind both are
            same = (at for key, at in self.ids.items() if key.name == carrier.name)
            return next((at for at in same if not self.regions[at].is_moment), None)
        return number

    def to_json(self) -> list[dict[str, object]]:
        """The regions as they stand in the record map, by id."""
        return [region.to_json(number) for number, region in enumerate(self.regions)]


def find_regions(module: LlvmModule) -> Regions:
    """The regions of the kernel's records.

    Raises:
        InstrumentationError: there are more of them than a tag has room for, or a value is none.
    """
    debug = DebugInfo(module.epilogue)
    found = Regions()
    for carrier in _records(module.kernel):
        number = found.id_of(carrier)
        if number is None:
            number = found.ids[_key(carrier)] = len(found.regions)
            found.regions.append(Region(*_key(carrier), *_place(carrier, debug)))
        region = found.regions[number]
        # a prologue's records are not thinned
        region.every = max(region.every, _number(carrier, "every", missing=1))
        region.cap = max(region.cap, _number(carrier, "cap", missing=0))
        region.overlaps = region.overlaps or "overlaps" in carrier.attributes
        if carrier.action == "start" and not region.line:
            region.file, region.line = _place(carrier, debug)
        region.value_type = common_type(region.value_type, value_type(carrier))
    if len(found.regions) > layout.REGION_LIMIT:
        raise InstrumentationError(
            f"kernel {module.kernel.name!r} names {len(found.regions)} regions; a record has room "
            f"for {layout.REGION_LIMIT}; record less"
        )
    _find_parents(module.kernel, found)
    _name_marks(found)
    return found


def _name_marks(found: Regions) -> None:
    """Tell marks from the passages that another mode records under the same name and kind."""
    passages = {(each.name, each.kind) for each in found.regions if not each.is_moment}
    for region in found.regions:
        if region.is_moment and (region.name, region.kind) in passages:
            region.name += " (marks)"


def _records(kernel: Kernel) -> Iterator[CarrierLine]:
    for block in kernel.blocks:
        yield from (each for each in read_carriers(block.lines) if each.is_record)


def _key(carrier: CarrierLine) -> _Key:
    is_moment = carrier.action not in ("start", "end")
    kind = carrier.attributes.get("kind", carrier.action if is_moment else "scope")
    return _Key(carrier.name, kind, is_moment)


def _number(carrier: CarrierLine, attribute: str, *, missing: int) -> int:
    text = carrier.attributes.get(attribute, "")
    return int(text) if text.isdecimal() else missing


def _place(carrier: CarrierLine, debug: DebugInfo) -> tuple[str, int]:
    file, line = debug.location(carrier.location)
    text = carrier.attributes.get("line", "")
    return carrier.attributes.get("file", file), int(text) if text.isdigit() else line


def _find_parents(kernel: Kernel, found: Regions) -> None:
    """Give each region the one it was first seen open in, on some path from the entry."""
    blocks = {block.name: block for block in kernel.blocks}
    seen: set[str] = set()
    placed: set[int] = set()
    pending: list[tuple[str, tuple[int, ...]]] = [(kernel.blocks[0].name, ())]
    while pending:
        name, opened = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for carrier in read_carriers(blocks[name].lines):
            if not carrier.is_record:
                continue
            number = found.id_of(carrier)
            assert number is not None  # all of them were found before
            if carrier.action != "end" and number not in placed:
                placed.add(number)
                around = [each for each in opened if not _may_overlap(found, each, number)]
                if around and around[-1] != number:
                    found.regions[number].parent = around[-1]
            if found.regions[number].kind != "event":  # events open nothing
                is_alone = found.regions[number].overlaps
                opened = _step(opened, carrier.action, number, is_alone=is_alone)
        pending += [(after, opened) for after in reversed(blocks[name].successors())]


def _may_overlap(found: Regions, one: int, other: int) -> bool:
    return found.regions[one].overlaps and found.regions[other].overlaps


def _step(opened: tuple[int, ...], action: str, number: int, *, is_alone: bool) -> tuple[int, ...]:
    """The regions that are open after a record; `is_alone`: its end leaves those in it open."""
    if action == "start":
        return (*opened, number)
    if action != "end" or number not in opened:
        return opened
    at = len(opened) - 1 - opened[::-1].index(number)
    return opened[:at] + (opened[at + 1 :] if is_alone else ())


def value_type(carrier: CarrierLine) -> str:
    """The type of the number that a counted carrier records; empty for records that are no value.

    Raises:
        InstrumentationError: it has no number, or says a type that the number cannot be of.
    """
    if carrier.action != "value":
        return ""
    value = carrier.count_and_value()[1]
    kind = value.rpartition(" ")[0]
    text = carrier.attributes.get("type", "")
    if text not in ("", *_LLVM_FLOATS):
        raise InstrumentationError(
            f"value {carrier.name!r} says type={text}; write type=f32 or type=f64"
        )
    if text and kind != f"i{WIDTHS[text]}":
        raise InstrumentationError(
            f"value {carrier.name!r} of type={text} has the operand {value!r}; "
            f"give the bits of it as an i{WIDTHS[text]}"
        )
    if kind in _LLVM_FLOATS.values():
        return "f32" if kind == "float" else "f64"
    if kind.startswith("ptr"):
        return "i64"
    if kind not in (*_SMALL, "i32", "i64"):
        raise InstrumentationError(
            f"a record of {value!r}: values are integers, floats or pointers"
        )
    return text or ("i64" if kind == "i64" else "i32")


def common_type(one: str, other: str) -> str:
    """The narrowest type that holds values of both; integers beside floats become f64."""
    if not (one and other) or one == other:
        return one or other
    return "i64" if {one, other} == {"i32", "i64"} else "f64"


def value_words(
    carrier: CarrierLine, wanted: str, stem: str, tag: str
) -> tuple[list[str], str, str]:
    """Lines that make words of a carrier's number, as type `wanted`: the high word and the low one.

    A value of 32 bits has `tag` in place of a high word. `stem` begins names that are free.
    """
    lines: list[str] = []

    def step(name: str, instruction: str) -> str:
        lines.append(f"{stem}.{name} = {instruction}")
        return f"{stem}.{name}"

    own = value_type(carrier)
    kind, _, value = carrier.count_and_value()[1].rpartition(" ")
    if kind.startswith("ptr"):
        value, kind = step("address", f"ptrtoint {kind} {value} to i64"), "i64"
    if own != wanted and wanted == "f64":
        if own == "f32" and kind == "i32":
            value, kind = step("short", f"bitcast i32 {value} to float"), "float"
        convert = "fpext" if own == "f32" else "sitofp"
        value, kind = step("double", f"{convert} {kind} {value} to double"), "double"
    bits = f"i{WIDTHS[wanted]}"
    if kind in _LLVM_FLOATS.values():
        value = step("bits", f"bitcast {kind} {value} to {bits}")
    elif kind != bits:
        value = step("wide", f"sext {kind} {value} to {bits}")
    if bits == "i32":
        return lines, tag, value
    low = step("low", f"trunc i64 {value} to i32")
    upper = step("upper", f"lshr i64 {value}, 32")
    return lines, step("high", f"trunc i64 {upper} to i32"), low
