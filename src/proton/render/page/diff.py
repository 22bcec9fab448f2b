"""The page's diff of two profiles: what changed most, how sure that is, and what is new or gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from proton.analysis.change import GONE, NEW, Change
from proton.analysis.compare import Comparison, KernelChange, ScopeChange
from proton.analysis.prepare import prepare
from proton.analysis.run_times import LEAST_BATCHES, Runs
from proton.analysis.uncertainty import CONFIDENCE
from proton.errors import FormatError
from proton.files.detect import open_phases
from proton.model.frame import FrameKind
from proton.model.metric import MetricValue
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.page.pack import record_of
from proton.render.text.sample_texts import NON_USER

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


_Change = TypeVar("_Change", bound=DiffChange)


def diff_part(before: TreeProfile, after: TreeProfile) -> DiffPart | None:
    """The change from `before` to `after`, both with a tree; None where neither timed a kernel.

    Profiles of several phases are read again phase by phase: how phases differ tells more of
    chance than how runs next to each other do.
    """
    comparison = Comparison(before, after, _phases(before), _phases(after))
    kernels = comparison.kernels
    if not kernels:
        return None
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
    )


def _phases(profile: TreeProfile) -> Sequence[TreeProfile]:
    if len(profile.phases) < LEAST_BATCHES:
        return ()
    try:
        return [prepare(phase) for phase in open_phases(profile.source)]
    except FormatError:
        return ()  # its files are gone, or one of them is empty: what the sum has will do


def _side(profile: TreeProfile) -> DiffSide:
    return DiffSide(
        source=profile.source,
        devices=list(dict.fromkeys(device.name or device.arch for device in profile.devices)),
        start_time_ns=profile.header.start_time_ns,
        lost=sum(count for kind, count in profile.losses.items() if kind != NON_USER),
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
