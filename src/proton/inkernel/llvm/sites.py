"""The sites of a kernel: accesses of one kind, line, argument and size share a counter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proton.errors import InstrumentationError
from proton.inkernel import layout
from proton.inkernel.llvm.accesses import READS
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carriers
from proton.inkernel.llvm.llvm_types import split_list, value_of
from proton.inkernel.llvm.module import Kernel

Key = tuple[str, str, str, str]  # name, kind, bytes, file


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

    def to_json(self) -> dict[str, Any]:
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

    def to_json(self) -> dict[str, Any]:
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
    if len(sites) > layout.MOST_SITES:
        raise InstrumentationError(
            f"kernel {kernel.name!r} accesses memory at {len(sites)} places and there are counters "
            f"for {layout.MOST_SITES}; it is not counted"
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
