"""Every kernel and copy by name: times, spread, rates, share of peak; for page and digest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import NamedTuple

from proton.analysis.aggregate import merge_by_name
from proton.analysis.derive import rates_of
from proton.analysis.measurements import Cell, whole_of
from proton.analysis.regions import find_recorded
from proton.analysis.roofline import roof_of
from proton.analysis.select import everything
from proton.analysis.union_quantiles import Quantile, quantiles_of
from proton.analysis.whole_rates import peak_remark
from proton.model.frame import FrameKind
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import COUNT, TIME_NS
from proton.model.profile import TreeProfile, kind_of


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """What is known of one kernel or copy over all its contexts; None: not known."""

    row: int  # in the table's tree, which has one row a name
    name: str  # as the file has it
    kind: FrameKind
    time_ns: float
    share: float | None
    count: float | None
    avg_ns: float | None
    min_ns: float | None
    p50_ns: Quantile | None
    p99_ns: Quantile | None
    max_ns: float | None
    flop_per_s: float | None
    byte_per_s: float | None
    share_of_peak: float | None
    bound: str | None
    headroom_ns: float | None
    peak_remark: str  # why the share of peak is not known, or is at least so much
    recorded: tuple[RecordedKernel, ...]  # what it recorded inside, which its time includes


class KernelTable(NamedTuple):
    """The kernels, those with the most time first, and the profile with one row a name."""

    flat: TreeProfile
    kernels: list[KernelFacts]


def kernel_table(profile: TreeProfile) -> KernelTable:
    """All kernels and copies of a profile; none where no time was measured."""
    flat = merge_by_name(
        profile, TIME_NS, everything(profile.tree), cache(partial(kind_of, profile))
    )
    whole = whole_of(profile.tree, TIME_NS)
    if whole is None:
        return KernelTable(flat, [])
    tree, roof = flat.tree, roof_of(flat)
    times, counts = tree.own_numbers(TIME_NS), tree.own_numbers(COUNT)
    rates = rates_of(flat)
    quantiles = quantiles_of(profile)
    recorded = recorded_by_name(profile)
    found: list[KernelFacts] = []
    for row in range(1, len(tree)):
        time_ns, count = times[row], counts[row]
        if time_ns is None:
            continue
        frame, detail = tree.frames[row], tree.details.get(row)
        middle = quantiles.get(frame.name)
        found.append(
            KernelFacts(
                row=row,
                name=frame.name,
                kind=frame.kind,
                time_ns=time_ns,
                share=time_ns / whole if whole else None,
                count=count,
                avg_ns=time_ns / count if count else None,
                min_ns=None if detail is None else detail.min_ns,
                p50_ns=None if middle is None else middle.p50,
                p99_ns=None if middle is None else middle.p99,
                max_ns=None if detail is None else detail.max_ns,
                flop_per_s=_number(rates["flop_per_s"][row]),
                byte_per_s=_number(rates["byte_per_s"][row]),
                share_of_peak=_number(rates["share_of_peak"][row]),
                bound=_text(rates["bound"][row]),
                headroom_ns=_number(rates["headroom_ns"][row]),
                peak_remark=peak_remark(
                    is_unknown=roof.is_unknown[row],
                    lacks_width=roof.lacks_width[row],
                    is_declared=True,
                ),
                recorded=recorded.get(frame.name, ()),
            )
        )
    found.sort(key=lambda kernel: -kernel.time_ns)
    return KernelTable(flat, found)


def recorded_by_name(profile: TreeProfile) -> dict[str, tuple[RecordedKernel, ...]]:
    """Name of a kernel in the tree -> what it recorded inside, over all its contexts."""
    found: dict[str, tuple[RecordedKernel, ...]] = {}
    for row, kernels in find_recorded(profile, profile.tree).kernels.items():
        name = profile.tree.frames[row].name
        known = found.get(name, ())
        found[name] = (*known, *(kernel for kernel in kernels if kernel not in known))
    for kernel in profile.in_kernel:  # also where its context is not in the tree
        found.setdefault(kernel.kernel, (kernel,))
    return found


def _number(value: Cell) -> float | None:
    return value if isinstance(value, (int, float)) else None


def _text(value: Cell) -> str | None:
    return value if isinstance(value, str) else None
