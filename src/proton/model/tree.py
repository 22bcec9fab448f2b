"""The calling-context tree as columns in parents-first order, with `Node` as a view of one row.

Columns because profiles are large and may be 10 000 levels deep: every walk is a loop over rows,
never a recursion, and totals are one backward pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from proton.model.frame import Frame
from proton.model.metric import EMPTY, Metrics, MetricValue

_Time = TypeVar("_Time", int, float)


class KernelDetail(NamedTuple):
    """What is known of a context's kernel beyond sums. Quantiles are None where nobody knows them.

    `attributes` are those of every launch in this context: `grid`, `block` (three numbers each),
    `registers`, `static_shared_bytes`, `dynamic_shared_bytes`, `occupancy` (0 to 1), `stream` and
    what a backend adds.
    """

    min_ns: int
    max_ns: int
    p50_ns: int | None = None
    p99_ns: int | None = None
    attributes: Metrics = EMPTY


def merge_details(first: KernelDetail, second: KernelDetail) -> KernelDetail:
    """The detail of both sets of runs.

    The least and the largest time are those of both, and attributes stay where they are equal.
    Quantiles of a union do not follow from those of its parts, so they are dropped.
    """
    shared = first.attributes
    if shared != second.attributes:
        theirs = second.attributes
        shared = {name: value for name, value in shared.items() if theirs.get(name) == value}
    return KernelDetail(
        min_ns=min(first.min_ns, second.min_ns),
        max_ns=max(first.max_ns, second.max_ns),
        attributes=shared or EMPTY,
    )


def detail_of(times_ns: Sequence[int], attributes: Metrics = EMPTY) -> KernelDetail:
    """The detail of runs that took `times_ns`, of which there is at least one."""
    times = sorted(times_ns)
    p50, p99 = quantiles(times, 0.5, 0.99)
    return KernelDetail(times[0], times[-1], p50, p99, attributes)


def quantiles(ordered: Sequence[_Time], *shares: float) -> list[_Time]:
    """The least of times, of which there is at least one, that such shares of them do not exceed.

    Args:
        ordered: The times, the least first.
        shares: Numbers above 0, up to 1.
    """
    return [ordered[ceil(share * len(ordered)) - 1] for share in shares]


def _none() -> Mapping[int, KernelDetail]:
    return MappingProxyType({})


def _never() -> Mapping[int, int]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Tree:
    """All contexts of a profile. Row 0 is the root; a parent's row comes before its children's.

    Rows stand in depth-first order: the subtree of row i is the rows from i up to `ends[i]`.
    """

    frames: Sequence[Frame]
    parents: Sequence[int]  # parents[0] is -1
    own: Sequence[Metrics]  # what was measured in this context alone
    details: Mapping[int, KernelDetail] = field(default_factory=_none)  # row -> its kernel's
    entries: Mapping[int, int] = field(default_factory=_never)  # row -> how often it was entered

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def root(self) -> Node:
        """The view of row 0."""
        return Node(self, 0)

    def nodes(self) -> Iterator[Node]:
        """A view of every row, parents first."""
        return (Node(self, row) for row in range(len(self.frames)))

    def depths(self) -> list[int]:
        """The distance of every row from the root."""
        depths = [0] * len(self.parents)
        for row, parent in enumerate(self.parents):
            if parent >= 0:
                depths[row] = depths[parent] + 1
        return depths

    def ends(self) -> list[int]:
        """For every row, one past the last row of its subtree."""
        ends = list(range(1, len(self.parents) + 1))
        for row in range(len(self.parents) - 1, 0, -1):
            parent = self.parents[row]
            if ends[row] > ends[parent]:
                ends[parent] = ends[row]
        return ends

    def own_numbers(self, metric: str) -> list[float | None]:
        """`metric` of every row alone; None where it was not measured or is no single number."""
        return [
            value if isinstance(value := own.get(metric), (int, float)) else None
            for own in self.own
        ]

    def totals(self, metric: str) -> list[float | None]:
        """`metric` of every row and all below it; None where nothing below measured it."""
        totals = self.own_numbers(metric)
        self.add_upwards(totals)
        return totals

    def add_upwards(self, values: list[float | None]) -> None:
        """Add the value of every row to those above it; None: it has none."""
        parents = self.parents
        for row in range(len(values) - 1, 0, -1):
            if (value := values[row]) is not None:
                above = values[parents[row]]
                values[parents[row]] = value if above is None else above + value

    def path(self, row: int) -> list[str]:
        """The names from the root (left out) down to `row`."""
        names: list[str] = []
        while row > 0:
            names.append(self.frames[row].name)
            row = self.parents[row]
        return names[::-1]

    def steps(self) -> Steps:
        """Row and name of a child -> row of the child; the first of equal siblings."""
        found: dict[tuple[int, str], int] = {}
        for row in range(1, len(self)):
            found.setdefault((self.parents[row], self.frames[row].name), row)
        return found


Steps = Mapping[tuple[int, str], int]


def row_at(steps: Steps, path: Iterable[str], start: int = 0) -> int | None:
    """The row that the names of `path` lead to from `start`; None where there is none."""
    for name in path:
        below = steps.get((start, name))
        if below is None:
            return None
        start = below
    return start


def depth_first(parents: Sequence[int]) -> tuple[list[int], list[int]]:
    """Nodes in depth-first order, children in the order of their numbers, and each one's parent.

    Args:
        parents: The parent of every node, that of node 0 being -1; in any order.

    Returns:
        The node of every row, and the row of its parent.
    """
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    nodes: list[int] = []
    rows: list[int] = []
    pending = [(0, -1)]
    while pending:
        node, above = pending.pop()
        pending.extend((child, len(nodes)) for child in reversed(children[node]))
        nodes.append(node)
        rows.append(above)
    return nodes, rows


@dataclass(frozen=True, slots=True)
class Node:
    """One calling context: a row of a tree, for code that reads better in nodes than in rows."""

    tree: Tree
    row: int

    @property
    def frame(self) -> Frame:
        """The last name of the path."""
        return self.tree.frames[self.row]

    @property
    def name(self) -> str:
        """The frame's name."""
        return self.tree.frames[self.row].name

    @property
    def own(self) -> Metrics:
        """What was measured in this context alone."""
        return self.tree.own[self.row]

    @property
    def parent(self) -> Node | None:
        """The context one frame shorter; None for the root."""
        parent = self.tree.parents[self.row]
        return None if parent < 0 else Node(self.tree, parent)

    @property
    def children(self) -> list[Node]:
        """The contexts one frame longer, in first-seen order. Costs a walk of the subtree."""
        parents = self.tree.parents
        found = []
        for row in range(self.row + 1, len(parents)):
            if parents[row] < self.row:
                break
            if parents[row] == self.row:
                found.append(Node(self.tree, row))
        return found

    def child(self, name: str) -> Node:
        """The child of this name; KeyError lists the names there are."""
        children = self.children
        for node in children:
            if node.name == name:
                return node
        raise KeyError(
            f"{name!r} is not below {self.name!r}; there are {[n.name for n in children]}"
        )

    def walk(self) -> Iterator[Node]:
        """Every node below and including this one, parents first."""
        parents = self.tree.parents
        yield self
        for row in range(self.row + 1, len(parents)):
            if parents[row] < self.row:
                break
            yield Node(self.tree, row)

    def path(self) -> tuple[str, ...]:
        """The names from the root (left out) down to this node."""
        return tuple(self.tree.path(self.row))

    def total(self, metric: str) -> float:
        """The sum of `metric` over this node and all below it; 0 where nothing measured it."""
        found = (node.own.get(metric, 0) for node in self.walk())
        return sum(value for value in found if isinstance(value, (int, float)))

    def value(self, metric: str) -> MetricValue | None:
        """`metric` of this node alone, or None."""
        return self.own.get(metric)
