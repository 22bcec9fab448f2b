"""A bounded digest of a profile as plain objects, for scripts and assistants.

Keys are stable within a version of SCHEMA; docs/reference/digest.md lists them. Every list has a
most, names are cut, and what was left out is counted. What is not known is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from proton.analysis.aggregate import merge_by_name
from proton.analysis.derive import rates_of
from proton.analysis.measurements import shown_values, total_of, whole_of
from proton.analysis.reasons import explain
from proton.analysis.regions import order_of, shares_of
from proton.analysis.select import everything
from proton.analysis.source_lines import Samples, is_sampled, samples_by_file, samples_in
from proton.analysis.spread import rank_at, times_metric
from proton.model.frame import FrameKind
from proton.model.in_kernel import NO_PARENT, RecordedKernel
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS
from proton.model.profile import Profile, TreeProfile, kind_of
from proton.model.ranks import Rank, spread_of
from proton.model.tree import Tree
from proton.render.display_names import cut_middle

SCHEMA = "proton-digest/1"
MOST_ROWS = 20
MOST_TEXTS = 20
MOST_LETTERS = 300
MOST_FRAMES = 32
MOST_REASONS = 8
MOST_LINES = 10
MOST_KERNELS = 10
MOST_REGIONS = 10
_RATES = ("flop_per_s", "byte_per_s", "share_of_peak", "bound")
Entry = dict[str, object]  # an object of the digest
_NAMED = (FrameKind.SCOPE, FrameKind.PYTHON, FrameKind.STATE)


def digest_of(profile: TreeProfile) -> dict[str, Any]:
    """The digest of `profile`, as `prepare` returns it."""
    tree = profile.tree
    metric = next((name for name in (TIME_NS, CPU_TIME_NS) if _has(tree, name)), None)
    header = profile.header
    rows = [] if metric is None else _scope_rows(profile, tree, metric)
    kernels = _kernel_rows(profile) if metric == TIME_NS else []
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
        "devices": _devices(profile),
        "is_interpreted": profile.is_interpreted,
        "time_metric": metric,
        "total": _total(profile, tree, metric),
        "kernels": kernels[:MOST_ROWS],
        "more_kernels": max(len(kernels) - MOST_ROWS, 0),
        "scopes": rows[:MOST_ROWS],
        "more_scopes": max(len(rows) - MOST_ROWS, 0),
        "ranks": _ranks(profile.ranks),
        "samples": _samples(profile, tree),
        "in_kernel": _in_kernel(profile),
        "autotuned": len(profile.autotune),
        "losses": dict(list(profile.losses.items())[:MOST_TEXTS]),
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
            "arch": device.arch,
            "multiprocessors": device.num_sms,
        }
        for device in profile.devices[:MOST_ROWS]
    ]


def _total(profile: TreeProfile, tree: Tree, metric: str | None) -> Entry:
    time_ns = None
    if metric is not None:
        kind = kind_of(profile, metric)
        time_ns = total_of(shown_values(tree, metric, kind), kind)
    rates = rates_of(profile)
    return {
        "time_ns": time_ns,
        "kernels": whole_of(tree, COUNT),
        "contexts": len(tree),
        **{key: rates[key][0] for key in _RATES},
    }


def _kernel_rows(profile: TreeProfile) -> list[Entry]:
    """Kernels and copies by name, the longest first."""
    whole = whole_of(profile.tree, TIME_NS) or 0
    mask = everything(profile.tree)
    flat = merge_by_name(profile, TIME_NS, mask, partial(kind_of, profile))
    tree = flat.tree
    rates = rates_of(flat)
    spreads = _rank_spreads(flat, tree)
    found: list[tuple[float, Entry]] = []
    for row in range(1, len(tree)):
        own, detail = tree.own[row], tree.details.get(row)
        time_ns, count = own.get(TIME_NS), own.get(COUNT)
        if not isinstance(time_ns, (int, float)):
            continue
        average = time_ns / count if isinstance(count, (int, float)) and count else None
        entry: Entry = {
            "name": cut(tree.frames[row].name),
            "kind": tree.frames[row].kind.name.lower(),
            "time_ns": time_ns,
            "share": time_ns / whole if whole else None,
            "count": count,
            "avg_ns": average,
            "min_ns": None if detail is None else detail.min_ns,
            "p50_ns": None if detail is None else detail.p50_ns,
            "p99_ns": None if detail is None else detail.p99_ns,
            "max_ns": None if detail is None else detail.max_ns,
            **{key: rates[key][row] for key in _RATES},
            "ranks": spreads.get(row),
        }
        found.append((time_ns, entry))
    return [entry for _, entry in sorted(found, key=lambda pair: -pair[0])]


def _scope_rows(profile: TreeProfile, tree: Tree, metric: str) -> list[Entry]:
    """Scopes, states and Python frames by path, those with the most time first."""
    times = shown_values(tree, metric, kind_of(profile, metric))
    counts = shown_values(tree, COUNT, kind_of(profile, COUNT))
    whole = total_of(times, kind_of(profile, metric)) or 0
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


def _samples(profile: TreeProfile, tree: Tree) -> Entry | None:
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
        (samples, file, line)
        for file, by_line in samples_by_file(profile).items()
        for line, samples in by_line.items()
    ]
    lines.sort(key=lambda each: (-each[0].count, each[1], each[2]))
    sampling = profile.sampling
    return {
        "count": everything.count,
        "dropped": None if sampling is None else sampling.dropped,
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
        "lines": [_line(*each, whole=everything.count) for each in lines[:MOST_LINES]],
        "more_lines": max(len(lines) - MOST_LINES, 0),
    }


def _line(samples: Samples, file: str, line: int, whole: int) -> Entry:
    kernel = max(samples.kernels, key=lambda name: samples.kernels[name], default="")
    return {
        "file": cut(file),
        "line": line or None,
        "kernel": cut(kernel),
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
