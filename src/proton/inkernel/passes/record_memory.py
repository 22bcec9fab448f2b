"""Pass: count accesses to memory by address."""

from __future__ import annotations

from dataclasses import dataclass

from proton.inkernel.llvm.access_marks import mark_accesses
from proton.inkernel.llvm.module import LlvmModule
from proton.inkernel.modes.mode_table import (
    DEFAULT_BIN_BYTES,
    DEFAULT_BINS,
    check_bins,
)
from proton.inkernel.passes import OwnPass


@dataclass(frozen=True)
class RecordMemory(OwnPass, level="llvm"):
    """Count accesses to global memory by address bin, and note each warp's first address.

    Counts what count-bytes counts, too. `bins` is what every CTA of the grid adds to the launch's
    table, `bin_bytes` the memory a bin stands for; both are powers of two. Runs before records get
    a strategy.
    """

    bins: int = DEFAULT_BINS
    bin_bytes: int = DEFAULT_BIN_BYTES
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_bins(self.bins, self.bin_bytes)

    def apply(self, module: LlvmModule) -> None:
        """Edit the kernel; one without accesses, or with marked ones, stays as it is."""
        options = {"bins": str(self.bins), "bin_bytes": str(self.bin_bytes)}
        mark_accesses(module, has_addresses=True, names=self.arguments, attributes=options)
