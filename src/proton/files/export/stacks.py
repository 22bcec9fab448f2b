"""What flame graphs are drawn from: per metric, what each context of a tree adds by itself.

Formats of stacks sum what lies below a frame, so only metrics whose parts add up have a place in
them. What was left out, and why, is said in notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from proton.errors import MetricNotFound, UsageError
from proton.model.frame import Frame, FrameKind
from proton.model.host_time import self_times
from proton.model.metric import CPU_TIME_NS, TIME_NS, MetricKind, split_unit
from proton.model.profile import LABELS, Profile, TreeProfile, kind_of
from proton.model.tree import Tree

UNITS = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
MOST_FRAMES = 50_000_000  # of all stacks together


class Exported(NamedTuple):
    """The content of a file in another tool's format, and what to say about it."""

    content: bytes
    notes: tuple[str, ...] = ()


class Place(NamedTuple):
    """A frame as other tools name it; no file is "", no line is 0."""

    name: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Weights:
    """One metric: `own` has for every row what it adds by itself, never below zero."""

    metric: str
    name: str  # without its unit
    unit: str
    own: list[float]


class Stacks(NamedTuple):
    """The metrics of a tree that stacks can hold, time first, then that of the CPU."""

    weights: list[Weights]
    notes: tuple[str, ...]


def stacks_of(profile: Profile, tree: Tree, wanted: str | None = None) -> Stacks:
    """What `tree` measured, or only the metric that `wanted` names, with or without its unit.

    Raises:
        MetricNotFound: There is no such metric, or none at all that adds up.
    """
    weights: list[Weights] = []
    left_out: list[str] = []
    below_zero: list[str] = []
    for metric in dict.fromkeys(name for own in tree.own for name in own):
        if metric in LABELS:
            continue
        own = _own(profile, tree, metric)
        if own is None:
            left_out.append(metric)
            continue
        if any(value < 0 for value in own):
            below_zero.append(metric)
            own = [max(value, 0) for value in own]
        if any(own):
            weights.append(Weights(metric, *split_unit(metric), own))
    weights.sort(key=lambda each: (each.metric != TIME_NS, each.metric != CPU_TIME_NS))
    all_names = [each.metric for each in weights] + left_out
    if wanted is not None:
        weights = [each for each in weights if wanted.lower() in (each.metric, each.name.lower())]
    if not weights:
        asked = "no metric" if wanted is None else f"no metric {wanted!r}"
        has = ", ".join(map(repr, all_names)) or "nothing else"
        raise MetricNotFound(f"{profile.source}: {asked} that adds up was recorded; there is {has}")
    notes = []
    if left_out and wanted is None:
        notes.append(f"left out, as stacks hold only what adds up: {', '.join(left_out)}")
    if below_zero:
        notes.append(f"values below zero count as zero: {', '.join(below_zero)}")
    return Stacks(weights, tuple(notes))


def _own(profile: Profile, tree: Tree, metric: str) -> list[float] | None:
    """What every row adds to `metric`; None where values do not add up."""
    kind = kind_of(profile, metric)
    numbers = tree.own_numbers(metric)
    if kind is MetricKind.PROPERTY or all(number is None for number in numbers):
        return None
    own = [number or 0 for number in numbers]
    if kind is MetricKind.INCLUSIVE:
        return own
    # An exclusive time is that of a whole scope, inner ones included: the rest is its own.
    is_time = split_unit(metric)[1] == "ns"
    return [time or 0 for time in self_times(tree, metric)] if is_time else None


def refuse_endless(profile: Profile, tree: Tree, weights: Sequence[Weights]) -> None:
    """Refuse deep recursion for formats that spell out the whole stack of every context.

    Raises:
        UsageError: The stacks would have more than MOST_FRAMES frames in all.
    """
    frames = sum(
        depth for row, depth in enumerate(tree.depths()) if any(each.own[row] for each in weights)
    )
    if frames > MOST_FRAMES:
        raise UsageError(
            f"{profile.source}: too deep for a format that spells out every stack ({frames} "
            "frames in all); speedscope's does not: end the output in .speedscope.json"
        )


def place_of(frame: Frame) -> Place:
    """A frame as name, file and line; the name of a Python frame is its function's."""
    if frame.kind in (FrameKind.PYTHON, FrameKind.SAMPLE) and frame.function:
        return Place(frame.function, frame.file or "", frame.line or 0)
    return Place(frame.name, frame.file or "", frame.line or 0)


def loss_notes(profile: Profile) -> tuple[str, ...]:
    """What was lost in the recording, for formats that have no place for it."""
    lost = [f"{count} {kind}" for kind, count in profile.losses.items() if count]
    return (f"this format does not say what was lost: {', '.join(lost)}",) if lost else ()


_CHARACTERS = str.maketrans({";": ":", "\n": " ", "\r": " ", "\t": " "})  # they divide stacks


def export_collapsed(profile: TreeProfile, metric: str | None = None) -> Exported:
    """`profile` as lines; `metric` in place of the time.

    Raises:
        MetricNotFound: There is no such metric, or none that adds up.
        UsageError: Stacks are too deep to spell them all out.
    """
    tree = profile.tree
    (weights, *others), notes = stacks_of(profile, tree, metric)
    if others:
        notes = (*notes, f"holds {weights.metric}; --metric picks another")
    refuse_endless(profile, tree, [weights])
    names = {frame: frame.name.translate(_CHARACTERS).strip() or "?" for frame in set(tree.frames)}
    lines: list[str] = []
    path: list[str] = []
    rounded = 0
    for row, (depth, value) in enumerate(zip(tree.depths(), weights.own, strict=True)):
        if row:
            path[depth - 1 :] = [names[tree.frames[row]]]
        whole = round(value)
        rounded += whole != value
        if whole:
            lines.append(f"{';'.join(path) or names[tree.frames[0]]} {whole}\n")
    if rounded:
        notes = (*notes, f"{rounded} values were rounded to whole numbers")
    return Exported("".join(lines).encode(), notes + loss_notes(profile))
