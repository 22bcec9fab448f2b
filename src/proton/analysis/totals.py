"""Values of a metric for every row, by its kind: with what is below, or of the row alone."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import cast

from proton.model.metric import MetricKind, MetricValue
from proton.model.tree import Tree

Cell = MetricValue | None


def shown_values(tree: Tree, metric: str, kind: MetricKind) -> list[Cell]:
    """`metric` of every row: an inclusive one with all below it, others of the row alone."""
    own: list[Cell] = [metrics.get(metric) for metrics in tree.own]
    if own and own[0] == 0:
        own[0] = None  # the root's zero only says that the metric is inclusive
    if kind is not MetricKind.INCLUSIVE:
        return own
    return _accumulate(own, tree.parents)


def total_of(values: Sequence[Cell], kind: MetricKind) -> float | None:
    """All of a metric: the root's value if inclusive, the sum if exclusive, None for a property."""
    if kind is MetricKind.PROPERTY or not values:
        return None
    if kind is MetricKind.INCLUSIVE:
        return values[0] if isinstance(values[0], (int, float)) else None
    numbers = [value for value in values if isinstance(value, (int, float))]
    return sum(numbers) if numbers else None


def whole_of(tree: Tree, metric: str) -> float | None:
    """The sum of an inclusive `metric` over all contexts; None where none measured it."""
    found = [own[metric] for own in tree.own if metric in own]
    numbers = [value for value in found if isinstance(value, (int, float))]
    is_measured = len(numbers) > (metric in tree.own[0])  # the root's zero is only a mark
    return sum(numbers) if is_measured or any(numbers) else None


def _accumulate(values: list[Cell], parents: Sequence[int]) -> list[Cell]:
    """Sums over subtrees, lists element for element; what cannot be added is left out above."""
    if set(map(type, values)) <= {int, float, NoneType}:
        _accumulate_numbers(cast("list[float | None]", values), parents)
        return values
    for row in range(len(values) - 1, 0, -1):
        value = values[row]
        if value is None:
            continue
        parent = parents[row]
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


def _accumulate_numbers(values: list[float | None], parents: Sequence[int]) -> None:
    for row in range(len(values) - 1, 0, -1):
        if (value := values[row]) is not None:
            parent = parents[row]
            above = values[parent]
            values[parent] = value if above is None else above + value


_MIXED = "numbers and lists of several lengths"  # compared by identity; never shown
