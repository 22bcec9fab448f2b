"""Pass: a full ring is emptied, into a larger one or by the host."""

from __future__ import annotations

from dataclasses import dataclass

from proton.errors import UsageError
from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class LowerRecordsFlush(OwnPass, level="llvm"):
    """Empty a full ring: from shared memory into a larger ring, from global memory by the host.

    Needs `record` ops, leaves `flush_record` ops as `lower-records-circular` leaves circular ones.
    With `allocate-global` the warp tells the host and looks `spin` times whether it has drained; a
    host that has not is not waited for again, and what it misses is written over and counted.
    """

    spin: int = 1 << 16

    def __post_init__(self) -> None:
        if not 1 <= self.spin < 1 << 31:
            raise UsageError(f"spin must be from 1 to {(1 << 31) - 1}, not {self.spin!r}")

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without ops stays as it is."""
        thread_records(module, "flush_record", {"strategy": "flush", "spin": str(self.spin)})
