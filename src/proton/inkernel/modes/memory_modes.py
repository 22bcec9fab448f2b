"""The modes that count memory accesses: `bytes` by place in the kernel, `memory` by address too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from proton.inkernel.modes.instrumentation_mode import InstrumentationMode, whole_number
from proton.inkernel.passes.record_memory import DEFAULT_BIN_BYTES, DEFAULT_BINS, check_bins


@dataclass(frozen=True)
class Bytes(InstrumentationMode):
    """Counts accesses to global memory, and the bytes they move, for every load and store."""

    passes: ClassVar[tuple[str, ...]] = ("record-ctas", "count-bytes")
    name: str = field(default="bytes", init=False)


@dataclass(frozen=True)
class Memory(InstrumentationMode):
    """Counts accesses by address: a heat map of every tensor, and each warp's first address.

    `bins` is what every CTA adds to a launch's table, `bin_bytes` the memory that a bin stands for.
    """

    passes: ClassVar[tuple[str, ...]] = ("record-ctas", "record-memory")
    name: str = field(default="memory", init=False)
    bins: int = DEFAULT_BINS
    bin_bytes: int = DEFAULT_BIN_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("bins", whole_number("bins", self.bins, "bins"))
        self._set("bin_bytes", whole_number("bin_bytes", self.bin_bytes, "bytes"))
        check_bins(self.bins, self.bin_bytes)
