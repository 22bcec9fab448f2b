"""Pass: records become PTX."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from proton.inkernel.llvm import nvidia
from proton.inkernel.llvm.emit import lower
from proton.inkernel.llvm.module import LlvmModule


@dataclass(frozen=True)
class LowerToNvidia:
    """Turn ops into calls of helpers for NVIDIA GPUs, and leave the record map behind the text.

    Needs records with a strategy and memory; leaves no op. `clock32` keeps 32 bits of the clock,
    which the reader widens; without it, 48. `sched_stores` lets the compiler move memory accesses
    across a record's store. `time_shift` asks the reader to place spans without what records cost.
    """

    name: ClassVar[str] = "lower-to-nvidia"
    level: ClassVar[str] = "llvm"

    clock32: bool = True
    sched_stores: bool = False
    time_shift: bool = False

    def apply(self, module: LlvmModule) -> None:
        """Edit the module; sets its `lowering`. One without ops stays as it is."""
        primitives = partial(
            nvidia.primitives, has_clock64=not self.clock32, has_late_stores=self.sched_stores
        )
        facts = {
            "target": "nvidia",
            "warp_size": nvidia.WARP_SIZE,
            "clock_bits": 32 if self.clock32 else 48,
            "global_time_ns": nvidia.GLOBAL_TIME_NS,
            "time_shift": self.time_shift,
        }
        lower(module, "nvidia", primitives, nvidia.DECLARATIONS, facts)
