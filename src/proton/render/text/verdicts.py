"""What a difference of two profiles means: changes at equal runs, how sure they are, verdicts.

They are those of `proton compare` and of the page's diff; here they become columns of a tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from proton.analysis.change import GONE, NEW, NOT_ENOUGH, Change
from proton.analysis.compare import Comparison
from proton.analysis.derive import Column
from proton.analysis.diff import Union
from proton.analysis.gate import Judged, relative_change
from proton.analysis.uncertainty import CONFIDENCE
from proton.model.profile import TreeProfile
from proton.render.phases import phases_of
from proton.render.units import MISSING, format_change

NOTE = (
    f"at equal runs: how much longer a run takes, ± {100 * CONFIDENCE:.0f} % confidence; "
    "slower and faster are beyond chance and beyond 1 %"
)
NO_VERDICTS = (
    "no verdicts: these files do not say how single runs spread, so nothing tells a change from "
    "chance; record with proton, or a trace"
)


def changes_of(
    profile: TreeProfile, against: TreeProfile, union: Union, *, by_name: bool
) -> list[Change | None]:
    """The change of each row of `union`, that of `profile` and `against` as they are shown.

    Args:
        profile: What changed.
        against: What it is compared with.
        union: The rows; the first are those of `profile`.
        by_name: Rows are kernels over all contexts, of profiles that are not flat themselves.
    """
    found = Comparison(against, profile, phases_of(against), phases_of(profile))
    if by_name:
        kernels = {kernel.name: kernel.change for kernel in found.kernels}
        return [kernels.get(frame.name) for frame in union.tree.frames]
    rows = zip(union.second_rows, union.first_rows, strict=True)
    return [found.at(before, after) for before, after in rows]


def verdict_columns(changes: Sequence[Change | None]) -> list[Column]:
    """Changes and verdicts as columns; none where nothing can be said of any row."""
    if all(change is None or change.verdict in (NEW, GONE, NOT_ENOUGH) for change in changes):
        return []
    judged = [  # a mark behind its name says that a context is new or gone
        None if change is None or change.verdict in (NEW, GONE) else change for change in changes
    ]
    texts = [("", "") if change is None else shares_of(change) for change in judged]
    room = max(len(half) for _, half in texts)
    shares = [f"{share} {half:>{room}}" if share else "" for share, half in texts]
    verdicts = ["" if change is None else change.verdict for change in judged]
    return [
        Column("at equal runs", "at equal runs", "", shares),
        Column("verdict", "verdict", "", verdicts),
    ]


def shares_of(change: Judged) -> tuple[str, str]:
    """How much longer runs take and half of its interval: `+7.5 %`, `± 0.6 %`."""
    found = relative_change(change)
    if found is not None:
        return format_change(found[0]), f"± {100 * found[1]:.1f} %"
    if change.by_speed_ns is None or not change.expected_ns:
        return MISSING, ""
    return format_change(change.by_speed_ns / change.expected_ns), ""
