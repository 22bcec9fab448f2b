"""Regions of kernels in files of other tools, which have no summary of what kernels recorded.

Triton's own profiler writes them as contexts below their kernel, with cycles of all warps and per
warp, or as spans of warps in a trace. How often warps went through a region is only in a trace, in
which nothing is counted in cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from proton.analysis.cta_launches import CtaLaunch, WarpRegion, cta_launches
from proton.model.frame import FrameKind
from proton.model.in_kernel import NO_PARENT, RecordedKernel, Region
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

CYCLES = "cycles"
PER_WARP = "normalized_cycles"


def with_other_regions(profile: TreeProfile) -> TreeProfile:
    """`profile` with what its kernels recorded, where only contexts or spans tell of it."""
    if profile.in_kernel:
        return profile
    found = tuple(_in_tree(profile.tree))
    if not found and profile.trace is not None:
        found = tuple(_in_launches(cta_launches(profile.trace)))
    return replace(profile, in_kernel=found) if found else profile


def _in_tree(tree: Tree) -> Iterator[RecordedKernel]:
    """Kernels with regions below them, in the order of the tree."""
    kernels: dict[int, dict[int, int]] = {}  # row of a kernel -> row of a region -> its number
    for row, own in enumerate(tree.own):
        if _number(own.get(CYCLES)) is None or _number(own.get(PER_WARP)) is None:
            continue
        kernel = row
        while kernel > 0 and tree.frames[kernel].kind is not FrameKind.KERNEL:
            kernel = tree.parents[kernel]
        if 0 < kernel < row:
            regions = kernels.setdefault(kernel, {})
            regions[row] = len(regions)
    for kernel, rows in kernels.items():
        yield RecordedKernel(
            kernel=tree.frames[kernel].name,
            context=_path(tree, tree.parents[kernel]),
            recorded_warps=max(_warps(tree, row) for row in rows),
            regions=tuple(
                Region(
                    tree.frames[row].name,
                    parent=_above(tree, row, rows),
                    cycles=_number(tree.own[row][CYCLES]) or 0.0,
                )
                for row in rows
            ),
        )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and value >= 0 else None


def _warps(tree: Tree, row: int) -> int:
    """How many warps a launch had: cycles of all, by cycles of one."""
    own = tree.own[row]
    cycles, per_warp = _number(own[CYCLES]), _number(own[PER_WARP])
    return round(cycles / per_warp) if cycles and per_warp else 0


def _above(tree: Tree, row: int, rows: dict[int, int]) -> int:
    """The number of the region around that of `row`."""
    row = tree.parents[row]
    while row > 0 and row not in rows and tree.frames[row].kind is not FrameKind.KERNEL:
        row = tree.parents[row]
    return rows.get(row, NO_PARENT)


def _path(tree: Tree, row: int) -> tuple[str, ...]:
    names = []
    while row > 0:
        names.append(tree.frames[row].name)
        row = tree.parents[row]
    return tuple(reversed(names))


@dataclass(slots=True)
class _Sums:
    """The regions of one kernel in one context, over its launches."""

    launches: int = 0
    warps: int = 0
    regions: dict[tuple[str, ...], list[float]] = field(default_factory=dict)  # count, time


def _in_launches(launches: list[CtaLaunch]) -> Iterator[RecordedKernel]:
    kernels: dict[tuple[tuple[str, ...], int], _Sums] = {}
    for launch in launches:
        if not launch.path or not launch.regions:
            continue
        sums = kernels.setdefault((launch.path, launch.owner.device), _Sums())
        sums.launches += 1
        for passages in launch.regions.values():
            sums.warps += len({one.warp for one in passages})
            for path, passage in _nested(passages):
                found = sums.regions.setdefault(path, [0, 0.0])
                found[0] += 1
                found[1] += passage.end_ns - passage.start_ns
    for (path, device), sums in kernels.items():
        numbers = {region: number for number, region in enumerate(sums.regions)}
        yield RecordedKernel(
            kernel=path[-1],
            context=path[:-1],
            device_id=device,
            launches=sums.launches,
            recorded_warps=sums.warps,
            regions=tuple(
                Region(
                    region[-1],
                    parent=numbers.get(region[:-1], NO_PARENT),
                    count=int(count),
                    ns=time_ns,
                )
                for region, (count, time_ns) in sums.regions.items()
            ),
        )


def _nested(passages: list[WarpRegion]) -> Iterator[tuple[tuple[str, ...], WarpRegion]]:
    """Every passage with the names of the regions around it, its own last."""
    open_: list[WarpRegion] = []
    for one in sorted(passages, key=lambda p: (p.warp, p.line, p.start_ns, -p.end_ns)):
        while open_ and (
            (open_[-1].warp, open_[-1].line) != (one.warp, one.line)
            or open_[-1].end_ns <= one.start_ns
        ):
            open_.pop()
        open_.append(one)
        yield tuple(each.name for each in open_), one
