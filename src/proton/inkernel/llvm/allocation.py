"""What the allocating passes share: how many warps a kernel has, who records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from proton.errors import InstrumentationError, UsageError
from proton.inkernel.layout import RECORD_BYTES
from proton.inkernel.llvm.carrier_line import CarrierLine, read_carriers
from proton.inkernel.llvm.module import Kernel, LlvmModule
from proton.inkernel.llvm.selection import Selection
from proton.inkernel.llvm.sites import find_sites
from proton.inkernel.modes.instrumentation_mode import granularities

AUTO_RING_BYTES = 4096  # 512 records for each stream
LEAST_AUTO_RING_BYTES = 128
_THREADS_NVIDIA = re.compile(r'"nvvm\.reqntid"="(\d+)')
_THREADS_AMD = re.compile(r'"amdgpu-flat-work-group-size"="\d+,(\d+)"')


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


def count_warps(module: LlvmModule, warp_size: int = 0) -> int:
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
    return max(1, int(found[1]) // (warp_size or (64 if is_amd else 32)))


def counted(module: LlvmModule, init: CarrierLine) -> dict[str, int]:
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
