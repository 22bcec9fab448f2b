"""From the recorder's sums to `RecordedKernel`s: names, quantiles, CTAs, losses, changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proton.backends.instrumentation.kept_buffers import MemorySum
from proton.backends.instrumentation.loaded_kernels import LoadedKernel
from proton.inkernel.compiler.mode_passes import THINNING
from proton.model.ctas import summarize_ctas
from proton.model.in_kernel import (
    NO_PARENT,
    AccessSite,
    Change,
    HeatMap,
    RecordedKernel,
    Region,
    Value,
)

Sum = Mapping[str, Any]  # an entry of `_native.InKernel.sums`, or a region in one
# the decoder's words -> those of files
_LOSSES = {"overwritten_records": "overflowed_records"}
_UNMATCHED = ("unmatched_starts", "unmatched_ends", "overwritten_starts")
_CAPTURED = "<captured_at>"


def to_recorded_kernel(
    sum_: Sum,
    kernel: LoadedKernel,
    *,
    changed: Mapping[str, Change],
    memory: MemorySum | None = None,
) -> RecordedKernel:
    """One kernel of one context, as `_native.InKernel.sums` has it."""
    counted = memory or MemorySum()
    described = kernel.records.record_map.get("regions", ())
    regions = _regions(sum_["regions"], described)
    context = [_CAPTURED, *sum_["context"]] if sum_["is_captured"] else sum_["context"]
    return RecordedKernel(
        kernel=sum_["name"],
        context=tuple(context),
        mode=kernel.records.mode,
        device_id=sum_["device_id"],
        every=THINNING[kernel.records.thinning],
        launches=sum_["launches"],
        replays=sum_["replays"],
        recorded_warps=sum_["recorded_warps"],
        clock_ghz=sum_["clock_ghz"] or None,
        record_cycles=sum_["record_cycles"],
        error_cycles=kernel.cost.error_cycles,
        regions=regions,
        ctas=summarize_ctas(sum_["ctas"]),
        values=_values(sum_["regions"], described),
        accesses=_accesses(counted),
        heat=[
            HeatMap(one.tensor, one.bytes, one.accesses, one.bin_bytes, one.bins, one.byte_bins)
            for one in counted.heat.values()
        ],
        uncovered=dict(counted.uncovered),
        losses=_losses({**sum_["losses"], **counted.losses}, sum_["dropped"]),
        changed=changed,
    )


def _regions(sums: Sequence[Sum], described: Sequence[Mapping[str, Any]]) -> list[Region]:
    """Passages through regions; numbers alone are left to `_values`."""
    numbers: dict[int, int] = {}  # where each of `sums` stands
    regions: list[Region] = []
    for at, each in enumerate(sums):
        region = described[each["region"]]
        if region.get("kind") == "value":
            continue
        numbers[at] = len(regions)
        has_passed = each["count"] > 0
        regions.append(
            Region(
                name=region["name"],
                file=region.get("file") or "",
                line=region.get("line") or 0,
                kind=region.get("kind") or "",
                parent=numbers.get(each["parent"], NO_PARENT),
                count=each["count"],
                cycles=each["cycles"],
                ns=each["ns"] or None,
                **{key: each[key] for key in ("p10", "p50", "p90", "min", "max") if has_passed},
                every=region.get("every", 1),
            )
        )
    return regions


def _values(sums: Sequence[Sum], described: Sequence[Mapping[str, Any]]) -> list[Value]:
    """Numbers that the kernel recorded, those of one name together."""
    found: dict[str, Value] = {}
    for each in sums:
        if each["value_count"] == 0:
            continue
        name = described[each["region"]]["name"]
        found[name] = found.get(name, Value(name)) + Value(
            name,
            each["value_count"],
            each["value_sum"],
            each["value_min"],
            each["value_max"],
            each["value_not_finite"],
        )
    return list(found.values())


def _losses(counts: Mapping[str, int], dropped: int) -> dict[str, int]:
    losses = {_LOSSES.get(name, name): count for name, count in counts.items()}
    unmatched = sum(losses.pop(name, 0) for name in _UNMATCHED)
    return losses | {
        name: count
        for name, count in (("unmatched", unmatched), ("dropped_buffers", dropped))
        if count
    }


def _accesses(memory: MemorySum) -> list[AccessSite]:
    return [
        AccessSite(
            name=each.name,
            kind=each.kind,
            file=each.file,
            line=each.line,
            tensor=each.tensor,
            accesses=each.accesses,
            bytes=each.bytes,
            first=first.found,
            first_of=first.warps,
        )
        for each, first in zip(memory.sites, memory.first_addresses(), strict=True)
    ]


def changes(plain: Mapping[str, float] | None, recorded: Mapping[str, float]) -> dict[str, Change]:
    """What recording made of a kernel; a kernel that is not known without it has only one side."""
    if plain is None:
        return {name: Change(None, number) for name, number in recorded.items()}
    return {name: Change(plain[name], recorded[name]) for name in plain if name in recorded}
