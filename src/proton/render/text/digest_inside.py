"""The parts of a digest that look into kernels: samples with reasons, and recorded regions."""

from __future__ import annotations

from typing import Any

from proton.analysis.reasons import explain
from proton.analysis.region_shares import order_of, shares_of
from proton.analysis.source_lines import Samples, is_sampled, samples_by_file, samples_in
from proton.model.in_kernel import NO_PARENT, RecordedKernel
from proton.model.profile import Profile, TreeProfile
from proton.model.tree import Tree
from proton.render.display_names import cut_middle

MOST_REASONS = 8
MOST_LINES = 10
MOST_KERNELS = 10
MOST_REGIONS = 10
_LETTERS = 300


def samples_part(profile: TreeProfile, tree: Tree) -> dict[str, Any] | None:
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


def _line(samples: Samples, file: str, line: int, whole: int) -> dict[str, Any]:
    kernel = max(samples.kernels, key=lambda name: samples.kernels[name], default="")
    return {
        "file": cut_middle(file, _LETTERS),
        "line": line or None,
        "kernel": cut_middle(kernel, _LETTERS),
        "samples": samples.count,
        "share": samples.count / whole if whole else None,
        "reasons": [{"name": name, "share": share} for name, share in samples.top_reasons(3)],
    }


def in_kernel_part(profile: Profile) -> dict[str, Any] | None:
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


def _kernel(kernel: RecordedKernel) -> dict[str, Any]:
    shares = shares_of(kernel)
    largest = sorted(range(len(kernel.regions)), key=lambda at: -kernel.regions[at].cycles)
    kept = set(largest[:MOST_REGIONS])
    regions = [
        {
            "name": cut_middle(region.name, _LETTERS),
            "kind": region.kind,
            "file": cut_middle(region.file, _LETTERS),
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
        "kernel": cut_middle(kernel.kernel, _LETTERS),
        "context": [cut_middle(name, _LETTERS) for name in kernel.context[-32:]],
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
