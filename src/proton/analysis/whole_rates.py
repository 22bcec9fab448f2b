"""How good the whole is: rates, share of peak and what could be saved, for all work together.

Page and digest say the same because both ask here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from proton.analysis.measurements import whole_of
from proton.analysis.roofline import (
    BYTES,
    DECLARED,
    PLAIN_FLOPS,
    bound_by,
    dots_of,
    flops_of,
    headroom_of,
    roof_of,
)
from proton.model.frame import FrameKind
from proton.model.metric import TIME_NS, Metrics, MetricValue
from proton.model.profile import TreeProfile
from proton.model.tree import Tree

TELLING = 0.5  # below this share of the time, what is known of the work says nothing of the whole
_WHOLE = 0.995
NO_WIDTH = "flops without a width: no compute roof"
NO_PEAK = "the peak rates of this device are not known"
NO_WORK = "work not known"
_LEAVES = (FrameKind.KERNEL, FrameKind.COPY)


@dataclass(frozen=True, slots=True)
class Rates:
    """What `kernels` says of each kernel, for all of them together; null: not known.

    `declared_share` is the share of the time for which flops or bytes are known. Below a half the
    rates and the share of peak are null; else work that is not known counts as none, and the share
    of peak `is_partial`: at least so much. `remark` says why it is null or partial.
    """

    flop_per_s: float | None = None
    byte_per_s: float | None = None
    share_of_peak: float | None = None
    bound: str | None = None
    headroom_ns: float | None = None  # of the work that is known
    declared_share: float | None = None
    is_partial: bool = False
    remark: str = ""


def whole_rates(profile: TreeProfile) -> Rates:
    """The rates of all work of a profile; nothing is known where no kernel ran."""
    tree = profile.tree
    time_ns = whole_of(tree, TIME_NS)
    if not time_ns:
        return Rates()
    roof = roof_of(profile)
    declared = _spent_ns(tree, DECLARED) / time_ns
    worked = _spent_ns(tree, {*DECLARED, PLAIN_FLOPS}) / time_ns
    least_s = None if roof.is_unknown[0] or declared < TELLING else roof.least_s[0]
    is_partial = least_s is not None and (declared < _WHOLE or roof.lacks_width[0])
    is_telling = worked >= TELLING
    flops = _sum(tree, flops_of) if is_telling else None
    moved = _sum(tree, lambda own: own.get(BYTES)) if is_telling else None
    is_bound = least_s is not None and not roof.lacks_width[0]
    return Rates(
        flop_per_s=None if flops is None else flops * 1e9 / time_ns,
        byte_per_s=None if moved is None else moved * 1e9 / time_ns,
        share_of_peak=None if least_s is None else least_s * 1e9 / time_ns,
        bound=bound_by(roof.flops_s[0], roof.bytes_s[0]) if is_bound else None,
        headroom_ns=headroom_of(dots_of(profile)),
        declared_share=declared,
        is_partial=is_partial,
        remark=peak_remark(
            is_unknown=roof.is_unknown[0],
            lacks_width=roof.lacks_width[0],
            is_declared=declared >= TELLING,
        ),
    )


def peak_remark(*, is_unknown: bool, lacks_width: bool, is_declared: bool) -> str:
    """Why there is no share of peak, or only a least one; empty where all is known."""
    if is_unknown:
        return NO_PEAK
    if lacks_width:
        return NO_WIDTH
    return "" if is_declared else NO_WORK


def _sum(tree: Tree, amount_of: Callable[[Metrics], MetricValue | None]) -> float | None:
    """What `amount_of` says of all that is no copy, added up."""
    found = [
        value
        for frame, own in zip(tree.frames[1:], tree.own[1:], strict=True)
        if frame.kind is not FrameKind.COPY and isinstance(value := amount_of(own), (int, float))
    ]
    return sum(found) if found else None


def _spent_ns(tree: Tree, metrics: Collection[str]) -> float:
    """The time in contexts that declare one of `metrics`, copies left out."""
    wanted = frozenset(metrics)
    declared = [
        row
        for row, own in enumerate(tree.own)
        if row and not wanted.isdisjoint(own) and tree.frames[row].kind is not FrameKind.COPY
    ]
    times = [tree.own[row].get(TIME_NS) for row in declared]
    known = [time for time in times if isinstance(time, (int, float))]
    if len(known) == len(declared) and all(tree.frames[row].kind in _LEAVES for row in declared):
        return sum(known)  # said by kernels, as is usual: no need to look below
    totals, ends = tree.totals(TIME_NS), tree.ends()
    spent, end = 0.0, 0
    for row in declared:
        if row >= end:
            spent += totals[row] or 0
            end = ends[row]
    return spent
