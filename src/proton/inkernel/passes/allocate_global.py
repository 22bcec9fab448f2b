"""Pass: rings in the profile buffer, in global memory."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.ir import layout
from proton.inkernel.llvm.allocation import AUTO_RING_BYTES, allocate, fitting_ring, select
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class AllocateGlobal(OwnPass, level="llvm"):
    """Keep every recorded warp's ring in the profile buffer.

    Needs records with a strategy, writes the plan into `init`. `ring_bytes` 0 chooses: none for a
    kernel that only opens and closes, 4 KiB for one that records in loops, else what it can need.
    `num_warps` 0 reads the kernel's attributes.
    """

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
        ring = self.ring_bytes or fitting_ring(module, AUTO_RING_BYTES)
        allocate(
            module, "global", selection, self.num_warps, lambda strategy, streams: (ring, 0, 0)
        )
