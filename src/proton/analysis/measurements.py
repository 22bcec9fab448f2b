"""What a tree measured: the names of its metrics, the value of one in every row, and totals.

A metric is found by the name that a person types, with or without its unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from types import NoneType
from typing import cast

from proton.errors import MetricNotFound, did_you_mean
from proton.model.host_time import has_operators, outermost, shown_times_ns
from proton.model.metric import CPU_TIME_NS, USER_PREFIX, MetricKind, MetricValue, split_unit
from proton.model.profile import LABELS
from proton.model.tree import Tree

Cell = MetricValue | None  # a metric of one row
_MIXED = "numbers and lists of several lengths"  # compared by identity; never shown


def raw_metrics(tree: Tree) -> list[str]:
    """Every metric name that some context has, in first-seen order, labels last."""
    return sorted(dict.fromkeys(chain.from_iterable(tree.own)), key=lambda name: name in LABELS)


def shown_name(metric: str) -> str:
    """`"time (ns)"` -> `"time"`: what people read."""
    return metric.split("(", 1)[0].strip() or metric


def plain_name(metric: str) -> str:
    """`"time (ns)"` -> `"time"`: what people type, in lower case."""
    return shown_name(metric).lower()


def find_metric(name: str, available: Iterable[str]) -> str | None:
    """The metric that `name` means: exact, or without unit, and only then in any case.

    Where no backend measured it, one that a user gave the same name.
    """
    name, available = name.strip(), list(available)
    for read in (str, shown_name):  # two may differ in their case alone
        for metric in available:
            if name == read(metric):
                return metric
    wanted = name.lower()
    loose = users = None
    for metric in available:
        if wanted == metric.lower():
            return metric
        if loose is None and wanted == plain_name(metric):
            loose = metric
        if users is None and wanted == plain_name(metric.removeprefix(USER_PREFIX)):
            users = metric
    return loose or users


def unit_of(metric: str) -> str:
    """The unit in a metric's name: `"time (ns)"` -> `"ns"`; `""` without one."""
    unit = split_unit(metric)[1]
    return "" if unit in ("inc", "exc", "pty") else unit


def unknown_metric(name: str, available: Sequence[str], derived: Iterable[str]) -> MetricNotFound:
    """The error for a metric that a profile does not have: the nearest name, then the choices."""
    shown = list(dict.fromkeys(map(shown_name, available)))
    hint = did_you_mean(name.lower(), [*shown, *derived])
    choices = ", ".join(repr(metric) for metric in shown) or "none"
    return MetricNotFound(
        f"unknown metric {name!r}{hint}; this profile has {choices}; "
        "-l lists them and what can be derived"
    )


def shown_values(tree: Tree, metric: str, kind: MetricKind) -> list[Cell]:
    """`metric` of every row: an inclusive one with all below it, others of the row alone.

    Rows around operators have their time of the host.
    """
    if metric == CPU_TIME_NS and kind is MetricKind.EXCLUSIVE and has_operators(tree):
        return list(shown_times_ns(tree))
    own: list[Cell] = [metrics.get(metric) for metrics in tree.own]
    if own and own[0] == 0:
        own[0] = None  # the root's zero only says that the metric is inclusive
    if kind is not MetricKind.INCLUSIVE:
        return own
    return _accumulate(own, tree)


def total_of(values: Sequence[Cell], kind: MetricKind) -> float | None:
    """All of a metric: the root's value if inclusive, the sum if exclusive, None for a property."""
    if kind is MetricKind.PROPERTY or not values:
        return None
    if kind is MetricKind.INCLUSIVE:
        return values[0] if isinstance(values[0], (int, float)) else None
    numbers = [value for value in values if isinstance(value, (int, float))]
    return sum(numbers) if numbers else None


def whole_of(tree: Tree, metric: str) -> float | None:
    """All of `metric`, each moment once; None where no context measured it.

    An inclusive metric is summed over all contexts, time of the host over the outermost.
    """
    if metric == CPU_TIME_NS:
        return _host_whole(tree)
    found = [own[metric] for own in tree.own if metric in own]
    numbers = [value for value in found if isinstance(value, (int, float))]
    is_measured = len(numbers) > (metric in tree.own[0])  # the root's zero is only a mark
    return sum(numbers) if is_measured or any(numbers) else None


def _host_whole(tree: Tree) -> float | None:
    if isinstance(whole := tree.own[0].get(CPU_TIME_NS), (int, float)) and whole:
        return whole  # a list of names, which may lie in each other, has it there
    mask = outermost(tree, CPU_TIME_NS)
    times = [own[CPU_TIME_NS] for own, kept in zip(tree.own, mask, strict=True) if kept]
    numbers = [time for time in times if isinstance(time, (int, float))]
    return sum(numbers) if numbers else None


def _accumulate(values: list[Cell], tree: Tree) -> list[Cell]:
    """Sums over subtrees, lists element for element; what cannot be added is left out above."""
    if set(map(type, values)) <= {int, float, NoneType}:
        tree.add_upwards(cast("list[float | None]", values))
        return values
    for row in range(len(values) - 1, 0, -1):
        value = values[row]
        if value is None:
            continue
        parent = tree.parents[row]
        above = values[parent]
        if above is None:
            values[parent] = value
        elif isinstance(value, (int, float)) and isinstance(above, (int, float)):
            values[parent] = above + value
        elif isinstance(value, tuple) and isinstance(above, tuple) and len(value) == len(above):
            values[parent] = tuple(a + b for a, b in zip(above, value, strict=True))
        else:
            values[parent] = _MIXED
    return [None if value is _MIXED else value for value in values]
