"""Where a kernel's records go: the plan that the allocating passes write into `proton.init`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from proton._native import DeviceMemory
from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carrier, read_carriers
from proton.inkernel.llvm.module import LlvmModule

ALIGNED_RING_LIMIT = 1 << 16  # bytes; larger rings are not aligned to their size
LEAST_ALIGN = 128
_OPTIONAL = (
    "counts",
    "counters",
    "bins",
    "bin_bytes",
    "columns",
    "hashed",
    "callback",
)  # attributes that are 0 where they are not written


@dataclass(frozen=True)
class BufferPlan:
    """Sizes in bytes and counts; prints as the attributes of `proton.init` and reads back."""

    strategy: str  # "circular" or "flush"
    memory: str  # "global" or "shared"
    ring: int  # of a warp's records in the profile buffer
    stage: int  # of a warp's ring in shared memory; 0 with memory="global"
    offset: int  # of the first ring in shared memory
    warps: int  # of a CTA
    unit: int  # warps that share a stream
    recorded: tuple[int, ...]  # warps that write
    ctas: tuple[int, ...]  # CTAs that write; empty: all
    every: int  # one CTA of so many
    spin: int  # how often to look whether the host has drained; 0 with strategy="circular"
    counts: int = 0  # 1: memory accesses are asked for, whether the kernel has some or not
    counters: int = 0  # of memory accesses, for each recorded warp
    bins: int = 0  # that each CTA of the grid adds to the table of address bins; 0: no table
    bin_bytes: int = 0  # of memory that a bin stands for
    columns: int = 0  # of the table's rows; 0: it has no rows
    hashed: int = 0  # how many of the bins are hashed; the memory of the others is for rows
    callback: int = 0  # bytes that callbacks of the user's have, for each CTA of the grid

    @property
    def handle(self) -> str:
        """The type of a ring's address in the kernel."""
        return "i32" if self.stage else "i64"

    @property
    def align(self) -> int:
        """What the profile buffer must be aligned to."""
        is_aligned = self.memory == "global" and self.has_aligned_rings
        return max(self.ring, LEAST_ALIGN) if is_aligned else LEAST_ALIGN

    @property
    def has_aligned_rings(self) -> bool:
        """Whether an offset may be or-ed into a ring's address: one instruction, not three."""
        return self.ring <= ALIGNED_RING_LIMIT

    @property
    def scratch_bytes(self) -> int:
        """The size of the profile buffer for each CTA of the grid."""
        return self.slots_bytes + self.table_bytes + self.callback

    @property
    def slots_bytes(self) -> int:
        """The size of a CTA's rings, headers and counters."""
        return len(self.recorded) * (self.ring + layout.HEADER_BYTES + self.counter_bytes)

    @property
    def counter_bytes(self) -> int:
        """The size of a recorded warp's counters, which stand behind all headers."""
        return (self.counters + self.counters % 2) * DeviceMemory.COUNTER_BYTES  # bins stay aligned

    @property
    def table_bytes(self) -> int:
        """What a CTA adds to the launch's table of address bins, which is behind all counters."""
        if not self.bins:
            return 0
        rows = _aligned(self.rows * self.row_bytes)
        return self.table_header_bytes + self.hashed * DeviceMemory.BIN_BYTES + rows

    @property
    def table_header_bytes(self) -> int:
        """What stands before the table's bins: what was dropped, and the arguments' addresses."""
        return DeviceMemory.TABLE_HEADER_BYTES + _aligned(self.row_bytes)

    @property
    def row_bytes(self) -> int:
        """The size of a row of the table: a counter for each column."""
        return self.columns * DeviceMemory.COLUMN_BYTES

    @property
    def rows(self) -> int:
        """What each CTA of the grid adds to the table's rows."""
        if not self.columns:
            return 0
        room = (self.bins - self.hashed) * DeviceMemory.BIN_BYTES
        return max(DeviceMemory.LEAST_ROWS, room // self.row_bytes)

    @property
    def records_all(self) -> bool:
        """Whether no warp and no CTA is left out."""
        return len(self.recorded) == self.warps and not self.ctas and self.every == 1

    @property
    def shared_bytes(self) -> int | None:
        """The shared memory that the kernel needs, its own included; None: as before."""
        return self.offset + len(self.recorded) * self.stage if self.stage else None

    def attributes(self) -> dict[str, str]:
        """As attributes of a carrier: numbers of a list are joined by dots."""
        return {
            key: _text(value)
            for key, value in asdict(self).items()
            if value or key not in _OPTIONAL
        }


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // DeviceMemory.BIN_BYTES) * DeviceMemory.BIN_BYTES


def _text(value: object) -> str:
    return ".".join(map(str, value)) if isinstance(value, tuple) else str(value)


def find_init(module: LlvmModule) -> tuple[int, CarrierLine] | None:
    """Where the kernel opens its buffer: line of the entry block, op; None: it has no records.

    Raises:
        InstrumentationError: records have no strategy yet.
    """
    for at, line in enumerate(module.kernel.blocks[0].lines):
        carrier = read_carrier(line)
        if carrier is not None and carrier.op == "init" and "strategy" in carrier.attributes:
            return at, carrier
    if any(True for block in module.kernel.blocks for _ in read_carriers(block.lines)):
        raise InstrumentationError(
            f"kernel {module.kernel.name!r}: records have no strategy yet; run "
            "lower-records-circular or lower-records-flush first"
        )
    return None


def read_plan(kernel: str, attributes: Mapping[str, str]) -> BufferPlan:
    """The plan that an `init` carries.

    Raises:
        InstrumentationError: no memory was allocated, or the plan is not whole.
    """
    if "memory" not in attributes:
        raise InstrumentationError(
            f"kernel {kernel!r}: no memory for its records; run allocate-global or "
            "allocate-shared first"
        )
    values: dict[str, Any] = {}
    for each in fields(BufferPlan):
        text = attributes.get(each.name, "0" if each.name in _OPTIONAL else None)
        numbers = (text or "").replace(".", "")
        if text is None or (
            each.name not in ("strategy", "memory") and text and not numbers.isdigit()
        ):
            raise InstrumentationError(
                f"kernel {kernel!r}: attribute {each.name!r} of proton.init is {text!r}; let "
                "allocate-global or allocate-shared write it"
            )
        if each.name in ("recorded", "ctas"):
            values[each.name] = tuple(int(number) for number in text.split(".") if number)
        else:
            values[each.name] = text if each.name in ("strategy", "memory") else int(text)
    return BufferPlan(**values)


def write_plan(module: LlvmModule, plan: BufferPlan, at: int, init: CarrierLine) -> None:
    """Put the plan into the kernel's `init`."""
    changed = CarrierLine("init", init.result, attributes=plan.attributes())
    module.kernel.blocks[0].lines[at] = str(changed)
