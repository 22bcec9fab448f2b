"""Trees and profiles for tests, written as rows of (depth, name, metrics)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from proton.model.device import Device
from proton.model.frame import Frame, FrameKind
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import Header, Profile, TraceProfile, TreeProfile
from proton.model.trace import Trace
from proton.model.tree import Tree

Row = tuple[int, str, Metrics]
H200 = Device("CUDA", "0", "90", 132, 1_980_000, 3_201_000, 6144, "NVIDIA H200")


def tree_of(rows: Sequence[Row]) -> Tree:
    parents: list[int] = []
    path: list[int] = []
    for row, (depth, _, _) in enumerate(rows):
        del path[depth:]
        parents.append(path[-1] if path else -1)
        path.append(row)
    frames = [
        Frame(name, FrameKind.ROOT if not depth else FrameKind.KERNEL if own else FrameKind.SCOPE)
        for depth, name, own in rows
    ]
    return Tree(frames, parents, [own for _, _, own in rows])


def tree_of_kinds(rows: Sequence[tuple[int, str, str, Metrics]]) -> Tree:
    """A tree of rows of (depth, letter of the kind, name, metrics)."""
    tree = tree_of([(depth, name, own) for depth, _, name, own in rows])
    frames = [Frame(name, FrameKind(letter)) for _, letter, name, _ in rows]
    return replace(tree, frames=frames)


def profile_of(
    rows: Sequence[Row],
    *,
    devices: Sequence[Device] = (H200,),
    kinds: Mapping[str, MetricKind] | None = None,
    is_ours: bool = True,
) -> TreeProfile:
    return TreeProfile(
        "run.hatchet",
        tree=tree_of(rows),
        devices=devices,
        header=Header(proton_version="0.1.0" if is_ours else ""),
        metric_kinds=kinds or {},
    )


def tree_in(profile: Profile) -> Tree:
    """The tree of a profile that has to be one."""
    assert isinstance(profile, TreeProfile), f"{profile.source} is no tree"
    return profile.tree


def trace_in(profile: Profile) -> Trace:
    """The trace of a profile that has to be one."""
    assert isinstance(profile, TraceProfile), f"{profile.source} is no trace"
    return profile.trace
