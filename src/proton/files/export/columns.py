"""A profile as columns of a flat table, for CSV and Parquet: a row a context, or a row a span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proton.model.kinds import LABELS, kind_of
from proton.model.metric import MetricKind, Metrics, MetricValue
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.trace import Trace
from proton.model.tree import Tree

Cell = MetricValue | None
Columns = dict[str, list[Cell]]

SEPARATOR = " / "
_MOST_FRAMES = 64  # of a path: whole paths of deep recursion would fill the disk
_CUT = "..."


def columns_of(profile: TreeProfile | TraceProfile) -> Columns:
    """The table of a profile: of its tree, or of its trace where it has none."""
    if isinstance(profile, TreeProfile):
        return _of_tree(profile, profile.tree)
    return _of_trace(profile.trace)


def _of_tree(profile: Profile, tree: Tree) -> Columns:
    size = len(tree)
    columns: Columns = {
        "row": list(range(size)),
        "parent": [parent if parent >= 0 else None for parent in tree.parents],
        "depth": list(tree.depths()),
        "kind": [frame.kind.name.lower() for frame in tree.frames],
        "name": [frame.name for frame in tree.frames],
        "path": list(_paths(tree)),
        "file": [frame.file for frame in tree.frames],
        "line": [frame.line for frame in tree.frames],
    }
    metrics = _by_name(tree.own)
    for metric, values in metrics.items():
        columns[_free(metric, columns)] = values
    for metric in metrics:
        if metric not in LABELS and kind_of(profile, metric) is MetricKind.INCLUSIVE:
            totals: list[Cell] = list(tree.totals(metric))
            if any(total is not None for total in totals):
                columns[_free(f"total {metric}", columns)] = totals
    details = tree.details
    if details:
        for name in ("min_ns", "max_ns", "p50_ns", "p99_ns"):
            of_rows = {row: getattr(detail, name) for row, detail in details.items()}
            columns[_free(name, columns)] = [of_rows.get(row) for row in range(size)]
        launches = [details[row].attributes if row in details else {} for row in range(size)]
        for name, values in _by_name(launches).items():
            columns[_free(name, columns)] = values
    return columns


def _of_trace(trace: Trace) -> Columns:
    spans = trace.spans
    columns: Columns = {
        "start_ns": [span.start_ns for span in spans],
        "duration_ns": [span.duration_ns for span in spans],
        "kind": [span.kind.value for span in spans],
        "name": [span.name for span in spans],
        "path": [_joined(span.path) for span in spans],
        "lane": [trace.lanes[span.lane].name for span in spans],
        "lane_kind": [trace.lanes[span.lane].kind.value for span in spans],
    }
    if trace.base_time_ns is not None:
        base = trace.base_time_ns
        columns["unix_ns"] = [base + round(span.start_ns) for span in spans]
    for maps in ([span.metrics for span in spans], [span.attributes for span in spans]):
        for name, values in _by_name(maps).items():
            columns[_free(name, columns)] = values
    return columns


def _by_name(maps: Sequence[Metrics] | Sequence[Mapping[str, MetricValue]]) -> Columns:
    columns: Columns = {}
    for row, metrics in enumerate(maps):
        for name, value in metrics.items():
            if name not in columns:
                columns[name] = [None] * len(maps)
            columns[name][row] = value
    return columns


def _free(name: str, columns: Columns) -> str:
    """`name`, or one like it that no column has yet."""
    while name in columns:
        name += "_"
    return name


def _paths(tree: Tree) -> list[str]:
    path: list[str] = []
    found = []
    for row, depth in enumerate(tree.depths()):
        path[max(depth - 1, 0) :] = [tree.frames[row].name] if row else []
        found.append(_joined(path))
    return found


def _joined(path: Sequence[str]) -> str:
    shown = [_CUT, *path[-_MOST_FRAMES:]] if len(path) > _MOST_FRAMES else path
    return SEPARATOR.join(shown)
