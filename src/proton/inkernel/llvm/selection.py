"""Who records: which warps of a CTA write records of their own, and which CTAs do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from proton.errors import UsageError
from proton.inkernel.llvm.partitions import Partition, first_warps
from proton.inkernel.modes.instrumentation_mode import (
    Granularity,
    InstrumentationMode,
    SamplingStrategy,
)

WARPS_IN_GROUP = 4


def warps_per_unit(granularity: Granularity, num_warps: int) -> int:
    """How many warps share one stream of records; the first of them writes it."""
    if granularity is Granularity.CTA:
        return num_warps
    kind, _, factor = str(granularity).rpartition("_")
    count = int(factor) if factor.isdigit() else 1
    return count * (WARPS_IN_GROUP if "group" in f"{kind}_{factor}" else 1)


@dataclass(frozen=True)
class Selection:
    """What of a launch is recorded. Empty lists mean all.

    `units` counts units of `granularity` within a CTA, `ctas` CTAs in the order of their linear
    index; `cta_every` records one CTA of so many.
    """

    granularity: Granularity = Granularity.WARP
    units: tuple[int, ...] = field(default=())
    ctas: tuple[int, ...] = field(default=())
    cta_every: int = 1

    def __post_init__(self) -> None:
        for name, ids in (("units", self.units), ("ctas", self.ctas)):
            if any(each < 0 for each in ids) or list(ids) != sorted(set(ids)):
                raise UsageError(f"{name} {ids!r} must rise and start at 0 or more")
        if len(self.ctas) > 64:
            raise UsageError(f"{len(self.ctas)} CTAs are listed; list up to 64")
        if self.cta_every < 1 or (self.cta_every > 1 and self.ctas):
            raise UsageError(f"cta_every={self.cta_every!r} must be 1 or more, and 1 beside a list")

    @classmethod
    def of_mode(cls, mode: InstrumentationMode) -> Selection:
        """What a mode's sampling options list: units, or CTAs with granularity `cta`."""
        if mode.sampling_strategy is SamplingStrategy.NONE:
            return cls(mode.granularity)
        ids = tuple(sorted({int(text) for text in mode.sampling_options.split(",")}))
        if mode.granularity is Granularity.CTA:
            return cls(mode.granularity, ctas=ids)
        return cls(mode.granularity, units=ids)

    def streams(self, num_warps: int, partitions: Sequence[Partition] = ()) -> tuple[int, ...]:
        """The warps of a CTA that write, one for each stream, in order.

        Units of several warps begin anew in each partition of a specialised kernel: a partition of
        one warp has a stream of its own, wherever it begins.

        Raises:
            UsageError: a listed unit is none of the CTA's.
        """
        size = warps_per_unit(self.granularity, num_warps)
        is_whole = size == 1 or self.granularity is Granularity.CTA
        firsts = first_warps(num_warps, size, () if is_whole else partitions)
        if self.units and self.units[-1] >= len(firsts):
            raise UsageError(
                f"sampling_options names unit {self.units[-1]} of granularity "
                f"{str(self.granularity)!r}; a CTA of {num_warps} warps has 0 to {len(firsts) - 1}"
            )
        return tuple(firsts[unit] for unit in self.units) if self.units else firsts
