"""Recorded regions of instrumented kernels: their order, their shares, and their rows in a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from proton.analysis.several_devices import of_device
from proton.analysis.source_lines import symbol_of
from proton.model.frame import FrameKind
from proton.model.in_kernel import NO_PARENT, RecordedKernel, Region
from proton.model.profile import Profile
from proton.model.tree import Steps, Tree, row_at

EVENT = "event"  # asynchronous: it overlaps the regions around it
CAPTURED_AT = "<captured_at>"  # below a replay of a graph: what follows is where it was captured


def shares_of(kernel: RecordedKernel) -> list[float | None]:
    """The share of each region's cycles in those of the outermost regions; None without cycles.

    Events are no part of a whole: they have shares only where a kernel recorded nothing else. Where
    nothing was counted in cycles, shares are of time.
    """
    costs = [region.cycles for region in kernel.regions]
    if not any(costs):
        costs = [region.ns or 0.0 for region in kernel.regions]
    pairs = list(zip(kernel.regions, costs, strict=True))
    counted = [pair for pair in pairs if pair[0].kind != EVENT and pair[1]]
    has_only_events = not counted
    whole = sum(
        cost
        for region, cost in (pairs if has_only_events else counted)
        if region.parent == NO_PARENT
    )
    return [
        cost / whole if whole and cost and (has_only_events or region.kind != EVENT) else None
        for region, cost in pairs
    ]


def has_sums_only(kernel: RecordedKernel) -> bool:
    """Whether a file has the cycles of regions, but not how often warps went through them."""
    return any(one.cycles for one in kernel.regions) and not any(
        one.count for one in kernel.regions
    )


def per_warp(kernel: RecordedKernel, region: Region) -> float | None:
    """Cycles of a region by warp, where a file tells no more of how they spread; else None."""
    if not has_sums_only(kernel) or not kernel.recorded_warps:
        return None
    return region.cycles / kernel.recorded_warps


def by_cycles(kernels: Iterable[RecordedKernel]) -> list[RecordedKernel]:
    """Kernels with the most cycles in their regions first."""
    return sorted(kernels, key=lambda kernel: -sum(region.cycles for region in kernel.regions))


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


class RegionRow(NamedTuple):
    """A context that is a region."""

    region: Region
    share: float | None  # of the outermost regions of its kernel
    kernel_row: int
    depth: int  # below the outermost regions


class RecordedRows(NamedTuple):
    """What is known of the rows of a tree."""

    kernels: dict[int, list[RecordedKernel]]
    regions: dict[int, RegionRow]


def find_recorded(profile: Profile, tree: Tree) -> RecordedRows:
    """The rows of `tree`, that of `profile` or a part of it, whose kernels recorded."""
    found = RecordedRows({}, {})
    if not profile.in_kernel:
        return found
    children = dict(tree.steps())
    for row, frame in enumerate(tree.frames):
        if frame.kind is FrameKind.KERNEL:
            children.setdefault((tree.parents[row], symbol_of(tree, row)), row)
    captures = capture_rows(tree)
    for kernel in profile.in_kernel:
        for start in captures if is_captured(kernel) else [0]:
            at = row_at(children, (*kernel.context, kernel.kernel), start)
            if at is not None:
                at = of_device(tree, at, kernel.device_id)
                found.kernels.setdefault(at, []).append(kernel)
                _add_regions(kernel, at, children, found.regions)
    return found


def is_captured(kernel: RecordedKernel) -> bool:
    """Whether a kernel knows where it was captured, but not in which replays it ran."""
    return tuple(kernel.context[:1]) == (CAPTURED_AT,)


def capture_rows(tree: Tree) -> list[int]:
    """The rows that contexts of captured kernels begin at: replays of graphs."""
    return [tree.parents[row] for row, f in enumerate(tree.frames) if f.name == CAPTURED_AT]


def _add_regions(
    kernel: RecordedKernel,
    kernel_row: int,
    children: Steps,
    regions: dict[int, RegionRow],
) -> None:
    shares = shares_of(kernel)
    rows = {NO_PARENT: kernel_row}
    depths = {kernel_row: -1}
    for number, _ in order_of(kernel, None):
        region = kernel.regions[number]
        above = rows.get(region.parent, kernel_row)
        row = children.get((above, region.name))
        if row is None:  # asynchronous events stand below the kernel
            above, row = kernel_row, children.get((kernel_row, region.name))
        if row is not None:
            rows[number] = row
            depths[row] = depths[above] + 1
            regions.setdefault(row, RegionRow(region, shares[number], kernel_row, depths[row]))
