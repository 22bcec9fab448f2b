"""Pass: records become code for AMD GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from proton.inkernel.llvm import amd
from proton.inkernel.llvm.emit import lower
from proton.inkernel.llvm.module import LlvmModule


@dataclass(frozen=True)
class LowerToAmd:
    """Turn ops into calls of helpers for AMD GPUs, and leave the record map behind the text.

    As `lower-to-nvidia`; `sched_barriers` lets the scheduler move nothing across a record, and
    `sched_stores` frees a record's store of that.
    """

    name: ClassVar[str] = "lower-to-amd"
    level: ClassVar[str] = "llvm"

    warp_size: int = 64
    clock32: bool = True
    sched_stores: bool = False
    sched_barriers: bool = False
    time_shift: bool = False

    def apply(self, module: LlvmModule) -> None:
        """Edit the module; sets its `lowering`. One without ops stays as it is."""
        primitives = partial(
            amd.primitives,
            warp_size=self.warp_size,
            has_clock64=not self.clock32,
            has_late_stores=self.sched_stores,
            has_barriers=self.sched_barriers,
        )
        facts = {
            "target": "amd",
            "warp_size": self.warp_size,
            "clock_bits": 32 if self.clock32 else 48,
            "global_time_ns": amd.GLOBAL_TIME_NS,
            "time_shift": self.time_shift,
        }
        lower(module, "amd", primitives, amd.DECLARATIONS, facts)
        if module.lowering is not None:
            module.epilogue = [_without_untrue(line) for line in module.epilogue]


def _without_untrue(line: str) -> str:
    if line.startswith("attributes #"):
        for attribute in amd.UNTRUE_ATTRIBUTES:
            line = line.replace(f" {attribute}", "")
    return line
