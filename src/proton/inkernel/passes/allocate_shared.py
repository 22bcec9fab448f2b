"""Pass: rings in shared memory, behind the kernel's own, copied out when it ends."""

from __future__ import annotations

from dataclasses import dataclass

from proton.errors import InstrumentationError
from proton.inkernel.ir import layout
from proton.inkernel.llvm.allocation import AUTO_RING_BYTES, allocate, fitting_ring, select
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.passes import OwnPass

AUTO_STAGE_BYTES = 1024  # 128 records for each stream
LEAST_AUTO_STAGE_BYTES = 128
ALIGN = 16


@dataclass(frozen=True)
class AllocateShared(OwnPass, level="llvm"):
    """Keep every recorded warp's ring in shared memory; it is copied out at the end.

    Needs records with a strategy, writes the plan into `init`. `shared_bytes` is what the kernel
    itself uses, `shared_limit` what a CTA may use (0: not checked). `stage_bytes` 0 chooses the
    largest ring up to 1 KiB that fits, and no more than the kernel can need. With the flush
    strategy a full ring is copied into one of `ring_bytes` in the profile buffer (0 chooses); with
    the circular one the two have one size.
    """

    shared_bytes: int = 0
    shared_limit: int = 0
    stage_bytes: int = 0
    ring_bytes: int = 0
    num_warps: int = 0
    granularity: str = "warp"
    units: tuple[int | str, ...] = ()
    ctas: tuple[int | str, ...] = ()
    cta_every: int = 1

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without ops stays as it is.

        Raises:
            InstrumentationError: the rings do not fit.
        """
        layout.check_ring_bytes(self.stage_bytes)
        layout.check_ring_bytes(self.ring_bytes)
        selection = select(self.granularity, self.units, self.ctas, self.cta_every)
        offset = (self.shared_bytes + ALIGN - 1) // ALIGN * ALIGN

        def sizes(strategy: str, streams: int) -> tuple[int, int, int]:
            stage = ring = self._fitting(module, offset, streams)
            if strategy == "flush":
                ring = max(stage, self.ring_bytes or fitting_ring(module, 4 * AUTO_RING_BYTES))
            return ring, stage, offset

        allocate(module, "shared", selection, self.num_warps, sizes)

    def _fitting(self, module: LlvmModule, offset: int, streams: int) -> int:
        size = self.stage_bytes or fitting_ring(module, AUTO_STAGE_BYTES)
        least = self.stage_bytes or LEAST_AUTO_STAGE_BYTES
        while self.shared_limit and offset + streams * size > self.shared_limit:
            size //= 2
            if size < least:
                raise InstrumentationError(
                    f"kernel {module.kernel.name!r} uses {self.shared_bytes} of "
                    f"{self.shared_limit} bytes of shared memory and {streams} rings of {least} "
                    "do not fit; use allocate-global, or record fewer warps"
                )
        return size
