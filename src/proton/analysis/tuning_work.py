"""Autotuning is not the program: which work only chose configurations, how much, and all but it.

Views leave it out of totals, lists of kernels and rooflines unless they are asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from proton.analysis.measurements import whole_of
from proton.analysis.select import Mask, everything, subtree
from proton.model.metric import COUNT, EMPTY, TIME_NS
from proton.model.profile import TreeProfile
from proton.model.trace import Flow, Trace
from proton.model.tree import Tree

TUNING_SCOPE = "<autotune>"

# Our scope around the tries of an autotuner; in profiles with Python frames also the functions of
# Triton's autotuner and of torch.compile that run a kernel only to see how long it takes.
_TUNING = re.compile(
    rf"{TUNING_SCOPE}"
    r"|(?:.*/)?triton/runtime/autotuner\.py:\d+@(?:_bench|benchmark)"
    r"|(?:.*/)?torch/_inductor/.+:\d+@(?:do_)?(?:bench|autotune)\w*"
)


class TuningCost(NamedTuple):
    """What autotuning took of a profile's GPU time; `runs` is of kernels, None: not known."""

    time_ns: float
    share: float  # of the whole profile, 0 to 1
    runs: float | None


class WithoutTuning(NamedTuple):
    """A profile without its autotuning, and what that took; None where nothing was left out."""

    profile: TreeProfile
    cost: TuningCost | None


@cache
def is_tuning(name: str) -> bool:
    """Whether all work below a frame of this name was done to choose a configuration."""
    return _TUNING.fullmatch(name) is not None


def tuning_ranges(tree: Tree) -> list[tuple[int, int]]:
    """The rows of autotuning: the first row of each part, and one past its last."""
    if not any(is_tuning(name) for name in {frame.name for frame in tree.frames}):
        return []
    ends = tree.ends()
    found: list[tuple[int, int]] = []
    for row, frame in enumerate(tree.frames):
        if is_tuning(frame.name) and not (found and row < found[-1][1]):
            found.append((row, ends[row]))
    return found


def without_tuning(profile: TreeProfile) -> WithoutTuning:
    """The profile with its autotuning taken out, in the same rows: those of autotuning are empty.

    Where nothing else took time, autotuning is all there is to show, and it stays.
    """
    tree = profile.tree
    ranges = tuning_ranges(tree)
    whole_ns = whole_of(tree, TIME_NS)
    if not ranges or not whole_ns:
        return WithoutTuning(profile, None)
    tuned = _inside(tree, ranges)
    spent_ns = _sum_of(tree, TIME_NS, tuned) or 0.0
    if spent_ns >= whole_ns:
        return WithoutTuning(profile, None)
    kept = Tree(
        frames=tree.frames,
        parents=tree.parents,
        own=[EMPTY if hidden else own for own, hidden in zip(tree.own, tuned, strict=True)],
        details={row: detail for row, detail in tree.details.items() if not tuned[row]},
        entries={row: count for row, count in tree.entries.items() if not tuned[row]},
    )
    trace = None if profile.trace is None else _trace_without(profile.trace)
    cost = TuningCost(spent_ns, spent_ns / whole_ns, _sum_of(tree, COUNT, tuned))
    return WithoutTuning(replace(profile, tree=kept, trace=trace), cost)


def drop_tuning(profile: TreeProfile) -> WithoutTuning:
    """Like `without_tuning`, and the rows of autotuning are gone too."""
    found = without_tuning(profile)
    if found.cost is None:
        return found
    tree = found.profile.tree
    kept = everything(tree)
    for first, end in tuning_ranges(tree):
        kept[first:end] = bytes(end - first)
    return found._replace(profile=replace(found.profile, tree=subtree(tree, kept)))


def _inside(tree: Tree, ranges: Iterable[tuple[int, int]]) -> Mask:
    mask = bytearray(len(tree))
    for first, end in ranges:
        mask[first:end] = b"\x01" * (end - first)
    return mask


def _sum_of(tree: Tree, metric: str, mask: Mask) -> float | None:
    numbers = tree.own_numbers(metric)
    found = [
        value for value, taken in zip(numbers, mask, strict=True) if taken and value is not None
    ]
    return sum(found) if found else None


def _trace_without(trace: Trace) -> Trace:
    """The trace without the spans of autotuning."""
    paths: dict[tuple[str, ...], bool] = {}
    kept: list[int] = []
    for at, span in enumerate(trace.spans):
        path = span.path or (span.name,)
        hidden = paths.get(path)
        if hidden is None:
            hidden = paths[path] = any(map(is_tuning, path))
        if not hidden:
            kept.append(at)
    moved = {before: after for after, before in enumerate(kept)}
    return replace(
        trace,
        spans=[trace.spans[at] for at in kept],
        flows=[
            Flow(moved[source], moved[target])
            for source, target in trace.flows
            if source in moved and target in moved
        ],
    )
