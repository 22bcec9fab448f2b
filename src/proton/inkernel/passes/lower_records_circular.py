"""Pass: records go round a ring, and the newest stay."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.llvm.counting import thread_records
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class LowerRecordsCircular(OwnPass, level="llvm"):
    """Write records round a ring; when it is full, the oldest go.

    Needs `record` ops, leaves `circular_record` ops that take the bytes written so far and give
    those after them, one `init` in the entry block and a `finalize` before every return.
    """

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without ops stays as it is."""
        thread_records(module, "circular_record", {"strategy": "circular", "spin": "0"})
