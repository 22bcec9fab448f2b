"""The page's diff of two profiles: what changed most, how sure that is, and what is new or gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from proton.analysis.change import GONE, NEW, NOT_ENOUGH, Change
from proton.analysis.compare import Comparison, KernelChange, ScopeChange
from proton.analysis.diff import ABSENT, Union
from proton.analysis.losses import losses_of
from proton.analysis.measurements import whole_of
from proton.analysis.run_times import Runs
from proton.analysis.uncertainty import CONFIDENCE
from proton.model.frame import FrameKind
from proton.model.metric import CALLS, CPU_TIME_NS, MetricValue
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.page.pack import record_of
from proton.render.phases import phases_of

MOST_SCOPES = 500
MOST_FRAMES = 64


@dataclass(frozen=True, slots=True)
class DiffRuns:
    """The runs of one side."""

    total_ns: float
    count: float | None
    mean_ns: float | None


@dataclass(frozen=True, slots=True)
class DiffChange:
    """After minus before. Half widths are of intervals of confidence; null: too little is known."""

    verdict: str
    before: DiffRuns | None
    after: DiffRuns | None
    change_ns: float
    half_width_ns: float | None
    by_speed_ns: float | None  # what came from slower runs, not from more of them
    speed_half_width_ns: float | None
    expected_ns: float | None  # what the runs after would have taken at the speed before
    basis: str | None


@dataclass(frozen=True, slots=True)
class DiffKernel(DiffChange):
    """A kernel in both profiles; `launches` are the attributes that changed: before and after."""

    name: str
    kind: FrameKind
    launches: Mapping[str, tuple[MetricValue | None, MetricValue | None]]


@dataclass(frozen=True, slots=True)
class DiffScope(DiffChange):
    """A context in both profiles, by its rows there."""

    path: Sequence[str]
    before_row: int
    after_row: int


@dataclass(frozen=True, slots=True)
class DiffSide:
    """What is known of one of the profiles."""

    source: str
    devices: Sequence[str]
    start_time_ns: int | None
    lost: int


@dataclass(frozen=True, slots=True)
class DiffPart:
    """The second profile against the first; what changed most comes first."""

    confidence: float
    before: DiffSide
    after: DiffSide
    runs_ratio: float  # how many times as often all kernels ran, where that is one number; else 1
    total: DiffChange
    kernels: Sequence[DiffKernel]
    new: Sequence[DiffKernel]
    gone: Sequence[DiffKernel]
    scopes: Sequence[DiffScope]
    more_scopes: int
    notes: Sequence[str]
    is_host: bool  # neither timed a kernel: times are those of scopes on the host


_Change = TypeVar("_Change", bound=DiffChange)


def diff_part(
    before: TreeProfile,
    after: TreeProfile,
    repeats: tuple[Sequence[TreeProfile], Sequence[TreeProfile]] = ((), ()),
) -> DiffPart | None:
    """The change from `before` to `after`, both with a tree; None where neither timed anything.

    Profiles of several phases are read again phase by phase: how phases differ tells more of
    chance than how runs next to each other do. `repeats` are the recordings that a profile was put
    together from; they count as phases.
    """
    first, second = repeats
    comparison = Comparison(
        before,
        after,
        first or phases_of(before),
        second or phases_of(after),
        recordings=(len(first) or 1, len(second) or 1),
    )
    kernels = comparison.kernels
    if not kernels:
        return _host_part(comparison.union, before, after)
    scopes = comparison.scopes()
    tree = comparison.union.tree
    return DiffPart(
        confidence=CONFIDENCE,
        before=_side(before),
        after=_side(after),
        runs_ratio=comparison.ratio(),
        total=_change(DiffChange, comparison.total()),
        kernels=[_kernel(one) for one in kernels if one.change.verdict not in (NEW, GONE)],
        new=[_kernel(one) for one in kernels if one.change.verdict == NEW],
        gone=[_kernel(one) for one in kernels if one.change.verdict == GONE],
        scopes=[_scope(tree, scope) for scope in scopes[:MOST_SCOPES]],
        more_scopes=max(len(scopes) - MOST_SCOPES, 0),
        notes=_notes(before, after),
        is_host=False,
    )


def _host_part(union: Union, before: TreeProfile, after: TreeProfile) -> DiffPart | None:
    """The same of profiles without kernels, by the time of their scopes on the host."""
    wholes = [whole_of(profile.tree, CPU_TIME_NS) for profile in (before, after)]
    if wholes == [None, None]:
        return None
    scopes = []
    for row, here, there in zip(count(), union.first_rows, union.second_rows):
        old, new = _host_runs(before.tree, here), _host_runs(after.tree, there)
        if row > 0 and (old is not None or new is not None):
            path = _path(union.tree, row)
            scopes.append(
                _host_change(DiffScope, old, new, path=path, before_row=here, after_row=there)
            )
    scopes.sort(key=lambda scope: -abs(scope.change_ns))
    old, new = (None if whole is None else DiffRuns(whole, None, None) for whole in wholes)
    return DiffPart(
        confidence=CONFIDENCE,
        before=_side(before),
        after=_side(after),
        runs_ratio=1,
        total=_host_change(DiffChange, old, new),
        kernels=[],
        new=[],
        gone=[],
        scopes=scopes[:MOST_SCOPES],
        more_scopes=max(len(scopes) - MOST_SCOPES, 0),
        notes=_notes(before, after),
        is_host=True,
    )


def _host_runs(tree: Tree, row: int) -> DiffRuns | None:
    time_ns = None if row == ABSENT else tree.own[row].get(CPU_TIME_NS)
    if not isinstance(time_ns, (int, float)):
        return None
    calls = tree.own[row].get(CALLS)
    runs = calls if isinstance(calls, int) else tree.entries.get(row)
    return DiffRuns(time_ns, runs, time_ns / runs if runs else None)


def _host_change(
    record: type[_Change], old: DiffRuns | None, new: DiffRuns | None, **more: object
) -> _Change:
    """A change of which nothing is known but both sums."""
    change_ns = (new.total_ns if new else 0) - (old.total_ns if old else 0)
    verdict = NEW if old is None else GONE if new is None else NOT_ENOUGH
    change = Change(None, None, verdict, change_ns)
    return record_of(record, change, before=old, after=new, **more)


def _side(profile: TreeProfile) -> DiffSide:
    return DiffSide(
        source=profile.source,
        devices=list(dict.fromkeys(device.name or device.arch for device in profile.devices)),
        start_time_ns=profile.header.start_time_ns,
        lost=sum(losses_of(profile).values()),
    )


def _kernel(kernel: KernelChange) -> DiffKernel:
    return _change(
        DiffKernel, kernel.change, name=kernel.name, kind=kernel.kind, launches=kernel.launches
    )


def _scope(tree: Tree, scope: ScopeChange) -> DiffScope:
    path = _path(tree, scope.row)
    rows = {"before_row": scope.before_row, "after_row": scope.after_row}
    return _change(DiffScope, scope.change, path=path, **rows)


def _change(record: type[_Change], change: Change, **more: object) -> _Change:
    """`change` as a `record`, whose fields besides are `more`."""
    before, after = _runs(change.before), _runs(change.after)
    return record_of(record, change, before=before, after=after, **more)


def _runs(runs: Runs | None) -> DiffRuns | None:
    if runs is None:
        return None
    mean_ns = runs.total_ns / runs.count if runs.count else None
    return DiffRuns(runs.total_ns, runs.count, mean_ns)


def _path(tree: Tree, row: int) -> list[str]:
    names = tree.path(row)
    return names if len(names) <= MOST_FRAMES else ["...", *names[-MOST_FRAMES:]]


def _notes(before: TreeProfile, after: TreeProfile) -> list[str]:
    """What makes the two hard to compare."""
    notes: list[str] = []
    sides = {"before": _side(before), "after": _side(after)}
    old, new = (side.devices for side in sides.values())
    if old != new:
        notes.append(f"they ran on different devices: {_listed(old)} before, {_listed(new)} after")
    if len(before.ranks) != len(after.ranks):
        notes.append(
            f"they come from {max(len(before.ranks), 1)} and {max(len(after.ranks), 1)} processes"
        )
    notes += [
        f"{side.lost} events were lost {word}: its times may be too small"
        for word, side in sides.items()
        if side.lost
    ]
    return notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none known"
