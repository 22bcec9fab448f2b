"""Regions of an instrumented kernel: in which order they are read, and what share each has."""

from __future__ import annotations

from proton.model.in_kernel import NO_PARENT, RecordedKernel

EVENT = "event"  # asynchronous: it overlaps the regions around it


def shares_of(kernel: RecordedKernel) -> list[float | None]:
    """The share of each region's cycles in those of the outermost regions; None without cycles.

    Events are no part of a whole: they have shares only where a kernel recorded nothing else.
    """
    counted = [region for region in kernel.regions if region.kind != EVENT and region.cycles]
    has_only_events = not counted
    whole = sum(
        region.cycles
        for region in (kernel.regions if has_only_events else counted)
        if region.parent == NO_PARENT
    )
    return [
        region.cycles / whole
        if whole and region.cycles and (has_only_events or region.kind != EVENT)
        else None
        for region in kernel.regions
    ]


def order_of(kernel: RecordedKernel, most: int | None) -> list[tuple[int, int]]:
    """Numbers and depths of regions: children behind their parent, in the order of the file.

    With `most` only so many of the largest, and those around them.
    """
    regions = kernel.regions
    kept = set(range(len(regions)))
    if most is not None and len(regions) > most:
        largest = sorted(kept, key=lambda number: -regions[number].cycles)[:most]
        kept = set()
        for number in largest:
            while number != NO_PARENT and number not in kept:
                kept.add(number)
                number = regions[number].parent
    children: dict[int, list[int]] = {}
    for number in sorted(kept):
        children.setdefault(regions[number].parent, []).append(number)
    order: list[tuple[int, int]] = []
    pending = [(number, 0) for number in reversed(children.get(NO_PARENT, []))]
    while pending:
        number, depth = pending.pop()
        order.append((number, depth))
        pending += [(child, depth + 1) for child in reversed(children.get(number, []))]
    return order
