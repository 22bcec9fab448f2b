"""What became slower or faster between two profiles, kernel by kernel and scope by scope."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.change import Change, change_between, change_of_all
from proton.analysis.diff import ABSENT, unite
from proton.analysis.matched_runs import Matched, match_contexts
from proton.analysis.run_times import TimedTree, kinds_by_name, runs_by_name, runs_by_row
from proton.model.detail import KernelDetail
from proton.model.frame import FrameKind
from proton.model.metric import MetricValue
from proton.model.profile import Profile
from proton.model.tree import Tree

_MOST = 0.8  # of kernels
_NAMED = (FrameKind.SCOPE, FrameKind.PYTHON, FrameKind.STATE)
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
    """The change of a context; row 0 is all. A row is -1 in a profile that lacks it."""

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
    """

    def __init__(
        self,
        before: Profile,
        after: Profile,
        before_phases: Sequence[Profile] = (),
        after_phases: Sequence[Profile] = (),
    ) -> None:
        self._before, self._after = TimedTree.of(before), TimedTree.of(after)
        self.union = unite(self._before.tree, self._after.tree)
        self._names = (
            runs_by_name(self._before, before_phases),
            runs_by_name(self._after, after_phases),
        )

    def ratio(self) -> float:
        """How many times as often kernels ran, where that is one number for most of them; else 1.

        Recordings of the same program often differ in how many steps they saw.
        """
        first, second = self._names
        ratios = [
            new.count / old.count
            for name, old in first.items()
            if (new := second.get(name)) is not None and old.count and new.count
        ]
        if not ratios:
            return 1.0
        ratio, times = Counter(ratios).most_common(1)[0]
        return ratio if times >= _MOST * len(ratios) else 1.0

    def kernels(self) -> list[KernelChange]:
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
                ),
                _changed(old.get(name), new.get(name)),
            )
            for name in dict.fromkeys((*first, *second))
        ]
        return sorted(found, key=lambda each: -abs(each.change.change_ns))

    def scopes(self) -> list[ScopeChange]:
        """Every scope, state and Python frame with kernels below, the largest change first.

        Their rows are those of `union`.
        """
        union, ratio = self.union, self.ratio()
        first, second = runs_by_row(self._before), runs_by_row(self._after)
        found: list[ScopeChange] = []
        for row, frame in enumerate(union.tree.frames):
            if row and frame.kind not in _NAMED:
                continue
            here, there = union.first_rows[row], union.second_rows[row]
            old = first[here] if here != ABSENT else None
            new = second[there] if there != ABSENT else None
            if old is not None or new is not None:
                found.append(ScopeChange(row, here, there, change_of_all(old, new, ratio)))
        found.sort(key=lambda each: -abs(each.change.change_ns))
        return found

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
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
