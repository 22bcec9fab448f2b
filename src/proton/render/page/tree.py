"""The part `tree`: the contexts of a profile as columns, and what was measured in each of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

from proton.analysis.several_devices import device_marks
from proton.analysis.spread import LAUNCH
from proton.model.frame import Frame
from proton.model.host_time import has_operators, with_self_times
from proton.model.metric import COUNT, CPU_TIME_NS, TIME_NS, MetricKind, MetricValue
from proton.model.profile import LABELS, TreeProfile, kind_of
from proton.model.tree import KernelDetail, Tree
from proton.render.page.pack import ColumnId, Columns

_FIRST = (TIME_NS, CPU_TIME_NS, COUNT, "flops", "bytes")  # metrics, in the order of their menu


class Place(NamedTuple):
    """Where a Python frame or a sampled line is in the source."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class MetricColumns:
    """One metric: the rows that have it, ascending, and the number of each row alone."""

    name: str
    kind: MetricKind
    rows: ColumnId
    values: ColumnId


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """How the kernel of a context was launched; null where launches differ or nobody told."""

    grid: str | None
    block: str | None
    regs: float | None
    shared: float | None
    occupancy: float | None


@dataclass(frozen=True, slots=True)
class RunColumns:
    """How long the runs of a kernel took, with a place for each row that knows; NaN: not known."""

    rows: ColumnId
    min_ns: ColumnId
    p50_ns: ColumnId
    p99_ns: ColumnId
    max_ns: ColumnId
    launch: ColumnId  # a place in `launches`


@dataclass(frozen=True, slots=True)
class TreePart:
    """Contexts by row, depth first, row 0 the root. Frames that many rows share stand once."""

    names: Sequence[str]  # of frames, as the file has them
    kinds: str  # of frames, a letter each
    places: Mapping[str, Place]  # number of a frame -> its place, where it has one
    frame: ColumnId  # of each row: the number of its frame
    parent: ColumnId  # of each row: the row above it, -1 for the root
    marks: Mapping[str, str]  # number of a row -> `(GPU 1)`, where rows beside it have its name
    metrics: Sequence[MetricColumns]
    runs: RunColumns
    launches: Sequence[LaunchShape]


def tree_part(profile: TreeProfile, columns: Columns) -> TreePart:
    """The tree of a profile that `prepare` returned."""
    tree = profile.tree
    numbers: dict[Frame, int] = {}
    frame = columns.add("u32", [numbers.setdefault(one, len(numbers)) for one in tree.frames])
    launches: dict[LaunchShape, int] = {}
    return TreePart(
        names=[one.name for one in numbers],
        kinds="".join(one.kind.value for one in numbers),
        places={
            str(number): Place(one.file, one.line, one.function or "")
            for one, number in numbers.items()
            if one.file is not None and one.line is not None
        },
        frame=frame,
        parent=columns.add("i32", tree.parents),
        marks={str(row): mark for row, mark in enumerate(device_marks(tree) or ()) if mark},
        metrics=_metrics(profile, tree, columns),
        runs=_runs(tree.details, launches, columns),
        launches=list(launches),
    )


def _metrics(profile: TreeProfile, tree: Tree, columns: Columns) -> list[MetricColumns]:
    """Metrics that are numbers. A zero of the root only says that a metric is inclusive.

    Where operators were recorded, time of the host is that of each without those inside, which adds
    up: rows around operators, backward ones too, have what is in them.
    """
    if adds_up := has_operators(tree):
        tree = with_self_times(tree)
    rows: dict[str, array[int]] = {}
    values: dict[str, array[float]] = {}
    for row, own in enumerate(tree.own):
        for name, value in own.items():
            if isinstance(value, str | tuple):
                continue
            if name not in rows:
                rows[name], values[name] = array("I"), array("d")
            if row or value:
                rows[name].append(row)
                values[name].append(value)
    names = [name for name in rows if rows[name] and name not in LABELS]
    names.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return [
        MetricColumns(
            name,
            MetricKind.INCLUSIVE if adds_up and name == CPU_TIME_NS else kind_of(profile, name),
            columns.add("u32", rows[name]),
            columns.add("f64", values[name]),
        )
        for name in names
    ]


def _runs(
    details: Mapping[int, KernelDetail], launches: dict[LaunchShape, int], columns: Columns
) -> RunColumns:
    runs = list(details.values())
    return RunColumns(
        rows=columns.add("u32", details),
        min_ns=columns.add("f64", (run.min_ns for run in runs)),
        p50_ns=columns.add("f64", (_number(run.p50_ns) for run in runs)),
        p99_ns=columns.add("f64", (_number(run.p99_ns) for run in runs)),
        max_ns=columns.add("f64", (run.max_ns for run in runs)),
        launch=columns.add("u32", _launch_numbers(runs, launches)),
    )


def _launch_numbers(
    runs: Sequence[KernelDetail], launches: dict[LaunchShape, int]
) -> Iterator[int]:
    known: dict[int, int] = {}  # by the identity of attributes, which many runs share
    for run in runs:
        if (number := known.get(id(run.attributes))) is None:
            number = launches.setdefault(_launch(run), len(launches))
            known[id(run.attributes)] = number
        yield number


def _number(value: float | None) -> float:
    return nan if value is None else value


def _launch(run: KernelDetail) -> LaunchShape:
    grid, block, regs, shared, occupancy = (pick(run) for pick in LAUNCH.values())
    return LaunchShape(
        grid=None if grid is None else str(grid),
        block=None if block is None else str(block),
        regs=number_or_none(regs),
        shared=number_or_none(shared),
        occupancy=number_or_none(occupancy),
    )


def number_or_none(value: MetricValue | None) -> float | None:
    """`value` where it is a single number."""
    return None if isinstance(value, str | tuple) else value
