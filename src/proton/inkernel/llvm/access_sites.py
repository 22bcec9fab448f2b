"""The sites of a kernel: accesses of one kind, line, argument and size share a counter.

A counter is one SSA value of 32 bits per site and lane. A mark adds to its site's value; phis join
where paths with different values meet; before every return the lanes' values are summed and added
to the warp's counters in the profile buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from proton._native import DeviceMemory
from proton.errors import InstrumentationError
from proton.inkernel.ir.parse import split_list
from proton.inkernel.llvm.accesses import READS
from proton.inkernel.llvm.carrier_line import CarrierLine, read_body, read_carriers
from proton.inkernel.llvm.counting import Phi, place_values
from proton.inkernel.llvm.module import Kernel
from proton.inkernel.llvm.plan import BufferPlan
from proton.inkernel.llvm.text import value_of

Key = tuple[str, str, str, str]  # name, kind, bytes, file
RECORDED = "%proton.recorded"
LEAD = "%proton.lead"  # a recorded warp's first lane
_TABLE = "ptr addrspace(1) %proton.table"


@dataclass(frozen=True)
class Site:
    """What one counter counts."""

    number: int
    name: str
    kind: str
    bytes: int  # of a lane and an access
    file: str
    line: int
    argument: int | None
    tensor: str  # what the argument is called; "": not known
    has_address: bool

    @property
    def is_read(self) -> bool:
        """Whether its bytes come out of global memory."""
        return self.kind in READS

    def to_json(self) -> dict[str, object]:
        """As it stands in the record map."""
        return {
            "id": self.number,
            "name": self.name,
            "kind": self.kind,
            "bytes": self.bytes,
            "file": self.file,
            "line": self.line,
            "argument": self.argument,
            "tensor": self.tensor,
        }


@dataclass(frozen=True)
class Column:
    """What one counter of the table's rows counts: sites with these in common share it."""

    argument: int
    is_read: bool
    bytes: int  # of a lane and an access

    def to_json(self) -> dict[str, object]:
        """As it stands in the record map."""
        return {"argument": self.argument, "is_read": self.is_read, "bytes": self.bytes}


@dataclass
class Sites:
    """The sites of a kernel, whether its marks carry addresses, and the columns of those."""

    by_key: dict[Key, Site] = field(default_factory=dict)
    has_addresses: bool = False
    columns: dict[Column, int] = field(default_factory=dict)
    bases: dict[int, str] = field(default_factory=dict)  # argument -> its name in the kernel

    def __len__(self) -> int:
        return len(self.by_key)

    def __iter__(self) -> Iterator[Site]:
        return iter(self.by_key.values())

    def of(self, access: CarrierLine) -> Site:
        """The site of a mark."""
        return self.by_key[_key(access)]

    def column(self, site: Site) -> int | None:
        """The number of a site's column; None where no argument leads to its memory."""
        if site.argument is None or not site.has_address:
            return None
        return self.columns.get(Column(site.argument, site.is_read, site.bytes))

    def add(self, key: Key, site: Site) -> None:
        """Take one more site, and its column."""
        self.by_key[key] = site
        if site.has_address and site.argument in self.bases:
            column = Column(site.argument, site.is_read, site.bytes)
            self.columns.setdefault(column, len(self.columns))


def find_sites(kernel: Kernel) -> Sites:
    """The sites of the kernel's marks, in the order in which they first appear.

    Raises:
        InstrumentationError: a mark is not well formed, or there are too many sites.
    """
    sites = Sites(bases=_pointers(kernel))
    for block in kernel.blocks:
        for carrier in read_carriers(block.lines):
            if carrier.op != "access":
                continue
            sites.has_addresses |= len(operands_of(carrier)) == 2
            if (key := _key(carrier)) not in sites.by_key:
                sites.add(key, _site(len(sites), carrier))
    if len(sites) > DeviceMemory.MOST_SITES:
        raise InstrumentationError(
            f"kernel {kernel.name!r} accesses memory at {len(sites)} places and there are counters "
            f"for {DeviceMemory.MOST_SITES}; it is not counted"
        )
    return sites


def operands_of(access: CarrierLine) -> list[str]:
    """How many of its lane took part and, where it is carried, the address."""
    return [part.rpartition(" ")[2] for part in access.operands.split(", ") if part]


def _key(access: CarrierLine) -> Key:
    get = access.attributes.get
    return get("name", ""), get("kind", ""), get("bytes", ""), get("file", "")


def _site(number: int, access: CarrierLine) -> Site:
    name, kind, size, file = _key(access)
    line, argument = (access.attributes.get(key, "") for key in ("line", "argument"))
    if not (name and kind and size.isdecimal() and int(size) and operands_of(access)):
        raise InstrumentationError(
            f"malformed carrier {str(access).strip()!r}; let count-bytes or record-memory write it"
        )
    where = int(line) if line.isdecimal() else 0
    return Site(
        *(number, name, kind, int(size), file, where),
        argument=int(argument) if argument.isdecimal() else None,
        tensor=access.attributes.get("tensor", ""),
        has_address=len(operands_of(access)) == 2,
    )


def _pointers(kernel: Kernel) -> dict[int, str]:
    """The parameters that are addresses in global memory."""
    return {
        number: value_of(parameter)
        for number, parameter in enumerate(split_list(kernel.parameters))
        if parameter.startswith("ptr addrspace(1)")
    }


def opening(plan: BufferPlan, sites: Sites, scratch: str) -> list[str]:
    """What a kernel that counts accesses computes at its entry, where `LEAD` is known."""
    call = f"call ptr addrspace(1) @__proton_{{}}(ptr addrspace(1) {scratch})"
    lines = [f"%proton.counters = {call.format('counters')}"]
    if not plan.records_all:
        lines.append(f"{RECORDED} = call i1 @__proton_recorded()")
    if plan.bins:
        lines.append(f"%proton.table = {call.format('table')}")
        lines.append("%proton.lower = call i32 @__proton_lower()")
    if plan.hashed:
        lines.append(f"%proton.hashed = call ptr addrspace(1) @__proton_hashed({_TABLE})")
        lines.append("%proton.places = call i32 @__proton_places()")
    if plan.columns:
        lines += _opening_of_rows(sites)
    return lines


def _opening_of_rows(sites: Sites) -> list[str]:
    lines = [
        "%proton.all_row_bits = call i32 @__proton_all_row_bits()",
        "%proton.copy_bits = call i32 @__proton_copy_bits(i32 %proton.all_row_bits)",
        "%proton.near = call i32 @__proton_near(i32 %proton.all_row_bits, i32 %proton.copy_bits)",
        "%proton.rows = call ptr addrspace(1) "
        f"@__proton_rows({_TABLE}, i32 %proton.copy_bits, i32 %proton.near)",
    ]
    for argument in sorted({column.argument for column in sites.columns}):
        base = f"ptr addrspace(1) {sites.bases[argument]}"
        lines.append(f"%proton.base{argument} = ptrtoint {base} to i64")
    for column, number in sites.columns.items():
        offset = DeviceMemory.TABLE_HEADER_BYTES + number * DeviceMemory.COLUMN_BYTES
        lines.append(
            f"call void @__proton_note_base({_TABLE}, i64 {offset}, "
            f"i64 %proton.base{column.argument}, i1 {LEAD})"
        )
    return lines


def count_accesses(kernel: Kernel, sites: Sites, *, records_all: bool = False) -> None:
    """Replace every mark of the kernel; `finalize` stays and what is counted goes out before it.

    `opening` gives the values that the replacements use.
    """
    recorded = "true" if records_all else RECORDED
    bodies = [read_body(block.lines) for block in kernel.blocks]
    order = [block.name for block in kernel.blocks]
    predecessors = kernel.predecessors()
    last: list[dict[str, str]] = [{} for _ in sites]
    for block, body in zip(kernel.blocks, bodies, strict=True):
        for each in body:
            if isinstance(each, CarrierLine) and each.op == "access":
                last[sites.of(each).number][block.name] = each.result
    placed = [
        place_values(order, predecessors, values, stem=f"%proton.count{number}.")
        for number, values in enumerate(last)
    ]
    for block, body in zip(kernel.blocks, bodies, strict=True):
        tops = [top[block.name] for top, _ in placed]
        phis: list[Phi] = [joins[block.name] for _, joins in placed if block.name in joins]
        lines = [str(phi) for phi in phis]
        for each in body:
            if isinstance(each, str):
                lines.append(each)
            elif each.op == "access":
                lines += _counted(each, sites, tops, recorded)
            elif each.op == "finalize":
                lines += [*_written(tops, recorded), str(each)]
            else:
                lines.append(str(each))
        block.lines = lines


def _counted(access: CarrierLine, sites: Sites, values: list[str], recorded: str) -> list[str]:
    taken, *address = operands_of(access)
    site = sites.of(access)
    before, values[site.number] = values[site.number], access.result
    lines = [f"{access.result} = add i32 {before}, {taken}{access.location}"]
    if address:
        first = site.number * DeviceMemory.COUNTER_BYTES + DeviceMemory.OFFSET_FIRST_ADDRESS
        counters = "ptr addrspace(1) %proton.counters"
        lines.append(f"{access.result}.first = getelementptr i8, {counters}, i64 {first}")
        its_first = f"ptr addrspace(1) {access.result}.first"
        its_lane = f"i32 {taken}, i32 {before}"
        if (column := sites.column(site)) is not None:
            call = (
                f"@__proton_touch(ptr addrspace(1) %proton.rows, {its_first}, i64 {address[0]}, "
                f"i64 %proton.base{site.argument}, {its_lane}, "
                f"i64 {column * DeviceMemory.COLUMN_BYTES}, i32 %proton.near, i32 %proton.lower, "
                f"i1 {LEAD}, i1 {recorded})"
            )
        else:
            field = (
                DeviceMemory.OFFSET_LOAD_BYTES if site.is_read else DeviceMemory.OFFSET_STORE_BYTES
            )
            call = (
                f"@__proton_touch_hashed(ptr addrspace(1) %proton.hashed, {its_first}, "
                f"i64 {address[0]}, {its_lane}, i32 {site.bytes}, i64 {field}, "
                f"i32 %proton.places, i32 %proton.lower, i1 {recorded})"
            )
        lines.append(f"call void {call}{access.location}")
    return [access.indent + line for line in lines]


def _written(values: list[str], recorded: str) -> list[str]:
    """What goes out before a return; a site that no path to it touches has nothing to add."""
    return [
        f"  call void @__proton_count_out(ptr addrspace(1) %proton.counters, "
        f"i64 {number * DeviceMemory.COUNTER_BYTES}, i32 {value}, i1 {recorded})"
        for number, value in enumerate(values)
        if value != "0"
    ]
