"""The launches of a trace with their CTAs and the regions of their warps, as columns of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proton.analysis.cta_launches import CtaLaunch
from proton.model.ctas import summarize_ctas
from proton.model.in_kernel import Ctas, RecordedKernel
from proton.render.display_names import display_name, printable
from proton.render.page.pack import Columns
from proton.render.text.waves import balance_text, counts_text, times_text
from proton.render.units import format_count

MOST_LAUNCHES = 200
MOST_CTAS = 500_000
MOST_REGIONS = 500_000  # passages of warps


def launches_object(
    launches: Sequence[CtaLaunch], kernels: Sequence[RecordedKernel], columns: Columns
) -> dict[str, Any]:
    """The launches that fit into a page, by start, and a line on those that do not."""
    kept = _kept(launches)
    left = len(launches) - len(kept)
    names: dict[str, int] = {}
    shown = [
        _launch(launches[at], _kernel_of(launches[at], kernels), has_regions, names, columns)
        for at, has_regions in kept
    ]
    remarks = []
    if left:
        remarks.append(f"{format_count(left)} more launches are not in the page; the file has them")
    if cut := sum(bool(launches[at].regions) and not has_regions for at, has_regions in kept):
        remarks.append(
            f"of {format_count(cut)} launches the page has no regions; the file has them"
        )
    return {
        "launches": shown,
        "launch_remarks": remarks,
        "region_names": [printable(name) or '""' for name in names],
    }


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
) -> dict[str, Any]:
    ctas = launch.ctas
    base = launch.start_ns
    summary = summarize_ctas(ctas)
    assert summary is not None  # a launch has CTAs
    name = launch.path[-1] if launch.path else ""  # a trace of others may not tell
    return {
        "name": name,
        "title": display_name(name),
        "context": [display_name(each) for each in launch.path[:-1]],
        "kernel": kernel,
        "rank": launch.owner.rank,
        "device": launch.owner.device,
        "start_ns": base,
        "duration_ns": launch.end_ns - base,
        "is_timed": launch.is_timed,
        "first_ns": min(one.start_ns for one in ctas) - base,
        "last_ns": max(one.end_ns for one in ctas) - base,
        "tail_ns": summary.tail_ns,
        "texts": ctas_texts(summary),
        "number": columns.add("u32", (one.number for one in ctas)),
        "sm": columns.add("u32", (one.sm for one in ctas)),
        "start": columns.add("f64", (one.start_ns - base for one in ctas)),
        "duration": columns.add("f64", (one.end_ns - one.start_ns for one in ctas)),
        "regions": _regions(launch, names, columns) if has_regions and launch.regions else None,
    }


def _regions(launch: CtaLaunch, names: dict[str, int], columns: Columns) -> dict[str, Any]:
    """The regions of each CTA, those of CTA n from `first[n]` up to `first[n + 1]`."""
    first, base = [0], launch.start_ns
    found = []
    for at in range(len(launch.ctas)):
        found += sorted(
            launch.regions.get(at, ()), key=lambda one: (one.warp, one.line, one.start_ns)
        )
        first.append(len(found))
    return {
        "first": columns.add("u32", first),
        "warp": columns.add("u16", (one.warp for one in found)),
        "line": columns.add("u16", (one.line for one in found)),
        "name": columns.add("u32", (names.setdefault(one.name, len(names)) for one in found)),
        "start": columns.add("f64", (one.start_ns - base for one in found)),
        "duration": columns.add("f64", (one.end_ns - one.start_ns for one in found)),
    }


def ctas_texts(ctas: Ctas) -> list[str]:
    """What is known of the CTAs of a launch: where they ran, how long, how evenly."""
    shares = [share for share in ctas.per_sm if share is not None]
    texts = (counts_text(ctas), times_text(ctas), balance_text(shares) if shares else "")
    return [text for text in texts if text]
