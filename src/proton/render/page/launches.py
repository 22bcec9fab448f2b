"""The launches of a trace with their CTAs and the regions of their warps, as columns of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from proton.analysis.cta_launches import CtaLaunch
from proton.model.ctas import summarize_ctas
from proton.model.in_kernel import Ctas, RecordedKernel
from proton.render.display_names import display_name, printable
from proton.render.page.pack import ColumnId, Columns, record_of

MOST_LAUNCHES = 200
MOST_CTAS = 500_000
MOST_REGIONS = 500_000  # passages of warps


@dataclass(frozen=True, slots=True)
class BusyShares:
    """Shares of the time in which multiprocessors that ran something were busy."""

    mean: float
    median: float
    least: float
    largest: float


@dataclass(frozen=True, slots=True)
class CtaFacts:
    """The CTAs of one launch: where they ran, how long, how evenly; null: not known."""

    count: int
    sms: int
    waves: float | None
    length_ns: float | None  # from the first start to the last end
    p50_ns: float | None  # of how long a CTA ran
    p99_ns: float | None
    tail_ns: float | None
    busy: BusyShares | None


@dataclass(frozen=True, slots=True)
class PassageColumns:
    """Passages of warps through regions; those of CTA n from `first[n]` up to `first[n + 1]`."""

    first: ColumnId
    warp: ColumnId
    line: ColumnId
    name: ColumnId
    start: ColumnId
    duration: ColumnId


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch with a place in columns for each CTA, by start.

    `start_ns` is on the clock of the trace; all other times are from there on.
    """

    name: str
    title: str
    context: Sequence[str]
    kernel: int | None  # place of what its kernel recorded
    rank: int | None
    device: int
    start_ns: float
    duration_ns: float
    is_timed: bool  # the trace has the kernel itself
    first_ns: float
    last_ns: float
    ctas: CtaFacts
    number: ColumnId
    sm: ColumnId
    start: ColumnId
    duration: ColumnId
    regions: PassageColumns | None


@dataclass(frozen=True, slots=True)
class Launches:
    """The launches that fit into a page, by start, and how much of others does not."""

    shown: Sequence[Launch]
    left_out: int
    without_regions: int  # launches of which the page has no regions, but the file does
    region_names: Sequence[str]


def launches_of(
    launches: Sequence[CtaLaunch], kernels: Sequence[RecordedKernel], columns: Columns
) -> Launches:
    """What a page has of `launches`."""
    kept = _kept(launches)
    names: dict[str, int] = {}
    shown = [
        _launch(launches[at], _kernel_of(launches[at], kernels), has_regions, names, columns)
        for at, has_regions in kept
    ]
    return Launches(
        shown=shown,
        left_out=len(launches) - len(kept),
        without_regions=sum(
            bool(launches[at].regions) and not has_regions for at, has_regions in kept
        ),
        region_names=[printable(name) or '""' for name in names],
    )


def _kept(launches: Sequence[CtaLaunch]) -> list[tuple[int, bool]]:
    """Places of launches, and whether their regions fit: first one of each kernel, then more."""
    ordinals: dict[tuple[str, ...], int] = {}
    order = []
    for at, launch in enumerate(launches):
        ordinal = ordinals.get(launch.path, 0)
        ordinals[launch.path] = ordinal + 1
        order.append((ordinal, at))
    ctas = regions = 0
    kept: list[tuple[int, bool]] = []
    for _, at in sorted(order)[:MOST_LAUNCHES]:
        ctas += len(launches[at].ctas)
        if kept and ctas > MOST_CTAS:
            break
        count = sum(map(len, launches[at].regions.values()))
        has_regions = regions + count <= MOST_REGIONS
        regions += count if has_regions else 0
        kept.append((at, has_regions))
    return sorted(kept)


def _kernel_of(launch: CtaLaunch, kernels: Sequence[RecordedKernel]) -> int | None:
    """The place of what the kernel of a launch recorded in the same context."""
    wanted = (launch.path[:-1], launch.path[-1:])
    for place, kernel in enumerate(kernels):
        if (tuple(kernel.context), (kernel.kernel,)) == wanted:
            return place
    return None


def _launch(
    launch: CtaLaunch,
    kernel: int | None,
    has_regions: bool,
    names: dict[str, int],
    columns: Columns,
) -> Launch:
    ctas = launch.ctas
    base = launch.start_ns
    summary = summarize_ctas(ctas)
    assert summary is not None  # a launch has CTAs
    name = launch.path[-1] if launch.path else ""  # a trace of others may not tell
    return Launch(
        name=name,
        title=display_name(name),
        context=[display_name(part) for part in launch.path[:-1]],
        kernel=kernel,
        rank=launch.owner.rank,
        device=launch.owner.device,
        start_ns=base,
        duration_ns=launch.end_ns - base,
        is_timed=launch.is_timed,
        first_ns=min(one.start_ns for one in ctas) - base,
        last_ns=max(one.end_ns for one in ctas) - base,
        ctas=facts_of_ctas(summary),
        number=columns.add("u32", (one.number for one in ctas)),
        sm=columns.add("u32", (one.sm for one in ctas)),
        start=columns.add("f64", (one.start_ns - base for one in ctas)),
        duration=columns.add("f64", (one.end_ns - one.start_ns for one in ctas)),
        regions=_regions(launch, names, columns) if has_regions and launch.regions else None,
    )


def _regions(launch: CtaLaunch, names: dict[str, int], columns: Columns) -> PassageColumns:
    first, base = [0], launch.start_ns
    passages = []
    for at in range(len(launch.ctas)):
        passages += sorted(
            launch.regions.get(at, ()), key=lambda one: (one.warp, one.line, one.start_ns)
        )
        first.append(len(passages))
    return PassageColumns(
        first=columns.add("u32", first),
        warp=columns.add("u16", (one.warp for one in passages)),
        line=columns.add("u16", (one.line for one in passages)),
        name=columns.add("u32", (names.setdefault(one.name, len(names)) for one in passages)),
        start=columns.add("f64", (one.start_ns - base for one in passages)),
        duration=columns.add("f64", (one.end_ns - one.start_ns for one in passages)),
    )


def facts_of_ctas(ctas: Ctas) -> CtaFacts:
    """What is known of the CTAs of a launch."""
    shares = [share for share in ctas.per_sm if share is not None]
    length_ns = None
    if ctas.first_start_ns is not None and ctas.last_end_ns is not None:
        length_ns = max(ctas.last_end_ns - ctas.first_start_ns, 0.0)
    return record_of(
        CtaFacts,
        ctas,
        length_ns=length_ns,
        busy=BusyShares(fmean(shares), median(shares), min(shares), max(shares))
        if shares
        else None,
    )
