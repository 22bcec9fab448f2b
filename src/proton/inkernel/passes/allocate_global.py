"""Pass: rings in the profile buffer, in global memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from proton.inkernel.ir import layout
from proton.inkernel.llvm.allocation import (
    AUTO_RING_BYTES,
    count_warps,
    counted,
    fitting_ring,
    has_records,
    select,
    warps_per_unit,
)
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.llvm.partitions import find_partitions
from proton.inkernel.llvm.plan import BufferPlan, find_init, write_plan


@dataclass(frozen=True)
class AllocateGlobal:
    """Keep every recorded warp's ring in the profile buffer.

    Needs records with a strategy, writes the plan into `init`. `ring_bytes` 0 chooses: none for a
    kernel that only opens and closes, 4 KiB for one that records in loops, else what it can need.
    `num_warps` 0 reads the kernel's attributes.
    """

    name: ClassVar[str] = "allocate-global"
    level: ClassVar[str] = "llvm"

    ring_bytes: int = 0
    num_warps: int = 0
    granularity: str = "warp"
    units: tuple[int | str, ...] = ()
    ctas: tuple[int | str, ...] = ()
    cta_every: int = 1

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without ops stays as it is."""
        layout.check_ring_bytes(self.ring_bytes)
        selection = select(self.granularity, self.units, self.ctas, self.cta_every)
        if (found := find_init(module)) is None:
            return
        at, init = found
        warps = self.num_warps or count_warps(module)
        ring = self.ring_bytes or fitting_ring(module, AUTO_RING_BYTES)
        plan = BufferPlan(
            strategy=init.attributes["strategy"],
            memory="global",
            ring=ring if has_records(module) else 0,
            stage=0,
            offset=0,
            warps=warps,
            unit=warps_per_unit(selection.granularity, warps),
            recorded=selection.streams(warps, find_partitions(module.kernel)),
            ctas=selection.ctas,
            every=selection.cta_every,
            spin=int(init.attributes.get("spin", "0")),
            **counted(module, init),
        )
        write_plan(module, plan, at, init)
