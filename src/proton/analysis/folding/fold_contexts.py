"""Contexts that are shown as one: `step_0` to `step_990` as `step_*`, hidden ones with those above.

Loops are written with numbers, and a view that shows each turn by itself shows nothing else. What
is below such siblings is put together as well, context by context, and so is what stood below
contexts that are hidden. Pages and the terminal fold alike, because both ask here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, reduce

from proton.analysis.aggregate import KindOf, sum_metrics
from proton.analysis.folding.library_frames import library_rows, python_file
from proton.analysis.regions import capture_rows, is_captured
from proton.analysis.select import Mask
from proton.analysis.several_devices import device_marks
from proton.model.frame import Frame, FrameKind
from proton.model.in_kernel import RecordedKernel
from proton.model.merge_in_kernel import merge_in_kernel
from proton.model.metric import TIME_NS, Metrics
from proton.model.profile import TreeProfile, kind_of
from proton.model.span_table import span_table
from proton.model.trace import LAUNCH_PREFIX, Trace
from proton.model.tree import KernelDetail, Steps, Tree, merge_details, row_at

LEAST = 3  # siblings; two with numbers are as likely a pair of different things
_MANY = 32  # numbers of so many siblings need not count up: they are no list of sizes
_NUMBER = re.compile(r"[0-9]+")
_KINDS = {FrameKind.SCOPE, FrameKind.STATE, FrameKind.MODULE}
_DIGITS = 18  # of a number that are read; whoever has more counts nothing


@dataclass(frozen=True, slots=True)
class Folding:
    """Rows of a tree in groups, which are a tree again: depth first, group 0 the root's."""

    group: Sequence[int]  # of each row
    titles: Mapping[int, str]  # group -> its name, of those that several names stand in


def fold_contexts(
    tree: Tree, *, numbered: bool = True, hidden: Mask | None = None
) -> Folding | None:
    """Which rows of a tree are to be shown as one; None where each is by itself.

    Kernels and copies keep their numbers, which tell them apart, also where a file does not say
    what they are but that they took time of a device.

    Args:
        tree: The contexts.
        numbered: Fold siblings that differ in a number only.
        hidden: Rows that go into the group of the context above them, as `library_rows` tells them;
            what is below them moves up. The root is none of them.
    """
    loops = _loops(tree) if numbered else set()
    hidden = hidden if hidden and any(hidden) else None
    if len(loops) < LEAST and hidden is None:
        return None
    below: list[list[int]] = [[] for _ in range(len(tree))]
    for row in range(1, len(tree)):
        below[tree.parents[row]].append(row)
    keys: list[object] = list(tree.frames)
    if (marks := device_marks(tree)) is not None:  # a row of one device is none of another's
        keys = list(zip(tree.frames, marks, strict=True))
    group = [0] * len(tree)
    titles: dict[int, str] = {}
    pending: list[tuple[list[int], str]] = [([0], "")]
    number = 0
    while pending:
        rows, title = pending.pop()
        if title:
            titles[number] = title
        members, children = _members(rows, below, hidden)
        for row in members:
            group[row] = number
        number += 1
        pending += reversed(_groups(children, tree.frames, keys, loops))
    return None if hidden is None and not titles else Folding(group, titles)


def _loops(tree: Tree) -> set[Frame]:
    """The frames that may be turns of a loop."""
    work = {frame for frame, own in zip(tree.frames, tree.own, strict=True) if TIME_NS in own}
    return {frame for frame in set(tree.frames) if _is_numbered(frame)} - work


def _members(
    rows: Sequence[int], below: Sequence[Sequence[int]], hidden: Mask | None
) -> tuple[list[int], list[int]]:
    """All rows of the group that `rows` make with what is hidden below them, and its children."""
    children = [child for row in rows for child in below[row]]
    if hidden is None:
        return list(rows), children
    members, shown = list(rows), []
    pending = children[::-1]
    while pending:
        row = pending.pop()
        if hidden[row]:
            members.append(row)
            pending += reversed(below[row])
        else:
            shown.append(row)
    return members, shown


def fold_profile(profile: TreeProfile, folding: Folding) -> TreeProfile:
    """The profile with groups for rows: what was measured in the rows of one is added up."""
    tree = folded_tree(profile.tree, folding, cache(partial(kind_of, profile)))
    recorded, trace = profile.in_kernel, profile.trace
    if recorded or trace is not None:
        steps = profile.tree.steps()
        captures = capture_rows(profile.tree)
        moved = [_moved(kernel, steps, captures, tree, folding) for kernel in recorded]
        recorded = merge_in_kernel([moved])
        trace = None if trace is None else _moved_spans(trace, steps, tree, folding)
    return replace(profile, tree=tree, in_kernel=recorded, trace=trace)


def _moved_spans(trace: Trace, steps: Steps, tree: Tree, folding: Folding) -> Trace:
    """The trace with paths as the folded `tree` has them."""
    spans = span_table(trace.spans)
    paths: dict[tuple[str, ...], tuple[str, ...]] = {}
    for path in {look.path for look in spans.looks if look.path}:
        row = row_at(steps, path)
        paths[path] = path if row is None else tuple(tree.path(folding.group[row]))
    looks = [look._replace(path=paths.get(look.path, look.path)) for look in spans.looks]
    return replace(trace, spans=replace(spans, looks=looks))


def without_library(profile: TreeProfile) -> TreeProfile:
    """The profile without frames of libraries: what they measured stands in the rows above them."""
    hidden = library_rows(profile.tree, partial(kind_of, profile))
    folding = fold_contexts(profile.tree, numbered=False, hidden=hidden)
    return profile if folding is None else fold_profile(profile, folding)


def _moved(
    kernel: RecordedKernel, steps: Steps, captures: Sequence[int], tree: Tree, folding: Folding
) -> RecordedKernel:
    """What a kernel recorded, with its context as the folded `tree` has it."""
    for start in captures if is_captured(kernel) else [0]:
        if (row := row_at(steps, kernel.context, start)) is not None:
            above = tree.path(folding.group[start])
            return replace(kernel, context=tree.path(folding.group[row])[len(above) :])
    return kernel


def folded_tree(tree: Tree, folding: Folding, kind_of: KindOf) -> Tree:
    """The groups as a tree: what was measured in their rows is added up."""
    members: list[list[int]] = [[] for _ in range(max(folding.group) + 1)]
    for row, group in enumerate(folding.group):
        members[group].append(row)
    frames: list[Frame] = []
    parents: list[int] = []
    own: list[Metrics] = []
    details: dict[int, KernelDetail] = {}
    entries: dict[int, int] = {}
    for group, rows in enumerate(members):
        first = rows[0]
        title = folding.titles.get(group)
        frames.append(
            tree.frames[first] if title is None else Frame(title, tree.frames[first].kind)
        )
        parents.append(folding.group[tree.parents[first]] if first else -1)
        own.append(
            tree.own[first]
            if len(rows) == 1
            else sum_metrics([tree.own[row] for row in rows], kind_of)
        )
        if known := [tree.details[row] for row in rows if row in tree.details]:
            details[group] = reduce(merge_details, known)
        if counts := [tree.entries[row] for row in rows if row in tree.entries]:
            entries[group] = sum(counts)
    return Tree(frames, parents, own, details, entries)


def folded_names(names: Sequence[str]) -> dict[str, str]:
    """For the names of siblings that are to be one: what they are called together.

    Names fold where they differ in one number, where there are at least three, and where their
    numbers count up with no more than every second one missing: `matmul 1024` and `matmul 2048` are
    two things. From 32 names on any numbers will do.
    """
    by_template: dict[tuple[str, ...], list[tuple[str, list[str]]]] = {}
    for name in names:
        if numbers := _NUMBER.findall(name):
            by_template.setdefault(tuple(_NUMBER.split(name)), []).append((name, numbers))
    found: dict[str, str] = {}
    for template, members in by_template.items():
        if len(members) < LEAST:
            continue
        columns = list(zip(*(numbers for _, numbers in members), strict=True))
        varying = [at for at, column in enumerate(columns) if len(set(column)) > 1]
        if not varying:
            continue
        turn = varying[-1]  # `stage_1.block_*`: the last number is the one of the loop
        series: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        for name, numbers in members:
            others = (*numbers[:turn], *numbers[turn + 1 :])
            series.setdefault(others, []).append((name, int(numbers[turn][:_DIGITS])))
        for others, turns in series.items():
            if _is_loop([number for _, number in turns]):
                title = _title(template, (*others[:turn], "*", *others[turn:]))
                found.update(dict.fromkeys((name for name, _ in turns), title))
    return found


def _groups(
    children: Iterable[int],
    frames: Sequence[Frame],
    keys: Sequence[object],
    numbered: Collection[Frame],
) -> list[tuple[list[int], str]]:
    """The rows that are one, those of equal `keys`, and their title; empty: their name says it."""
    by_key: dict[object, list[int]] = {}
    for row in children:
        by_key.setdefault(keys[row], []).append(row)
    firsts = [frames[rows[0]] for rows in by_key.values()]
    titles = folded_names([frame.name for frame in firsts if frame in numbered])
    if not titles:
        return [(rows, "") for rows in by_key.values()]
    found: dict[object, tuple[list[int], str]] = {}
    for frame, (key, rows) in zip(firsts, by_key.items(), strict=True):
        title = titles.get(frame.name, "") if frame in numbered else ""
        found.setdefault(title or key, ([], title))[0].extend(rows)
    return list(found.values())


def _is_numbered(frame: Frame) -> bool:
    # Numbers in the name of a kernel tell kernels apart, also where they are launched.
    if frame.kind not in _KINDS or frame.name.startswith(LAUNCH_PREFIX):
        return False
    return _NUMBER.search(frame.name) is not None and python_file(frame) is None


def _is_loop(numbers: Sequence[int]) -> bool:
    different = len(set(numbers))
    if different < LEAST:
        return False
    return different >= _MANY or max(numbers) - min(numbers) < 2 * different


def _title(template: Sequence[str], numbers: Sequence[str]) -> str:
    return "".join(part for pair in zip(template, (*numbers, ""), strict=True) for part in pair)
