"""Kernels by name as a table of text, sorted as asked for: what `profile.table()` returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proton.analysis.kernel_table import KernelFacts, kernel_table
from proton.analysis.tuning_work import without_tuning
from proton.analysis.union_quantiles import Quantile, is_estimated
from proton.errors import UsageError
from proton.model.profile import TreeProfile
from proton.render.display_names import cut_names, shown_names
from proton.render.text.aligned_table import table_lines
from proton.render.text.head import head_lines
from proton.render.text.style import Style
from proton.render.units import MISSING, Notation, column_time_unit, format_count, format_number

_NAME_ROOM = 60


def _time_ns(kernel: KernelFacts) -> float | None:
    return kernel.time_ns


# What to sort by -> the value of a kernel. Names that users of torch.profiler type mean the same.
SORTS: dict[str, Callable[[KernelFacts], float | None]] = {
    "time": _time_ns,
    "count": lambda kernel: kernel.count,
    "avg_time": lambda kernel: kernel.avg_ns,
    "min_time": lambda kernel: kernel.min_ns,
    "p50_time": lambda kernel: None if kernel.p50_ns is None else kernel.p50_ns.value,
    "p99_time": lambda kernel: None if kernel.p99_ns is None else kernel.p99_ns.value,
    "max_time": lambda kernel: kernel.max_ns,
    "util": lambda kernel: kernel.share_of_peak,
    "headroom": lambda kernel: kernel.headroom_ns,
    **dict.fromkeys(
        (
            f"{own}{device}_time_total"
            for own in ("", "self_")
            for device in ("cuda", "device", "gpu")
        ),
        _time_ns,
    ),
}


def kernel_list(profile: TreeProfile, sort_by: str = "time", most: int | None = None) -> list[str]:
    """The head of a prepared profile and a line for each kernel, the largest first.

    Args:
        profile: A profile as `prepare` returns it; autotuning is left out, and said.
        sort_by: One of `SORTS`.
        most: How many kernels to list; None: all.

    Raises:
        UsageError: There is nothing to sort by of this name.
    """
    if (value := SORTS.get(sort_by)) is None:
        raise UsageError.unknown("sort_by", sort_by, choices=SORTS)
    program, tuning = without_tuning(profile)
    lines = [*head_lines(program, Style(), tuning), ""]
    kernels = kernel_table(program).kernels
    if not kernels:
        return [*lines, "no kernel ran"]
    kernels.sort(key=lambda kernel: -(value(kernel) or 0.0))
    listed = kernels[:most]
    shown = shown_names(frame.name for frame in profile.tree.frames)
    if listed:
        lines += _table(listed, shown, "time (interpreted)" if profile.is_interpreted else "time")
    if (more := len(kernels) - len(listed)) > 0:
        lines += ["", f"{format_count(more)} more"]
    return lines


def _table(kernels: Sequence[KernelFacts], shown: dict[str, str], time: str) -> list[str]:
    total, total_ns = column_time_unit(max(kernel.time_ns for kernel in kernels))
    run, run_ns = column_time_unit(
        max((kernel.max_ns or kernel.avg_ns or 0.0 for kernel in kernels), default=0.0)
    )
    titles = [
        *("name", f"{time} {total}", "share %", "count", f"avg {run}", f"p50 {run}", f"p99 {run}"),
        *("of peak %", "bound", f"could save {total}"),
    ]
    names = cut_names([shown[kernel.name] for kernel in kernels], _NAME_ROOM)
    rows = [
        (
            name,
            _in(kernel.time_ns, total_ns),
            _in(kernel.share, 0.01, 1),
            MISSING if kernel.count is None else format_count(kernel.count),
            _in(kernel.avg_ns, run_ns),
            *(_quantile(each, run_ns) for each in (kernel.p50_ns, kernel.p99_ns)),
            _in(kernel.share_of_peak, 0.01, 1),
            kernel.bound or MISSING,
            _in(kernel.headroom_ns, total_ns),
        )
        for name, kernel in zip(names, kernels, strict=True)
    ]
    return table_lines(titles, rows, Style(), align="<>>>>>>>>>")


def _in(value: float | None, length: float, decimals: int = 3) -> str:
    return MISSING if value is None else format_number(value / length, Notation(decimals))


def _quantile(quantile: Quantile | None, length: float) -> str:
    if quantile is None:
        return MISSING
    return ("~" if is_estimated(quantile) else "") + _in(quantile.value, length)
