"""The in-kernel part: what instrumented kernels recorded, and the CTAs of launches of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.cta_launches import cta_launches
from proton.analysis.other_regions import with_other_regions
from proton.analysis.regions import (
    by_cycles,
    find_recorded,
    has_sums_only,
    order_of,
    per_warp,
    shares_of,
)
from proton.analysis.source_lines import other_names
from proton.model.in_kernel import AccessSite, HeatMap, RecordedKernel, Region, Value
from proton.model.profile import TreeProfile
from proton.render.display_names import display_name, printable
from proton.render.page.launches import CtaFacts, Launches, facts_of_ctas, launches_of
from proton.render.page.pack import ColumnId, Columns, record_of
from proton.render.text.kernel_remarks import every_text, marks_of, short_mark
from proton.render.text.memory_accesses import access_notes
from proton.render.text.region_tables import facts_of, has_cycles, notes_of

_LARGEST_U32 = 2**32 - 1


@dataclass(frozen=True, slots=True)
class RegionRow:
    """One region. Quantiles and extremes are of one passage, in cycles; null: not known.

    `per_warp` is told in place of them where a file has nothing but sums.
    """

    name: str
    file: str
    line: int
    kind: str  # scope, op, loop, mma, wait, event, mark, ...
    depth: int
    count: int | None
    every: str  # `1 of 4 iterations`; empty: all of them
    cycles: float | None
    share: float | None
    p10: float | None
    p50: float | None
    p90: float | None
    min: float | None
    max: float | None
    mean_ns: float | None
    per_warp: float | None


@dataclass(frozen=True, slots=True)
class ValueRow:
    """Numbers that a kernel recorded under one name; mean and extremes are of the finite ones."""

    name: str
    count: int
    not_finite: int
    mean: float | None
    min: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class AccessRow:
    """One place that reads or writes global memory."""

    name: str
    kind: str
    file: str
    line: int
    tensor: str
    accesses: int
    bytes: int
    share: float | None


@dataclass(frozen=True, slots=True)
class HeatColumns:
    """Accesses to one tensor by address: counts, and the bytes that those moved where known."""

    tensor: str
    bytes: int
    accesses: int
    bin_bytes: int
    touched: int  # bins with at least one access
    bins: ColumnId
    byte_bins: ColumnId | None


@dataclass(frozen=True, slots=True)
class LastCtas:
    """The CTAs of the last launch that was read, where only sums of them are known."""

    facts: CtaFacts
    per_sm: Sequence[float | None]  # busy share by multiprocessor; null: ran nothing
    active: Sequence[float]  # CTAs that ran, in equal parts of the time


@dataclass(frozen=True, slots=True)
class KernelRecords:
    """What one kernel recorded in one context and mode."""

    rows: Sequence[int]  # contexts in the tree
    names: Sequence[str]  # that the kernel has in the file, its symbol first
    title: str
    context: Sequence[str]
    mode: str
    facts: Sequence[str]
    marks: Sequence[str]  # what to beware of in its numbers
    mark: str  # the same in a few words: `(! spills)`
    regions: Sequence[RegionRow]
    region_notes: Sequence[str]
    error_cycles: float | None
    values: Sequence[ValueRow]
    ctas: LastCtas | None
    accesses: Sequence[AccessRow]
    access_notes: Sequence[str]
    heat: Sequence[HeatColumns]


@dataclass(frozen=True, slots=True)
class InKernelPart:
    """Kernels by cycles, and the launches of a trace whose CTAs are known."""

    kernels: Sequence[KernelRecords]
    launches: Launches


def in_kernel_part(profile: TreeProfile, columns: Columns) -> InKernelPart | None:
    """Regions, CTAs, memory accesses and launches; None where no kernel recorded anything."""
    profile = with_other_regions(profile)
    launches = [] if profile.trace is None else cta_launches(profile.trace)
    tree = profile.tree
    if not profile.in_kernel and not launches:
        return None
    rows: dict[int, list[int]] = {}
    for row, recorded in find_recorded(profile, tree).kernels.items():
        for one in recorded:
            rows.setdefault(id(one), []).append(row)
    others = other_names(profile)
    ranked = by_cycles(profile.in_kernel)
    kernels = []
    for kernel in ranked:
        at = rows.get(id(kernel), [])
        names = (kernel.kernel, *others.get(kernel.kernel, ()))
        names += tuple(tree.frames[row].name for row in at)
        kernels.append(kernel_records(kernel, at, list(dict.fromkeys(names)), columns))
    return InKernelPart(kernels, launches_of(launches, ranked, columns))


def kernel_records(
    kernel: RecordedKernel, rows: Sequence[int], names: Sequence[str], columns: Columns
) -> KernelRecords:
    """What the terminal shows of one kernel, as numbers where people sort and compare."""
    shares = shares_of(kernel)
    asked_bytes = sum(site.bytes for site in kernel.accesses)
    ctas = kernel.ctas
    return KernelRecords(
        rows=rows,
        names=names,
        title=display_name(kernel.kernel),
        context=[display_name(name) for name in kernel.context],
        mode=kernel.mode,
        facts=facts_of(kernel),
        marks=marks_of(kernel),
        mark=short_mark([kernel]),
        regions=[
            _region(kernel, kernel.regions[number], depth, shares[number])
            for number, depth in order_of(kernel, None)
        ],
        region_notes=notes_of(kernel) if kernel.regions else [],
        error_cycles=kernel.error_cycles,
        values=[_value(value) for value in kernel.values],
        ctas=None if ctas is None else LastCtas(facts_of_ctas(ctas), ctas.per_sm, ctas.active),
        accesses=[
            _access(site, asked_bytes) for site in sorted(kernel.accesses, key=lambda s: -s.bytes)
        ],
        access_notes=access_notes(kernel) if kernel.accesses else [],
        heat=[_heat(heat, columns) for heat in kernel.heat],
    )


def _region(kernel: RecordedKernel, region: Region, depth: int, share: float | None) -> RegionRow:
    return record_of(
        RegionRow,
        region,
        name=printable(region.name) or '""',
        depth=depth,
        every=every_text(region),
        count=None if has_sums_only(kernel) else region.count,
        cycles=region.cycles if has_cycles(kernel, region) else None,
        share=share,
        mean_ns=None if region.ns is None or not region.count else region.ns / region.count,
        per_warp=per_warp(kernel, region),
    )


def _value(value: Value) -> ValueRow:
    return record_of(
        ValueRow,
        value,
        name=printable(value.name),
    )


def _access(site: AccessSite, whole: int) -> AccessRow:
    return record_of(
        AccessRow,
        site,
        name=printable(site.name) or '""',
        share=site.bytes / whole if whole else None,
    )


def _heat(heat: HeatMap, columns: Columns) -> HeatColumns:
    is_large = max(heat.bins, default=0) > _LARGEST_U32
    return record_of(
        HeatColumns,
        heat,
        tensor=printable(heat.tensor) or "tensor",
        touched=sum(count > 0 for count in heat.bins),
        bins=columns.add("f64" if is_large else "u32", heat.bins),
        byte_bins=columns.add("f64", heat.byte_bins) if heat.byte_bins else None,
    )
