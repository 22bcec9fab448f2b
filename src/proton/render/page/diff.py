"""The page's diff of two profiles: what changed most, how sure that is, and what is new or gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proton.analysis.change import GONE, NEW, Change
from proton.analysis.compare import Comparison, KernelChange, ScopeChange
from proton.analysis.prepare import prepare
from proton.analysis.run_times import LEAST_BATCHES, Runs
from proton.analysis.uncertainty import CONFIDENCE
from proton.errors import FormatError
from proton.files.detect import open_phases
from proton.model.profile import Profile, TreeProfile
from proton.model.tree import Tree
from proton.render.page.pack import Columns
from proton.render.text.sample_texts import NON_USER

MOST_SCOPES = 500
MOST_FRAMES = 64


def diff_part(before: TreeProfile, after: TreeProfile, columns: Columns) -> dict[str, Any] | None:
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
    return {
        "confidence": CONFIDENCE,
        "before": _side(before),
        "after": _side(after),
        "runs_ratio": comparison.ratio(),
        "total": _change(comparison.total()),
        "kernels": [_kernel(each) for each in kernels if each.change.verdict not in (NEW, GONE)],
        "new": [_kernel(each) for each in kernels if each.change.verdict == NEW],
        "gone": [_kernel(each) for each in kernels if each.change.verdict == GONE],
        "scopes": [_scope(tree, each) for each in scopes[:MOST_SCOPES]],
        "more_scopes": max(len(scopes) - MOST_SCOPES, 0),
        "notes": _notes(before, after),
    }


def _phases(profile: TreeProfile) -> Sequence[TreeProfile]:
    if len(profile.phases) < LEAST_BATCHES:
        return ()
    try:
        return [prepare(phase) for phase in open_phases(profile.source)]
    except FormatError:
        return ()  # its files are gone, or one of them is empty: what the sum has will do


def _side(profile: Profile) -> dict[str, Any]:
    return {
        "source": profile.source,
        "devices": list(dict.fromkeys(each.name or each.arch for each in profile.devices)),
        "start_time_ns": profile.header.start_time_ns,
        "lost": _lost(profile),
    }


def _lost(profile: Profile) -> int:
    return sum(count for kind, count in profile.losses.items() if kind != NON_USER)


def _kernel(each: KernelChange) -> dict[str, Any]:
    launches = {name: [_plain(pair[0]), _plain(pair[1])] for name, pair in each.launches.items()}
    return {
        "name": each.name,
        "kind": each.kind.value,
        **_change(each.change),
        "launches": launches,
    }


def _scope(tree: Tree, each: ScopeChange) -> dict[str, Any]:
    return {
        "path": _path(tree, each.row),
        "before_row": each.before_row,
        "after_row": each.after_row,
        **_change(each.change),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "verdict": change.verdict,
        "before": _runs(change.before),
        "after": _runs(change.after),
        "change_ns": change.change_ns,
        "half_width_ns": change.half_width_ns,
        "by_speed_ns": change.by_speed_ns,
        "speed_half_width_ns": change.speed_half_width_ns,
        "expected_ns": change.expected_ns,
        "basis": change.basis,
    }


def _runs(runs: Runs | None) -> dict[str, Any] | None:
    if runs is None:
        return None
    mean_ns = runs.total_ns / runs.count if runs.count else None
    return {"total_ns": runs.total_ns, "count": runs.count, "mean_ns": mean_ns}


def _path(tree: Tree, row: int) -> list[str]:
    names: list[str] = []
    while row > 0 and len(names) <= MOST_FRAMES:
        names.append(tree.frames[row].name)
        row = tree.parents[row]
    names.reverse()
    return names if len(names) <= MOST_FRAMES else ["...", *names[1:]]


def _notes(before: Profile, after: Profile) -> list[str]:
    """What makes the two hard to compare."""
    notes: list[str] = []
    old, new = (_side(profile)["devices"] for profile in (before, after))
    if old != new:
        notes.append(f"they ran on different devices: {_listed(old)} before, {_listed(new)} after")
    if len(before.ranks) != len(after.ranks):
        notes.append(
            f"they are of {max(len(before.ranks), 1)} and {max(len(after.ranks), 1)} processes"
        )
    for word, profile in (("before", before), ("after", after)):
        if lost := _lost(profile):
            notes.append(f"{lost} events were lost {word}: its times may be too small")
    return notes


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none known"


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
