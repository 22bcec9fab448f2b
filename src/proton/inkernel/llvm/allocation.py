"""Who records: which warps of a CTA write records of their own, which CTAs do, and how much."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from proton.errors import InstrumentationError, UsageError
from proton.inkernel.ir.layout import RECORD_BYTES
from proton.inkernel.llvm.access_sites import find_sites
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carriers
from proton.inkernel.llvm.module import Kernel, LlvmModule
from proton.inkernel.llvm.partitions import Partition, find_partitions, first_warps
from proton.inkernel.llvm.plan import BufferPlan, find_init, write_plan
from proton.inkernel.modes.instrumentation_mode import (
    Granularity,
    InstrumentationMode,
    SamplingStrategy,
    granularities,
)

WARPS_IN_GROUP = 4
AUTO_RING_BYTES = 4096  # 512 records for each stream
LEAST_AUTO_RING_BYTES = 128
_THREADS_NVIDIA = re.compile(r'"nvvm\.reqntid"="(\d+)')
_THREADS_AMD = re.compile(r'"amdgpu-flat-work-group-size"="\d+,(\d+)"')


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


def select(
    granularity: str, units: Iterable[int | str], ctas: Iterable[int | str], cta_every: int
) -> Selection:
    """The selection that a pass's options ask for.

    Raises:
        UsageError: an option is none of its choices.
    """
    if granularity not in granularities:
        raise UsageError.unknown("granularity", granularity, choices=granularities)
    try:
        listed = [tuple(sorted({int(each) for each in ids})) for ids in (units, ctas)]
    except ValueError as error:
        raise UsageError(f"units and ctas must be whole numbers: {error}") from None
    return Selection(granularities[granularity], listed[0], listed[1], cta_every)


def count_warps(module: LlvmModule) -> int:
    """How many warps a CTA of the kernel has, by its attributes.

    Raises:
        InstrumentationError: the kernel does not say.
    """
    is_amd = module.kernel.vendor == "amd"
    found = (_THREADS_AMD if is_amd else _THREADS_NVIDIA).search(module.kernel_attributes())
    if found is None:
        raise InstrumentationError(
            f"kernel {module.kernel.name!r} does not say how many threads it has; give num_warps"
        )
    return max(1, int(found[1]) // (64 if is_amd else 32))


def allocate(
    module: LlvmModule,
    memory: str,
    selection: Selection,
    num_warps: int,
    sizes: Callable[[str, int], tuple[int, int, int]],
) -> None:
    """Write into the kernel's `init` where its records go; one without ops stays as it is.

    Args:
        module: Records have a strategy.
        memory: Where rings are: "global" or "shared".
        selection: Who records.
        num_warps: Of a CTA; 0: as the kernel's attributes say.
        sizes: Ring, stage and offset of the plan, by the strategy and the number of streams; not
            asked where the kernel only opens and closes.
    """
    if (found := find_init(module)) is None:
        return
    at, init = found
    warps = num_warps or count_warps(module)
    recorded = selection.streams(warps, find_partitions(module.kernel))
    strategy = init.attributes["strategy"]
    ring, stage, offset = sizes(strategy, len(recorded)) if has_records(module) else (0, 0, 0)
    plan = BufferPlan(
        strategy=strategy,
        memory=memory,
        ring=ring,
        stage=stage,
        offset=offset,
        warps=warps,
        unit=warps_per_unit(selection.granularity, warps),
        recorded=recorded,
        ctas=selection.ctas,
        every=selection.cta_every,
        spin=int(init.attributes.get("spin", "0")) if memory == "global" else 0,
        **_counted(module, init),
    )
    write_plan(module, plan, at, init)


def _counted(module: LlvmModule, init: CarrierLine) -> dict[str, int]:
    """What a plan needs besides rings: counters, a table of bins, a callback's buffer."""
    sites = find_sites(module.kernel)
    bins, bin_bytes, callback = (
        int(init.attributes.get(key, "0")) for key in ("bins", "bin_bytes", "callback")
    )
    has_bins = sites.has_addresses and bins > 0
    columns = len(sites.columns) if has_bins else 0
    has_others = any(site.has_address and sites.column(site) is None for site in sites)
    return {
        "counts": int(init.attributes.get("counts", "0")),
        "counters": len(sites),
        "bins": bins if has_bins else 0,
        "bin_bytes": bin_bytes if has_bins else 0,
        "columns": columns,
        "hashed": bins // (2 if columns else 1) if has_bins and has_others else 0,
        "callback": callback,
    }


def fitting_ring(module: LlvmModule, most_bytes: int) -> int:
    """A ring for all that a warp can record; `most_bytes` where that is more, or not known.

    Buffers are copied at every launch: what is not needed takes its time there.
    """
    records = most_records(module.kernel)
    if records is None or records * RECORD_BYTES >= most_bytes:
        return most_bytes
    needed = max(records * RECORD_BYTES, min(LEAST_AUTO_RING_BYTES, most_bytes))
    return 1 << (needed - 1).bit_length()


def most_records(kernel: Kernel) -> int | None:
    """How many records a warp can write at most; None where some are in loops."""
    successors = {block.name: block.successors() for block in kernel.blocks}
    count = 0
    for block in kernel.blocks:
        here = sum(
            1 + (each.action == "value") for each in read_carriers(block.lines) if each.is_record
        )
        if here and _comes_back(block.name, successors):
            return None
        count += here
    return count


def _comes_back(name: str, successors: Mapping[str, list[str]]) -> bool:
    """Whether a block can run again."""
    seen: set[str] = set()
    pending = list(successors[name])
    while pending:
        each = pending.pop()
        if each == name:
            return True
        if each not in seen:
            seen.add(each)
            pending.extend(successors.get(each, ()))
    return False


def has_records(module: LlvmModule) -> bool:
    """Whether the kernel has records, not only an opening and a closing."""
    return any(
        each.is_record for block in module.kernel.blocks for each in read_carriers(block.lines)
    )
