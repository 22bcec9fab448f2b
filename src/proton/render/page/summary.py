"""The part `summary`: how long, where, and is it good; plus what the file holds and lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proton.analysis.measurements import raw_metrics, whole_of
from proton.analysis.roofline import (
    BYTES,
    DECLARED,
    WIDTH_METRICS,
    bound_by,
    roof_of,
)
from proton.model.frame import FrameKind
from proton.model.in_kernel import UNREAD_REPLAYS
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.page.pack import record_of
from proton.render.page.roofline import RoofDevice, roof_device
from proton.render.text.head import device_names
from proton.render.text.sample_texts import NON_USER

Wholes = Mapping[str, float | None]

_SUMMED = (TIME_NS, CPU_TIME_NS, COUNT, "flops", *sorted(DECLARED))
_LEAVES = (FrameKind.KERNEL, FrameKind.COPY)


@dataclass(frozen=True, slots=True)
class Rates:
    """What `kernels` says of each kernel, for all of them together; null: not known.

    `declared_share` is the share of the time for which flops or bytes are known; the rest counts as
    no work.
    """

    flop_per_s: float | None = None
    byte_per_s: float | None = None
    share_of_peak: float | None = None
    bound: str | None = None
    headroom_ns: float | None = None
    declared_share: float | None = None


@dataclass(frozen=True, slots=True)
class SummaryPart:
    """What the first screen says: how long, where, and is it good; what was recorded, and how.

    Times are nanoseconds, shares 0 to 1; null: not known. Texts are empty where the file has none.
    """

    device: str
    devices: Sequence[RoofDevice]
    is_interpreted: bool
    time_metric: str | None
    time_ns: float | None
    kernels: float | None
    contexts: int
    phases: int
    ranks: int
    lost: Mapping[str, int]
    says_losses: bool
    warnings: Sequence[str]
    command: Sequence[str]
    host: str
    start_time_ns: int | None  # Unix time
    end_time_ns: int | None
    backends: Sequence[str]
    mode: str
    proton_version: str
    triton_version: str
    python_version: str
    rates: Rates


def summary_part(profile: TreeProfile) -> SummaryPart:
    """The summary of a profile that `prepare` returned."""
    tree = profile.tree
    names = raw_metrics(tree)
    wholes = {name: whole_of(tree, name) for name in _SUMMED if name in names}
    metric = next((name for name in (TIME_NS, CPU_TIME_NS) if wholes.get(name)), None)
    header = profile.header
    return record_of(
        SummaryPart,
        header,
        device=device_names(profile),
        devices=[roof_device(device) for device in profile.devices],
        is_interpreted=profile.is_interpreted,
        time_metric=metric,
        time_ns=None if metric is None else wholes[metric],
        kernels=wholes.get(COUNT),
        contexts=len(tree),
        phases=len(profile.phases),
        ranks=len(profile.ranks),
        lost=_lost(profile),
        says_losses=bool(header.proton_version),
        warnings=profile.warnings,
        rates=_rates(profile, tree, wholes),
    )


def _lost(profile: TreeProfile) -> dict[str, int]:
    """Events that were lost, and records of kernels: with either, not everything is there."""
    lost = {kind: count for kind, count in profile.losses.items() if count and kind != NON_USER}
    for kernel in profile.in_kernel:
        for kind, count in kernel.lost().items():
            if kind != UNREAD_REPLAYS and kind not in profile.losses:
                lost[f"in-kernel {kind}"] = lost.get(f"in-kernel {kind}", 0) + count
    return lost


def _rates(profile: TreeProfile, tree: Tree, wholes: Wholes) -> Rates:
    time_ns = wholes.get(TIME_NS)
    if not time_ns:
        return Rates()
    flops, moved = _flops(wholes), wholes.get(BYTES)
    roof = roof_of(profile)
    least_s = None if roof.is_unknown[0] else roof.least_s[0]
    return Rates(
        flop_per_s=None if flops is None else flops * 1e9 / time_ns,
        byte_per_s=None if moved is None else moved * 1e9 / time_ns,
        share_of_peak=None if least_s is None else least_s * 1e9 / time_ns,
        bound=None if least_s is None else bound_by(roof.flops_s[0], roof.bytes_s[0]),
        headroom_ns=None if least_s is None else time_ns - least_s * 1e9,
        declared_share=_declared_ns(tree) / time_ns,
    )


def _flops(wholes: Wholes) -> float | None:
    """Operations of all widths, or those that were given without one."""
    if (known := wholes.get("flops")) is not None:
        return known
    amounts = [amount for _, name in WIDTH_METRICS if (amount := wholes.get(name)) is not None]
    return sum(amounts) if amounts else None


def _declared_ns(tree: Tree) -> float:
    """The time in contexts that say how many operations or bytes their work was."""
    declared = [row for row, own in enumerate(tree.own) if row and not DECLARED.isdisjoint(own)]
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
