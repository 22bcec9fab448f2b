"""Values of the details of kernels: how their runs spread, and how they were launched.

Details are those of single contexts with a kernel; a context without one has no value, because
quantiles of what lies below it do not follow from theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proton.model.detail import KernelDetail
from proton.model.metric import MetricValue
from proton.model.tree import Tree

Cell = MetricValue | None

SPREAD: Mapping[str, Callable[[KernelDetail], int | None]] = {
    "min_time": lambda detail: detail.min_ns,
    "max_time": lambda detail: detail.max_ns,
    "p50_time": lambda detail: detail.p50_ns,
    "p99_time": lambda detail: detail.p99_ns,
}


def spread_ns(tree: Tree, name: str) -> list[int | None]:
    """One of `SPREAD` for every row, in nanoseconds; None where it is not known."""
    pick = SPREAD[name]
    values: list[int | None] = [None] * len(tree)
    for row, detail in tree.details.items():
        values[row] = pick(detail)
    return values


def launch_values(tree: Tree, name: str) -> list[Cell]:
    """One of `LAUNCH` for every row; None where launches of the row differ or nobody told."""
    pick = LAUNCH[name]
    values: list[Cell] = [None] * len(tree)
    for row, detail in tree.details.items():
        values[row] = pick(detail)
    return values


def known_words(tree: Tree) -> list[str]:
    """The words of `SPREAD` and `LAUNCH` that some row has a value for."""
    details = tree.details.values()
    found = [name for name, pick in SPREAD.items() if any(pick(d) is not None for d in details)]
    return found + [name for name, of in LAUNCH.items() if any(of(d) is not None for d in details)]


def _extent(attribute: str) -> Callable[[KernelDetail], Cell]:
    def text(detail: KernelDetail) -> Cell:
        value = detail.attributes.get(attribute)
        return "x".join(map(str, value)) if isinstance(value, tuple) else None

    return text


def _shared_bytes(detail: KernelDetail) -> Cell:
    """Shared memory of a block, whether the kernel or its launch asked for it."""
    parts = [detail.attributes.get(f"{kind}_shared_bytes") for kind in ("static", "dynamic")]
    known = [part for part in parts if isinstance(part, (int, float))]
    return sum(known) if known else None


LAUNCH: Mapping[str, Callable[[KernelDetail], Cell]] = {
    "grid": _extent("grid"),
    "block": _extent("block"),
    "regs": lambda detail: detail.attributes.get("registers"),
    "shared": _shared_bytes,
    "occupancy": lambda detail: detail.attributes.get("occupancy"),
}
