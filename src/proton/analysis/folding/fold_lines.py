"""The lines below each kernel as a person wants them: the hottest few, hottest first, with totals.

Lines of libraries are folded into the user's line that they were inlined into. What is not shown of
a kernel is one row, so that the samples of a kernel are still the sum of what is below it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from proton.analysis.aggregate import add_metrics
from proton.analysis.select import subtree
from proton.analysis.source_lines import Samples, place_of, samples_in, symbol_of
from proton.analysis.statement_lines import Begin, as_recorded
from proton.model.frame import Frame, FrameKind
from proton.model.metric import MetricKind, MetricValue
from proton.model.profile import Profile
from proton.model.sampling import NUM_LATENCY, NUM_SAMPLES, NUM_STALLED, STALLED
from proton.model.tree import KernelDetail, Tree

MOST_LINES = 5
_LEAST_SHARE = 0.01  # of its kernel's samples that a line has to be shown with


class HotLine(NamedTuple):
    """What a row of a folded tree tells: a line, or what is left of its kernel."""

    file: str  # what the row is called if it is no line
    line: int
    share: float  # of the kernel's samples
    samples: Samples
    is_line: bool = True


class Folded(NamedTuple):
    """A tree with the hottest lines only, what its lines are by row, and where other rows went."""

    tree: Tree
    lines: Mapping[int, HotLine]
    moved: Mapping[int, int]


class Lineless(NamedTuple):
    """A kernel without lines: why it has none, as far as known, and what was sampled in it."""

    status: str
    samples: Samples


def kernels_without_lines(profile: Profile, tree: Tree) -> dict[int, Lineless]:
    """The rows of `tree` that were sampled and are no lines nor have any."""
    kernels = [] if profile.sampling is None else profile.sampling.kernels
    statuses = {kernel.symbol: kernel.lines for kernel in kernels}
    return {
        row: Lineless(statuses.get(symbol_of(tree, row), ""), samples_in(own))
        for row, own in enumerate(tree.own)
        if row and own.get(NUM_SAMPLES) and tree.frames[row].kind is not FrameKind.SAMPLE
    }


def fold_lines(tree: Tree, most: int = MOST_LINES, begin: Begin = as_recorded) -> Folded:
    """`tree` with at most `most` lines below each kernel, and a row for the others.

    `begin` tells the line of a statement from one inside it.
    """
    ends = tree.ends()
    frames: list[Frame] = []
    parents: list[int] = []
    own: list[Mapping[str, MetricValue]] = []
    details: dict[int, KernelDetail] = {}
    entries: dict[int, int] = {}
    lines: dict[int, HotLine] = {}
    moved: dict[int, int] = {-1: -1}
    row = 0
    while row < len(tree):
        if row and tree.frames[row].kind is FrameKind.SAMPLE:  # what it is below has taken it in
            row = ends[row]
            continue
        moved[row] = at = len(frames)
        frames.append(tree.frames[row])
        parents.append(moved[tree.parents[row]])
        own.append(tree.own[row])
        if row in tree.details:
            details[at] = tree.details[row]
        if row in tree.entries:
            entries[at] = tree.entries[row]
        below = _lines_below(tree, row, ends, most, begin)
        for frame, metrics, line in below:
            lines[len(frames)] = line
            frames.append(frame)
            parents.append(at)
            own.append(metrics)
        if below and NUM_SAMPLES in tree.own[row]:
            own[at] = _without_samples(tree.own[row])  # they have a row of their own
        row += 1
    return Folded(Tree(frames, parents, own, details, entries), lines, moved)


def absorb_lines(tree: Tree) -> Tree:
    """`tree` without lines and what is below them: kernels have the samples of all their lines."""
    is_line = bytearray(len(tree))
    for row in range(1, len(tree)):
        is_line[row] = tree.frames[row].kind is FrameKind.SAMPLE or is_line[tree.parents[row]]
    if not any(is_line):
        return tree
    own: list[dict[str, MetricValue]] = [dict(metrics) for metrics in tree.own]
    for row in range(len(tree) - 1, 0, -1):
        if is_line[row]:
            add_metrics(own[tree.parents[row]], own[row], lambda _: MetricKind.INCLUSIVE)
    return subtree(replace(tree, own=own), bytearray(not line for line in is_line))


def _lines_below(
    tree: Tree, kernel: int, ends: list[int], most: int, begin: Begin
) -> list[tuple[Frame, dict[str, MetricValue], HotLine]]:
    """The rows to draw below the row `kernel`; none where it has no lines."""
    tops: dict[tuple[str, int], tuple[Frame, dict[str, MetricValue]]] = {}
    row = kernel + 1
    while row < ends[kernel]:
        if tree.parents[row] == kernel and tree.frames[row].kind is FrameKind.SAMPLE:
            frame = tree.frames[row]
            _, sums = tops.setdefault(begin(place_of(frame)), (frame, {}))
            for below in range(row, ends[row]):
                add_metrics(sums, tree.own[below], lambda _: MetricKind.INCLUSIVE)
        row = ends[row]
    if not tops:
        return []
    unplaced = _only_samples(tree.own[kernel])
    whole = sum(_count(sums) for _, sums in tops.values()) + _count(unplaced)
    ranked = sorted(tops.items(), key=lambda top: -_count(top[1][1]))
    shown = [top for top in ranked[:most] if _count(top[1][1]) >= _LEAST_SHARE * whole]
    rows = []
    for (file, line), (frame, sums) in shown:
        rows.append((frame, sums, HotLine(file, line, _share(sums, whole), samples_in(sums))))
    rest: dict[str, MetricValue] = {}
    for _, (_, sums) in ranked[len(shown) :]:
        add_metrics(rest, sums, lambda _: MetricKind.INCLUSIVE)
    count = len(ranked) - len(shown)
    for name, sums in (
        (f"{count} more line{'s' * (count != 1)}", rest),
        ("no line known", unplaced),
    ):
        if sums and _count(sums):
            hot = HotLine(name, 0, _share(sums, whole), samples_in(sums), is_line=False)
            rows.append((Frame(name, FrameKind.SAMPLE), sums, hot))
    return rows


def _count(sums: Mapping[str, MetricValue]) -> int:
    value = sums.get(NUM_SAMPLES, 0)
    return int(value) if isinstance(value, (int, float)) else 0


def _share(sums: Mapping[str, MetricValue], whole: int) -> float:
    return _count(sums) / whole if whole else 0.0


def is_of_samples(metric: str) -> bool:
    """Whether `metric` counts samples, which is all that lines measure."""
    return metric in (NUM_SAMPLES, NUM_STALLED, NUM_LATENCY) or metric.startswith(STALLED)


def _only_samples(own: Mapping[str, MetricValue]) -> dict[str, MetricValue]:
    return {metric: value for metric, value in own.items() if is_of_samples(metric)}


def _without_samples(own: Mapping[str, MetricValue]) -> dict[str, MetricValue]:
    return {metric: value for metric, value in own.items() if not is_of_samples(metric)}
