"""What instrumented kernels recorded in several parts of a session, as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from proton.model.in_kernel import (
    NO_PARENT,
    AccessSite,
    Change,
    HeatMap,
    RecordedKernel,
    Region,
    Value,
)
from proton.model.schema import identity, merge_records


def merge_in_kernel(parts: Sequence[Sequence[RecordedKernel]]) -> tuple[RecordedKernel, ...]:
    """The kernels of all `parts`, each (kernel, context, mode, device, thinning) once.

    The fields say how they are merged: most are summed, quantiles stay only where one part alone
    has the region, and the last part that knows CTAs or changes gives them. Here is the rest.
    """
    groups: dict[tuple[object, ...], list[RecordedKernel]] = {}
    for part in parts:
        for kernel in part:
            groups.setdefault(identity(kernel), []).append(kernel)
    return tuple(_merge(alike) if len(alike) > 1 else alike[0] for alike in groups.values())


def _merge(parts: Sequence[RecordedKernel]) -> RecordedKernel:
    return merge_records(
        parts,
        clock_ghz=_mean_clock(parts),
        regions=_merge_regions(parts),
        values=_merge_values(parts),
        accesses=_merge_accesses(parts),
        heat=_merge_heat(parts),
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
    places: dict[tuple[object, ...], int] = {}
    for part in parts:
        here = {NO_PARENT: NO_PARENT}
        for first in range(len(part.regions)):
            for number in reversed(list(_path(part, first, here))):
                region = part.regions[number]
                region = replace(region, parent=here[region.parent])
                place = places.setdefault(identity(region), len(merged))
                if place == len(merged):
                    merged.append(region)
                else:
                    merged[place] = _add(merged[place], region)
                here[number] = place
    return tuple(merged)


def _path(part: RecordedKernel, number: int, here: dict[int, int]) -> Iterable[int]:
    """`number` and the regions around it that are not placed yet."""
    while number not in here:
        yield number
        number = part.regions[number].parent


def _add(old: Region, new: Region) -> Region:
    if not (old.count and new.count):
        return old if old.count else new
    merged = merge_records((old, new))
    spread = merged.p10, merged.p50, merged.p90
    if spread == (old.p10, old.p50, old.p90):
        return merged
    return replace(merged, p10=None, p50=None, p90=None)


def _merge_values(parts: Sequence[RecordedKernel]) -> tuple[Value, ...]:
    merged: dict[str, Value] = {}
    for value in (value for part in parts for value in part.values):
        old = merged.get(value.name)
        merged[value.name] = value if old is None else old + value
    return tuple(merged.values())


def _merge_accesses(parts: Sequence[RecordedKernel]) -> tuple[AccessSite, ...]:
    merged: dict[tuple[object, ...], AccessSite] = {}
    for site in (site for part in parts for site in part.accesses):
        old = merged.get(place := identity(site))
        last = site if site.first or old is None else old
        both = (site,) if old is None else (old, site)
        merged[place] = merge_records(both, first=last.first, first_of=last.first_of)
    return tuple(merged.values())


def _merge_heat(parts: Sequence[RecordedKernel]) -> tuple[HeatMap, ...]:
    """Maps of equal bins are added; of others of one tensor both stay."""
    merged: dict[tuple[object, ...], HeatMap] = {}
    for heat in (heat for part in parts for heat in part.heat):
        old = merged.get(place := identity(heat))
        merged[place] = heat if old is None else _add_heat(old, heat)
    return tuple(merged.values())


def _add_heat(old: HeatMap, new: HeatMap) -> HeatMap:
    is_known = len(old.byte_bins) == len(old.bins) and len(new.byte_bins) == len(new.bins)
    return merge_records(
        (old, new),
        bins=_add_bins(old.bins, new.bins),
        byte_bins=_add_bins(old.byte_bins, new.byte_bins) if is_known else (),
    )


def _add_bins(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip_longest(old, new, fillvalue=0))
