"""A bounded digest of a profile as plain objects, for scripts and assistants.

Keys are stable within a version of SCHEMA; docs/reference/digest.md lists them. Every list has a
most, names are cut, and what was left out is counted. What is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from proton.analysis.folding.work_groups import By, group_entries, group_rows, work_places
from proton.analysis.kernel_table import kernel_table
from proton.analysis.losses import losses_of
from proton.analysis.measurements import shown_values, whole_of
from proton.analysis.origins.join_rows import FoundOrigins, origins_by_name
from proton.analysis.reasons import explain
from proton.analysis.regions import order_of, shares_of
from proton.analysis.several_devices import device_totals
from proton.analysis.source_lines import Samples, is_sampled, samples_by_user_line, samples_in
from proton.analysis.spread import rank_at, times_metric
from proton.analysis.step_times import step_times
from proton.analysis.tuning_work import TuningCost, without_tuning
from proton.analysis.union_quantiles import is_estimated
from proton.analysis.whole_rates import whole_rates
from proton.model.frame import FrameKind
from proton.model.in_kernel import NO_PARENT, RecordedKernel
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS
from proton.model.profile import Profile, TreeProfile, kind_of
from proton.model.ranks import Rank, spread_of
from proton.model.tree import Tree
from proton.render.display_names import cut_middle, cut_names, display_name, shown_names
from proton.render.statement_places import statements_of
from proton.render.text.head import device_name, device_names
from proton.render.text.kernel_remarks import recording_remark
from proton.render.text.sample_texts import lost_samples

SCHEMA = "proton-digest/1"
MOST_ROWS = 20
MOST_TEXTS = 20
MOST_LETTERS = 300
MOST_FRAMES = 32
MOST_REASONS = 8
MOST_LINES = 10
MOST_KERNELS = 10
MOST_REGIONS = 10
MOST_ORIGINS = 8
_TIMES = ("time_ns", "share", "count", "avg_ns", "min_ns", "max_ns")
_RATES = ("flop_per_s", "byte_per_s", "share_of_peak", "bound", "headroom_ns")
Entry = dict[str, object]  # an object of the digest
_NAMED = (FrameKind.SCOPE, FrameKind.PYTHON, FrameKind.STATE, FrameKind.MODULE)


def digest_of(whole: TreeProfile, *, with_autotune: bool = False) -> dict[str, Any]:
    """The digest of a profile as `prepare` returns it; autotuning counts only where asked for."""
    profile, tuning = (whole, None) if with_autotune else without_tuning(whole)
    tree = profile.tree
    metric = next((name for name in (TIME_NS, CPU_TIME_NS) if _has(tree, name)), None)
    header = profile.header
    rows = [] if metric is None else _scope_rows(profile, tree, metric)
    shown = shown_names(frame.name for frame in whole.tree.frames)
    kernels = _kernel_rows(profile, shown) if metric == TIME_NS else []
    modules, operators = _groups(profile, "module"), _groups(profile, "op")
    return {
        "schema": SCHEMA,
        "source": profile.source,
        "session": cut(header.session),
        "command": [cut(word) for word in header.command[:MOST_FRAMES]],
        "host": cut(header.host),
        "mode": cut(header.mode),
        "recorded_as": "tree" if profile.trace is None else "trace",
        "start_time_ns": header.start_time_ns,
        "end_time_ns": header.end_time_ns,
        "device": device_names(profile),
        "devices": _devices(profile),
        "by_device": [asdict(total) for total in device_totals(profile)[:MOST_ROWS]],
        "is_interpreted": profile.is_interpreted,
        "time_metric": metric,
        "total": _total(profile, tree, metric),
        "kernels": kernels[:MOST_ROWS],
        "more_kernels": max(len(kernels) - MOST_ROWS, 0),
        "scopes": rows[:MOST_ROWS],
        "more_scopes": max(len(rows) - MOST_ROWS, 0),
        "modules": modules[:MOST_ROWS],
        "more_modules": max(len(modules) - MOST_ROWS, 0),
        "operators": operators[:MOST_ROWS],
        "more_operators": max(len(operators) - MOST_ROWS, 0),
        "ranks": _ranks(profile.ranks),
        "steps": _steps(profile),
        "samples": _samples(whole, whole.tree, shown),  # by kernel, whatever ran it
        "in_kernel": _in_kernel(profile),
        "autotuned": len(profile.autotune),
        "autotuning": tuning_entry(tuning),
        "losses": dict(list(losses_of(profile).items())[:MOST_TEXTS]),
        "says_losses": bool(header.proton_version),
        "warnings": [cut(text) for text in profile.warnings[:MOST_TEXTS]],
        "more_warnings": max(len(profile.warnings) - MOST_TEXTS, 0),
    }


def cut(text: str) -> str:
    """`text`, with its middle left out where it is very long."""
    return cut_middle(text, MOST_LETTERS)


def _has(tree: Tree, metric: str) -> bool:
    return whole_of(tree, metric) is not None


def _devices(profile: Profile) -> list[Entry]:
    return [
        {
            "type": device.device_type,
            "id": device.device_id,
            "name": None if device.name is None else cut(device.name),
            "shown": cut(device_name(device)),
            "arch": device.arch,
            "multiprocessors": device.num_sms,
        }
        for device in profile.devices[:MOST_ROWS]
    ]


def _total(profile: TreeProfile, tree: Tree, metric: str | None) -> Entry:
    time_ns = None if metric is None else whole_of(tree, metric)
    return {
        "time_ns": time_ns,
        "kernels": whole_of(tree, COUNT),
        "contexts": len(tree),
        **asdict(whole_rates(profile)),
    }


def tuning_entry(cost: TuningCost | None) -> Entry | None:
    """What autotuning took and the rest of the digest leaves out; None where that is nothing."""
    if cost is None:
        return None
    return {"time_ns": cost.time_ns, "share": cost.share, "kernels": cost.runs}


def _kernel_rows(profile: TreeProfile, shown: Mapping[str, str]) -> list[Entry]:
    """Kernels and copies by name, the longest first."""
    flat, kernels = kernel_table(profile)
    spreads = _rank_spreads(flat, flat.tree)
    origins = origins_by_name(profile)
    names = cut_names([shown[kernel.name] for kernel in kernels], MOST_LETTERS)
    return [
        {
            "name": cut(kernel.name),
            "shown": name,
            "kind": kernel.kind.name.lower(),
            **{key: getattr(kernel, key) for key in _TIMES},
            "p50_ns": None if kernel.p50_ns is None else kernel.p50_ns.value,
            "p99_ns": None if kernel.p99_ns is None else kernel.p99_ns.value,
            "estimated": [
                name
                for name, quantile in (("p50_ns", kernel.p50_ns), ("p99_ns", kernel.p99_ns))
                if quantile is not None and is_estimated(quantile)
            ],
            **{key: getattr(kernel, key) for key in _RATES},
            "remarks": [
                text for text in (kernel.peak_remark, recording_remark(kernel.recorded)) if text
            ],
            "ranks": spreads.get(kernel.row),
            "origins": _origins(origins.get(kernel.name)),
        }
        for name, kernel in zip(names, kernels, strict=True)
    ]


def _origins(found: FoundOrigins | None) -> Entry | None:
    """The lines that a kernel of torch.compile comes from; None where none is known."""
    if found is None:
        return None
    return {
        "lines": [
            {
                "file": cut(line.file),
                "line": line.line,
                "function": cut(line.function),
                "ops": [cut(op) for op in line.ops[:MOST_ORIGINS]],
                "nodes": [cut(node) for node in line.nodes[:MOST_ORIGINS]],
                "is_backward": line.is_backward,
            }
            for line in found.lines[:MOST_ORIGINS]
        ],
        "more_lines": max(len(found.lines) - MOST_ORIGINS, 0) + found.left_out,
        "is_united": found.is_united,
        "is_partial": found.is_partial,
    }


def _scope_rows(profile: TreeProfile, tree: Tree, metric: str) -> list[Entry]:
    """Scopes, states and Python frames by path, those with the most time first."""
    times = shown_values(tree, metric, kind_of(profile, metric))
    counts = shown_values(tree, COUNT, kind_of(profile, COUNT))
    whole = whole_of(tree, metric) or 0
    timed = [
        (time_ns, row)
        for row, time_ns in enumerate(times)
        if row and isinstance(time_ns, (int, float)) and tree.frames[row].kind in _NAMED
    ]
    timed.sort(key=lambda pair: (-pair[0], pair[1]))
    spreads = _rank_spreads(profile, tree)
    rows: list[Entry] = [
        {
            "path": _path(tree, row),
            "time_ns": time_ns,
            "share": time_ns / whole if whole else None,
            "kernels": counts[row],
            "ranks": spreads.get(row),
        }
        for time_ns, row in timed[:MOST_ROWS]
    ]
    return rows + [{}] * (len(timed) - len(rows))


def _groups(profile: TreeProfile, by: By) -> list[Entry]:
    """All work by module or operator, the most time first; nothing where none was recorded."""
    rows = group_rows(work_places(profile.tree), by)
    if not any(row.name for row in rows):
        return []
    entries = group_entries(rows)
    return [
        entry | {"name": None if not row.name else cut(row.name)}
        for entry, row in zip(entries, rows, strict=True)
    ]


def _path(tree: Tree, row: int) -> list[str]:
    names = [cut(name) for name in tree.path(row)]
    return names if len(names) <= MOST_FRAMES else ["...", *names[-MOST_FRAMES:]]


def _rank_spreads(profile: TreeProfile, tree: Tree) -> Mapping[int, Entry]:
    metric = times_metric(name for own in tree.own for name in own)
    if metric is None:
        return {}
    found: dict[int, Entry] = {}
    for row, value in enumerate(shown_values(tree, metric, kind_of(profile, metric))):
        if isinstance(value, tuple) and value:
            spread = spread_of(value)
            found[row] = {
                "min_ns": spread.least,
                "median_ns": spread.median,
                "max_ns": spread.largest,
                "slowest": rank_at(spread.slowest, profile.ranks),
            }
    return found


def _steps(profile: Profile) -> Entry | None:
    times = step_times(profile)
    if times is None:
        return None
    return {
        "count": times.count,
        "median_ns": times.median_ns,
        "p90_ns": times.p90_ns,
        "max_ns": times.largest_ns,
        "slowest": times.slowest,
        "slowest_rank": times.slowest_rank,
        "work_median_ns": times.work_median_ns,
    }


def _ranks(ranks: Sequence[Rank]) -> Entry | None:
    if not ranks:
        return None
    timed = [rank for rank in ranks if rank.time_ns is not None]
    slowest = sorted(timed, key=lambda rank: -(rank.time_ns or 0))[:8]
    spread = spread_of([float(rank.time_ns or 0) for rank in timed]) if timed else None
    return {
        "count": len(ranks),
        "min_ns": None if spread is None else spread.least,
        "median_ns": None if spread is None else spread.median,
        "max_ns": None if spread is None else spread.largest,
        "slowest": [
            {"rank": rank.rank, "host": cut(rank.host), "time_ns": rank.time_ns} for rank in slowest
        ],
    }


def _samples(profile: TreeProfile, tree: Tree, shown: Mapping[str, str]) -> Entry | None:
    """Why warps waited and on which lines; None where nothing was sampled."""
    if not is_sampled(profile):
        return None
    everything = Samples()
    for own in tree.own:
        one = samples_in(own)
        everything.count += one.count
        everything.latency += one.latency
        everything.reasons.update(one.reasons)
    lines = [
        (found, *place)
        for place, found in samples_by_user_line(profile, statements_of(profile)).items()
    ]
    lines.sort(key=lambda each: (-each[0].count, each[1], each[2]))
    sampling = profile.sampling
    return {
        "count": everything.count,
        "dropped": None if sampling is None else sampling.dropped,
        "non_user": None if sampling is None else lost_samples(profile, sampling)[2],
        "period_cycles": None if sampling is None else sampling.period_cycles,
        "reasons": [
            {
                "name": name,
                "samples": everything.reasons[name],
                "share": share,
                "meaning": explain(name).meaning,
                "remedy": explain(name).remedy,
            }
            for name, share in everything.top_reasons(MOST_REASONS)
        ],
        "lines": [_line(*each, everything.count, shown) for each in lines[:MOST_LINES]],
        "more_lines": max(len(lines) - MOST_LINES, 0),
    }


def _line(samples: Samples, file: str, line: int, whole: int, shown: Mapping[str, str]) -> Entry:
    kernel = max(samples.kernels, key=lambda name: samples.kernels[name], default="")
    return {
        "file": cut(file),
        "line": line or None,
        "kernel": cut(kernel),
        "shown": cut(shown.get(kernel) or display_name(kernel)),
        "samples": samples.count,
        "share": samples.count / whole if whole else None,
        "reasons": [{"name": name, "share": share} for name, share in samples.top_reasons(3)],
    }


def _in_kernel(profile: Profile) -> Entry | None:
    """What instrumented kernels recorded; None where none did."""
    if not profile.in_kernel:
        return None
    ranked = sorted(profile.in_kernel, key=lambda kernel: -_cycles(kernel))
    return {
        "kernels": [_kernel(kernel) for kernel in ranked[:MOST_KERNELS]],
        "more_kernels": max(len(ranked) - MOST_KERNELS, 0),
    }


def _cycles(kernel: RecordedKernel) -> float:
    return sum(region.cycles for region in kernel.regions if region.parent == NO_PARENT)


def _kernel(kernel: RecordedKernel) -> Entry:
    shares = shares_of(kernel)
    largest = sorted(range(len(kernel.regions)), key=lambda at: -kernel.regions[at].cycles)
    kept = set(largest[:MOST_REGIONS])
    regions = [
        {
            "name": cut(region.name),
            "kind": region.kind,
            "file": cut(region.file),
            "line": region.line or None,
            "depth": depth,
            "count": region.count,
            "every": region.every,
            "cycles": region.cycles,
            "share": shares[number],
            "p50_cycles": region.p50,
            "p90_cycles": region.p90,
        }
        for number, depth in order_of(kernel, None)
        for region in (kernel.regions[number],)
        if number in kept
    ]
    return {
        "kernel": cut(kernel.kernel),
        "context": [cut(name) for name in kernel.context[-MOST_FRAMES:]],
        "mode": kernel.mode,
        "every": kernel.every,
        "launches": kernel.launches,
        "replays": kernel.replays,
        "recorded_warps": kernel.recorded_warps,
        "error_cycles": kernel.error_cycles,
        "regions": regions,
        "more_regions": len(kernel.regions) - len(regions),
        "losses": {name: count for name, count in list(kernel.losses.items())[:20] if count},
        "harm": {name: list(change) for name, change in kernel.harm().items()},
    }
