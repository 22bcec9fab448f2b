"""Profiles as viewers show them: with a tree in any case, and without what nobody asked for.

A trace becomes a tree of its paths. It knows samples by kernel, not by launch, so they get a row of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proton.analysis.aggregate import GrowingTree, add_metrics, tree_of_trace
from proton.analysis.reasons import SELECTED
from proton.analysis.select import drop_metadata
from proton.analysis.source_lines import sampled_lines
from proton.errors import FormatError
from proton.model.frame import Frame, FrameKind
from proton.model.merge import merge_trees
from proton.model.metric import EMPTY, MetricKind, MetricValue
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.sampling import NUM_LATENCY, NUM_SAMPLES, NUM_STALLED, STALLED, Sampling
from proton.model.tree import Tree

IN_TRACE = "<sampled>"


def prepare(profile: Profile) -> TreeProfile:
    """The profile as viewers show it: a tree in any case, without the cost of launch metadata.

    Raises:
        FormatError: Nothing was recorded.
    """
    if isinstance(profile, TraceProfile):
        profile = book_samples(tree_of_trace(profile))
    if not isinstance(profile, TreeProfile) or _is_empty(profile.tree):
        raise FormatError(
            f"{profile.source}: nothing was recorded: no scopes, no kernels, no metrics; "
            "was the session active while the program ran?"
        )
    return drop_metadata(profile)


def _is_empty(tree: Tree) -> bool:
    return len(tree) <= 1 and not any(tree.own[0].values())


def book_samples(profile: TreeProfile) -> TreeProfile:
    """The profile of a trace that was made a tree, with its sampled kernels below one row."""
    tree, sampling = profile.tree, profile.sampling
    if sampling is None or not sampling.kernels:
        return profile
    return replace(profile, tree=merge_trees([tree, _tree_of(sampling)]))


def _tree_of(sampling: Sampling) -> Tree:
    growing = GrowingTree()
    own: dict[int, dict[str, MetricValue]] = {}
    sampled = growing.child(0, IN_TRACE, Frame(IN_TRACE))
    for at, kernel in enumerate(sampling.kernels):
        top = growing.child(sampled, at, Frame(kernel.symbol, FrameKind.KERNEL))
        seen = sampled_lines(kernel)
        left = kernel.samples - sum(one.samples for one in seen)
        if left > 0:
            own[top] = {NUM_SAMPLES: left}
        for one in seen:
            node = top
            for number in reversed(list(sampling.stack(one.line))):
                node = growing.child(node, number, _frame_of(sampling, number))
            found = _metrics_of(sampling, one.samples, one.latency, one.reasons)
            add_metrics(own.setdefault(node, {}), found, lambda _: MetricKind.INCLUSIVE)
    nodes, parents = growing.order()
    return Tree([growing.frames[n] for n in nodes], parents, [own.get(n, EMPTY) for n in nodes])


def _frame_of(sampling: Sampling, number: int) -> Frame:
    line = sampling.lines[number]
    name = f"{line.file}:{line.line}@{line.function}"
    return Frame(name, FrameKind.SAMPLE, line.file, line.line, line.function)


def _metrics_of(
    sampling: Sampling, samples: int, latency: int, reasons: Mapping[int, int]
) -> Mapping[str, MetricValue]:
    named = {sampling.reasons[number]: count for number, count in reasons.items()}
    stalled = samples - named.get(SELECTED, 0)
    counts = {NUM_SAMPLES: samples, NUM_STALLED: stalled, NUM_LATENCY: latency}
    return counts | {f"{STALLED}{name}": count for name, count in named.items()}
