"""What instrumented kernels recorded in several parts of a session, as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType

from proton.model.in_kernel import (
    NO_PARENT,
    AccessSite,
    Change,
    HeatMap,
    RecordedKernel,
    Region,
    Value,
)


def merge_in_kernel(parts: Sequence[Sequence[RecordedKernel]]) -> tuple[RecordedKernel, ...]:
    """The kernels of all `parts`, each (kernel, context, mode, device, thinning) once.

    Counts, cycles and losses are summed; the least and the largest stay, quantiles only where one
    part alone has the region; of CTAs and of what recording changed the last part that knows it is
    taken.
    """
    found: dict[tuple[object, ...], list[RecordedKernel]] = {}
    for part in parts:
        for kernel in part:
            where = kernel.kernel, tuple(kernel.context)
            key = (*where, kernel.mode, kernel.device_id, kernel.every)
            found.setdefault(key, []).append(kernel)
    return tuple(_merge(alike) if len(alike) > 1 else alike[0] for alike in found.values())


def _merge(parts: Sequence[RecordedKernel]) -> RecordedKernel:
    last = parts[-1]
    losses: Counter[str] = Counter()
    for part in parts:
        losses.update(part.losses)
    return RecordedKernel(
        kernel=last.kernel,
        context=last.context,
        mode=last.mode,
        device_id=last.device_id,
        every=last.every,
        launches=sum(part.launches for part in parts),
        replays=sum(part.replays for part in parts),
        recorded_warps=sum(part.recorded_warps for part in parts),
        clock_ghz=_mean_clock(parts),
        record_cycles=max(part.record_cycles for part in parts),
        error_cycles=_most(part.error_cycles for part in parts),
        regions=_merge_regions(parts),
        ctas=next((part.ctas for part in reversed(parts) if part.ctas is not None), None),
        values=_merge_values(parts),
        accesses=_merge_accesses(parts),
        heat=_merge_heat(parts),
        uncovered=next((part.uncovered for part in reversed(parts) if part.uncovered), {}),
        losses=MappingProxyType(dict(losses)),
        changed=_last_changes(parts),
    )


def _last_changes(parts: Sequence[RecordedKernel]) -> Mapping[str, Change]:
    """The last ones with both sides, else the last."""
    given = [part.changed for part in reversed(parts) if part.changed]
    whole = (each for each in given if any(change.plain is not None for change in each.values()))
    return next(whole, given[0] if given else {})


def _mean_clock(parts: Sequence[RecordedKernel]) -> float | None:
    """The clock over all launches whose parts know it."""
    known = [(part.clock_ghz, max(part.launches, 1)) for part in parts if part.clock_ghz]
    weight = sum(launches for _, launches in known)
    return sum(clock * launches for clock, launches in known) / weight if weight else None


def _merge_regions(parts: Sequence[RecordedKernel]) -> tuple[Region, ...]:
    merged: list[Region] = []
    places: dict[Region, int] = {}
    for part in parts:
        here = {NO_PARENT: NO_PARENT}
        for first in range(len(part.regions)):
            for number in reversed(list(_path(part, first, here))):
                region = part.regions[number]
                region = replace(region, parent=here[region.parent])
                key = _place_of(region)
                place = places.setdefault(key, len(merged))
                if place == len(merged):
                    merged.append(region)
                else:
                    merged[place] = _add(merged[place], region)
                here[number] = place
    return tuple(merged)


def _place_of(region: Region) -> Region:
    """What a region is, whatever was measured of it."""
    return Region(
        region.name, region.file, region.line, region.kind, region.parent, every=region.every
    )


def _path(part: RecordedKernel, number: int, here: dict[int, int]) -> Iterable[int]:
    """`number` and the regions around it that are not placed yet."""
    while number not in here:
        yield number
        number = part.regions[number].parent


def _add(old: Region, new: Region) -> Region:
    if not (old.count and new.count):
        return old if old.count else new
    is_spread_same = (old.p10, old.p50, old.p90) == (new.p10, new.p50, new.p90)
    return replace(
        old,
        count=old.count + new.count,
        cycles=old.cycles + new.cycles,
        ns=None if old.ns is None or new.ns is None else old.ns + new.ns,
        p10=old.p10 if is_spread_same else None,
        p50=old.p50 if is_spread_same else None,
        p90=old.p90 if is_spread_same else None,
        min=_least((old.min, new.min)),
        max=_most((old.max, new.max)),
    )


def _merge_values(parts: Sequence[RecordedKernel]) -> tuple[Value, ...]:
    merged: dict[str, Value] = {}
    for value in (value for part in parts for value in part.values):
        old = merged.get(value.name)
        merged[value.name] = value if old is None else old + value
    return tuple(merged.values())


def _merge_accesses(parts: Sequence[RecordedKernel]) -> tuple[AccessSite, ...]:
    merged: dict[AccessSite, AccessSite] = {}
    for site in (site for part in parts for site in part.accesses):
        place = replace(site, accesses=0, bytes=0, first=(), first_of=0)
        old = merged.get(place, place)
        last = site if site.first else old
        merged[place] = replace(
            last, accesses=old.accesses + site.accesses, bytes=old.bytes + site.bytes
        )
    return tuple(merged.values())


def _merge_heat(parts: Sequence[RecordedKernel]) -> tuple[HeatMap, ...]:
    """Maps of equal bins are added; of others of one tensor both stay."""
    merged: dict[tuple[str, int], HeatMap] = {}
    for heat in (heat for part in parts for heat in part.heat):
        key = (heat.tensor, heat.bin_bytes)
        old = merged.get(key)
        merged[key] = heat if old is None else _add_heat(old, heat)
    return tuple(merged.values())


def _add_heat(old: HeatMap, new: HeatMap) -> HeatMap:
    is_known = len(old.byte_bins) == len(old.bins) and len(new.byte_bins) == len(new.bins)
    return HeatMap(
        old.tensor,
        old.bytes + new.bytes,
        old.accesses + new.accesses,
        old.bin_bytes,
        _add_bins(old.bins, new.bins),
        _add_bins(old.byte_bins, new.byte_bins) if is_known else (),
    )


def _add_bins(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip_longest(old, new, fillvalue=0))


def _least(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _most(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
