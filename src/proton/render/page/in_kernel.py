"""The in-kernel part: what instrumented kernels recorded, and the CTAs of launches of a trace."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from proton.analysis.cta_launches import cta_launches
from proton.analysis.regions import find_recorded, order_of, shares_of
from proton.analysis.source_lines import other_names
from proton.model.in_kernel import AccessSite, Ctas, HeatMap, RecordedKernel, Region, Value
from proton.model.profile import TreeProfile
from proton.render.display_names import display_name, printable
from proton.render.page.launches import ctas_texts, launches_object
from proton.render.page.pack import Columns
from proton.render.text.kernel_remarks import every_text, in_kernel_lines, marks_of, short_mark
from proton.render.text.memory_accesses import access_notes
from proton.render.text.region_tables import facts_of, notes_of
from proton.render.text.style import Style

_LARGEST_U32 = 2**32 - 1


def in_kernel_part(profile: TreeProfile, columns: Columns) -> dict[str, Any] | None:
    """Regions, CTAs, memory accesses and launches; None where no kernel recorded anything."""
    launches = [] if profile.trace is None else cta_launches(profile.trace)
    if not profile.in_kernel and not launches:
        return None
    rows: dict[int, list[int]] = {}
    for row, recorded in find_recorded(profile, profile.tree).kernels.items():
        for one in recorded:
            rows.setdefault(id(one), []).append(row)
    others = other_names(profile)
    ranked = sorted(profile.in_kernel, key=lambda kernel: -sum(r.cycles for r in kernel.regions))
    kernels = []
    for kernel in ranked:
        at = rows.get(id(kernel), [])
        names = (kernel.kernel, *others.get(kernel.kernel, ()))
        names += tuple(profile.tree.frames[row].name for row in at)
        found: dict[str, Any] = {"rows": at, "names": list(dict.fromkeys(names))}
        kernels.append(found | kernel_object(kernel, columns))
    return {
        "remarks": in_kernel_lines(profile, Style()),
        "kernels": kernels,
        **launches_object(launches, ranked, columns),
    }


def kernel_object(kernel: RecordedKernel, columns: Columns) -> dict[str, Any]:
    """What the terminal shows of one kernel, as numbers where people sort and compare."""
    shares = shares_of(kernel)
    asked_bytes = sum(site.bytes for site in kernel.accesses)
    return {
        "title": display_name(kernel.kernel),
        "context": [display_name(name) for name in kernel.context],
        "mode": kernel.mode,
        "facts": facts_of(kernel),
        "marks": marks_of(kernel),
        "mark": short_mark([kernel]),
        "regions": [
            _region(kernel.regions[number], depth, shares[number])
            for number, depth in order_of(kernel, None)
        ],
        "region_notes": notes_of(kernel) if kernel.regions else [],
        "error_cycles": kernel.error_cycles,
        "values": [_value(value) for value in kernel.values],
        "ctas": None if kernel.ctas is None else ctas_object(kernel.ctas),
        "accesses": [
            _access(site, asked_bytes) for site in sorted(kernel.accesses, key=lambda s: -s.bytes)
        ],
        "access_notes": access_notes(kernel) if kernel.accesses else [],
        "heat": [_heat(heat, columns) for heat in kernel.heat],
    }


def ctas_object(ctas: Ctas) -> dict[str, Any]:
    """The CTAs of one launch: numbers to draw, and what to say of them."""
    return asdict(ctas) | {"texts": ctas_texts(ctas)}


def _region(region: Region, depth: int, share: float | None) -> dict[str, Any]:
    is_moment = not region.cycles and region.kind in ("mark", "value")
    return {
        "name": printable(region.name) or '""',
        "file": region.file,
        "line": region.line,
        "kind": region.kind,
        "depth": depth,
        "count": region.count,
        "every": every_text(region),
        "cycles": None if is_moment else region.cycles,
        "share": share,
        "p10": region.p10,
        "p50": region.p50,
        "p90": region.p90,
        "min": region.min,
        "max": region.max,
        "mean_ns": None if region.ns is None or not region.count else region.ns / region.count,
    }


def _value(value: Value) -> dict[str, Any]:
    return {
        "name": printable(value.name),
        "count": value.count,
        "not_finite": value.not_finite,
        "mean": value.mean,
        "min": value.min,
        "max": value.max,
    }


def _access(site: AccessSite, whole: int) -> dict[str, Any]:
    return {
        "name": printable(site.name) or '""',
        "kind": site.kind,
        "file": site.file,
        "line": site.line,
        "tensor": site.tensor,
        "accesses": site.accesses,
        "bytes": site.bytes,
        "share": site.bytes / whole if whole else None,
    }


def _heat(heat: HeatMap, columns: Columns) -> dict[str, Any]:
    is_large = max(heat.bins, default=0) > _LARGEST_U32
    return {
        "tensor": printable(heat.tensor) or "tensor",
        "bytes": heat.bytes,
        "accesses": heat.accesses,
        "bin_bytes": heat.bin_bytes,
        "touched": sum(count > 0 for count in heat.bins),
        "bins": columns.add("f64" if is_large else "u32", heat.bins),
        "byte_bins": columns.add("f64", heat.byte_bins) if heat.byte_bins else None,
    }
