"""The part `kernels`: every kernel and copy by name, with times, rates and share of the peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proton.analysis.kernel_table import kernel_table
from proton.analysis.measurements import Cell, whole_of
from proton.analysis.spread import launch_values
from proton.analysis.union_quantiles import Quantile, is_estimated
from proton.model.frame import FrameKind
from proton.model.metric import TIME_NS
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.page.tree import number_or_none
from proton.render.text.kernel_remarks import recording_remark

Numbers = Sequence[float | None]
Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class KernelsPart:
    """Lists with a place for each kernel, those with the most time first.

    `name` is as in the file; times are nanoseconds, shares 0 to 1; what is not known is null.
    `p50_ns` and `p99_ns` are `[value, least, largest]`, the last two where a value is estimated
    from several contexts and lies surely between them. `peak_remark` says why a share of peak is
    not known, or is at least so much; `recording_remark` that its time includes records.
    """

    name: Sequence[str]
    kind: Sequence[FrameKind]
    time_ns: Sequence[float]
    share: Numbers
    count: Numbers
    avg_ns: Numbers
    min_ns: Numbers
    p50_ns: Sequence[Sequence[float] | None]
    p99_ns: Sequence[Sequence[float] | None]
    max_ns: Numbers
    flop_per_s: Numbers
    byte_per_s: Numbers
    share_of_peak: Numbers
    bound: Texts
    headroom_ns: Numbers
    peak_remark: Texts
    recording_remark: Texts
    grid: Texts
    block: Texts
    regs: Numbers
    shared: Numbers
    occupancy: Numbers


def kernels_part(profile: TreeProfile) -> KernelsPart | None:
    """All kernels and copies; None where no time was measured."""
    if whole_of(profile.tree, TIME_NS) is None:
        return None
    flat, kernels = kernel_table(profile)
    rows = [kernel.row for kernel in kernels]
    return KernelsPart(
        name=[kernel.name for kernel in kernels],
        kind=[kernel.kind for kernel in kernels],
        time_ns=[kernel.time_ns for kernel in kernels],
        share=[kernel.share for kernel in kernels],
        count=[kernel.count for kernel in kernels],
        avg_ns=[kernel.avg_ns for kernel in kernels],
        min_ns=[kernel.min_ns for kernel in kernels],
        p50_ns=[_shown(kernel.p50_ns) for kernel in kernels],
        p99_ns=[_shown(kernel.p99_ns) for kernel in kernels],
        max_ns=[kernel.max_ns for kernel in kernels],
        flop_per_s=[kernel.flop_per_s for kernel in kernels],
        byte_per_s=[kernel.byte_per_s for kernel in kernels],
        share_of_peak=[kernel.share_of_peak for kernel in kernels],
        bound=[kernel.bound for kernel in kernels],
        headroom_ns=[kernel.headroom_ns for kernel in kernels],
        peak_remark=[kernel.peak_remark or None for kernel in kernels],
        recording_remark=[recording_remark(kernel.recorded) or None for kernel in kernels],
        grid=_texts(_launches(flat.tree, "grid", rows)),
        block=_texts(_launches(flat.tree, "block", rows)),
        regs=_numbers(_launches(flat.tree, "regs", rows)),
        shared=_numbers(_launches(flat.tree, "shared", rows)),
        occupancy=_numbers(_launches(flat.tree, "occupancy", rows)),
    )


def _launches(tree: Tree, word: str, rows: Sequence[int]) -> list[Cell]:
    values = launch_values(tree, word)
    return [values[row] for row in rows]


def _numbers(values: Sequence[Cell]) -> Numbers:
    return [number_or_none(value) for value in values]


def _texts(values: Sequence[Cell]) -> Texts:
    return [value if isinstance(value, str) else None for value in values]


def _shown(quantile: Quantile | None) -> Sequence[float] | None:
    if quantile is None:
        return None
    return list(quantile) if is_estimated(quantile) else [quantile.value]
