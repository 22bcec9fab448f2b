"""What became slower or faster between two profiles, kernel by kernel and scope by scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot

from proton.analysis.change import Change, Matched, change_between, change_of_all, match_contexts
from proton.analysis.diff import ABSENT, unite
from proton.analysis.run_times import (
    Runs,
    TimedTree,
    kinds_by_name,
    runs_by_name,
    runs_by_row,
    whole_runs,
)
from proton.model.frame import FrameKind
from proton.model.metric import MetricValue
from proton.model.profile import TreeProfile
from proton.model.tree import KernelDetail, Tree

_MOST = 0.8  # of the time
_NAMED = (FrameKind.SCOPE, FrameKind.PYTHON, FrameKind.STATE, FrameKind.MODULE)
_SHOWN = ("grid", "block", "registers", "static_shared_bytes", "dynamic_shared_bytes", "occupancy")


@dataclass(frozen=True, slots=True)
class KernelChange:
    """The change of a kernel over all contexts, and how differently it is launched."""

    name: str
    kind: FrameKind
    change: Change
    launches: dict[str, tuple[MetricValue | None, MetricValue | None]]


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """The change of a context. A row is -1 in a profile that lacks it."""

    row: int  # in the tree of both profiles
    before_row: int
    after_row: int
    change: Change


class Comparison:
    """Two profiles with trees, `after` against `before`, each read through once.

    Args:
        before: What to compare with.
        after: What changed.
        before_phases: `before` phase by phase, where it was put together from several.
        after_phases: The same of `after`.
        recordings: How many recordings of the same program each was put together from: a kernel
            ran more often where it did so in each of them.
    """

    def __init__(
        self,
        before: TreeProfile,
        after: TreeProfile,
        before_phases: Sequence[TreeProfile] = (),
        after_phases: Sequence[TreeProfile] = (),
        recordings: tuple[int, int] = (1, 1),
    ) -> None:
        self._before, self._after = TimedTree.of(before), TimedTree.of(after)
        self.union = unite(self._before.tree, self._after.tree)
        self._phases = (before_phases, after_phases)
        self._repeats = recordings[1] / recordings[0]
        self._names = (
            runs_by_name(self._before, before_phases),
            runs_by_name(self._after, after_phases),
        )

    @cached_property
    def _ratio(self) -> float:
        return self.ratio()

    def ratio(self) -> float:
        """How many times as often kernels ran, where one number holds for most of the time; else 1.

        Recordings of the same program often differ in how many steps they saw.
        """
        first, second = self._names
        weights: dict[float, float] = {}
        wholes = [sum(runs.total_ns for runs in each.values()) or 1.0 for each in self._names]
        for name, old in first.items():
            new = second.get(name)
            if new is not None and old.count and new.count:
                share = min(old.total_ns / wholes[0], new.total_ns / wholes[1])
                each = new.count / old.count
                weights[each] = weights.get(each, 0.0) + share
        if not weights:
            return 1.0
        ratio, share = max(weights.items(), key=lambda pair: pair[1])
        return ratio if share >= _MOST else 1.0

    def total(self) -> Change:
        """The change of all kernels together.

        Where they ran more often each in its own way, the part that came from slower runs is the
        sum of theirs.
        """
        old, new = (
            whole_runs(rows[0], phases)
            for rows, phases in zip(self._rows, self._phases, strict=True)
        )
        ratio = self.ratio()
        change = change_of_all(old, new, ratio, self._repeats)
        both = [each.change for each in self.kernels if each.change.by_speed_ns is not None]
        if ratio != 1 or all(each.change_ns == each.by_speed_ns for each in both):
            return change
        halves = [each.speed_half_width_ns for each in both]
        known = [half for half in halves if half is not None]
        return replace(
            change,
            by_speed_ns=sum(each.by_speed_ns or 0.0 for each in both),
            speed_half_width_ns=hypot(*known) if len(known) == len(halves) else None,
            expected_ns=sum(each.expected_ns or 0.0 for each in both),
        )

    @cached_property
    def kernels(self) -> Sequence[KernelChange]:
        """Every kernel and copy of either profile, the largest change of the total first."""
        before, after = self._before, self._after
        first, second = self._names
        kinds = {**kinds_by_name(before.tree), **kinds_by_name(after.tree)}
        old, new = _launches(before.tree), _launches(after.tree)
        matched = self._matched()
        ranks = [[rank.rank for rank in each.profile.ranks] for each in (before, after)]
        found = [
            KernelChange(
                name,
                kinds[name],
                change_between(
                    first.get(name),
                    second.get(name),
                    matched=matched.get(name),
                    is_paired=ranks[0] == ranks[1],
                    repeats=self._repeats,
                ),
                _changed(old.get(name), new.get(name)),
            )
            for name in dict.fromkeys((*first, *second))
        ]
        return sorted(found, key=lambda each: -abs(each.change.change_ns))

    def scopes(self) -> list[ScopeChange]:
        """Every scope, state, module and Python frame with kernels below, the largest change first.

        Their rows are those of `union`.
        """
        union = self.union
        found: list[ScopeChange] = []
        for row, frame in enumerate(union.tree.frames):
            if frame.kind not in _NAMED:
                continue
            here, there = union.first_rows[row], union.second_rows[row]
            if (change := self._below(here, there)) is not None:
                found.append(ScopeChange(row, here, there, change))
        found.sort(key=lambda each: -abs(each.change.change_ns))
        return found

    def at(self, before_row: int, after_row: int) -> Change | None:
        """The change of one context with all below it, by its rows in both; None without kernels.

        A kernel is compared run by run, in this context alone.
        """
        if before_row == after_row == 0:
            return self.total() if self.kernels else None
        old, new = self._before.own.get(before_row), self._after.own.get(after_row)
        if old is None and new is None:
            return self._below(before_row, after_row)
        return change_between(
            None if old is None else old[1],
            None if new is None else new[1],
            repeats=self._repeats,
        )

    def _below(self, before_row: int, after_row: int) -> Change | None:
        """The change of all kernels below a context, as a sum."""
        first, second = self._rows
        old = first[before_row] if before_row != ABSENT else None
        new = second[after_row] if after_row != ABSENT else None
        if old is None and new is None:
            return None
        return change_of_all(old, new, self._ratio, self._repeats)

    @cached_property
    def _rows(self) -> tuple[list[Runs | None], list[Runs | None]]:
        return runs_by_row(self._before), runs_by_row(self._after)

    def _matched(self) -> dict[str, Matched]:
        old, new, union = self._before.own, self._after.own, self.union
        rows = zip(union.tree.frames, union.first_rows, union.second_rows, strict=True)
        return match_contexts((frame.name, old.get(a), new.get(b)) for frame, a, b in rows)


def _launches(tree: Tree) -> dict[str, KernelDetail | None]:
    """The launch of each kernel; None where its contexts launch it differently."""
    found: dict[str, KernelDetail | None] = {}
    for row, detail in tree.details.items():
        name = tree.frames[row].name
        known = found.setdefault(name, detail)
        if known is not None and known.attributes != detail.attributes:
            found[name] = None
    return found


def _changed(
    before: KernelDetail | None, after: KernelDetail | None
) -> dict[str, tuple[MetricValue | None, MetricValue | None]]:
    if before is None or after is None:
        return {}
    pairs = {name: (before.attributes.get(name), after.attributes.get(name)) for name in _SHOWN}
    # One that is missing differs among the launches of its side, or is not known: no change.
    return {name: pair for name, pair in pairs.items() if None not in pair and pair[0] != pair[1]}
