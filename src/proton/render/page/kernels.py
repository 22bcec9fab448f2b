"""The part `kernels`: every kernel and copy by name, with times, rates and share of the peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from proton.analysis.aggregate import merge_by_name
from proton.analysis.derive import rates_of
from proton.analysis.measurements import Cell, whole_of
from proton.analysis.select import everything
from proton.analysis.spread import launch_values
from proton.analysis.union_quantiles import Quantile, quantiles_of_kernels, quantiles_of_spans
from proton.model.frame import FrameKind
from proton.model.metric import COUNT, TIME_NS
from proton.model.profile import TreeProfile, kind_of
from proton.model.tree import Tree
from proton.render.page.tree import number_or_none

Numbers = Sequence[float | None]
Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class KernelsPart:
    """Lists with a place for each kernel, those with the most time first.

    `name` is as in the file; times are nanoseconds, shares 0 to 1; what is not known is null.
    `p50_ns` and `p99_ns` are `[value, least, largest]`, the last two where a value is estimated
    from several contexts and lies surely between them.
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
    grid: Texts
    block: Texts
    regs: Numbers
    shared: Numbers
    occupancy: Numbers


def kernels_part(profile: TreeProfile) -> KernelsPart | None:
    """All kernels and copies; None where no time was measured."""
    tree = profile.tree
    whole = whole_of(tree, TIME_NS)
    if whole is None:
        return None
    flat = merge_by_name(profile, TIME_NS, everything(tree), cache(partial(kind_of, profile)))
    times = flat.tree.own_numbers(TIME_NS)
    rows = [row for row in range(1, len(flat.tree)) if times[row] is not None]
    rows.sort(key=lambda row: -(times[row] or 0))
    counts = flat.tree.own_numbers(COUNT)
    trace = profile.trace
    quantiles = quantiles_of_kernels(tree) if trace is None else quantiles_of_spans(trace)
    names = [flat.tree.frames[row].name for row in rows]
    details = [flat.tree.details.get(row) for row in rows]
    middles = [quantiles.get(name) for name in names]
    rates = {name: [values[row] for row in rows] for name, values in rates_of(flat).items()}
    return KernelsPart(
        name=names,
        kind=[flat.tree.frames[row].kind for row in rows],
        time_ns=[times[row] or 0 for row in rows],
        share=[(times[row] or 0) / whole if whole else None for row in rows],
        count=[counts[row] for row in rows],
        avg_ns=[_ratio(times[row], counts[row]) for row in rows],
        min_ns=[None if detail is None else detail.min_ns for detail in details],
        p50_ns=[None if spread is None else _shown(spread.p50) for spread in middles],
        p99_ns=[None if spread is None else _shown(spread.p99) for spread in middles],
        max_ns=[None if detail is None else detail.max_ns for detail in details],
        flop_per_s=_numbers(rates["flop_per_s"]),
        byte_per_s=_numbers(rates["byte_per_s"]),
        share_of_peak=_numbers(rates["share_of_peak"]),
        bound=_texts(rates["bound"]),
        headroom_ns=_numbers(rates["headroom_ns"]),
        grid=_texts(_launches(flat.tree, "grid", rows)),
        block=_texts(_launches(flat.tree, "block", rows)),
        regs=_numbers(_launches(flat.tree, "regs", rows)),
        shared=_numbers(_launches(flat.tree, "shared", rows)),
        occupancy=_numbers(_launches(flat.tree, "occupancy", rows)),
    )


def _ratio(amount: float | None, count: float | None) -> float | None:
    return None if amount is None or not count else amount / count


def _launches(tree: Tree, word: str, rows: Sequence[int]) -> list[Cell]:
    values = launch_values(tree, word)
    return [values[row] for row in rows]


def _numbers(values: Sequence[Cell]) -> Numbers:
    return [number_or_none(value) for value in values]


def _texts(values: Sequence[Cell]) -> Texts:
    return [value if isinstance(value, str) else None for value in values]


def _shown(quantile: Quantile) -> Sequence[float]:
    return [quantile.value] if quantile.least == quantile.largest else list(quantile)
