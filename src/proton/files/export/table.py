"""A profile as a flat table, a row for each context or span, written as CSV or Parquet.

Parquet needs pyarrow, which is loaded when used. What the profile says of itself (losses, device,
command) stands as JSON in the metadata of a Parquet file under the key `proton`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proton.errors import PackageMissing, UsageError
from proton.files.encoding.schema import PROTON_KEY
from proton.files.encoding.summary import device_map, summary_object
from proton.files.export.stacks import Exported, loss_notes
from proton.model.metric import MetricKind, Metrics, MetricValue
from proton.model.profile import LABELS, Profile, TraceProfile, TreeProfile, kind_of
from proton.model.span_table import span_table
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
    spans = span_table(trace.spans)
    looks, lanes = spans.looks, trace.lanes
    columns: Columns = {
        "start_ns": list(spans.start_ns),
        "duration_ns": list(spans.duration_ns),
        "kind": _pick([look.kind.value for look in looks], spans.look),
        "name": _pick([look.name for look in looks], spans.look),
        "path": _pick([_joined(look.path) for look in looks], spans.look),
        "lane": _pick([lane.name for lane in lanes], spans.lane),
        "lane_kind": _pick([lane.kind.value for lane in lanes], spans.lane),
    }
    if trace.base_time_ns is not None:
        base = trace.base_time_ns
        columns["unix_ns"] = [base + round(start_ns) for start_ns in spans.start_ns]
    used = list(dict.fromkeys(spans.look))  # columns come in the order in which spans have them
    for maps in ([looks[at].metrics for at in used], [looks[at].attributes for at in used]):
        for name, values in _by_name(maps).items():
            of_looks = dict(zip(used, values, strict=True))
            columns[_free(name, columns)] = [of_looks[at] for at in spans.look]
    return columns


def _pick(values: list[Any], places: Iterable[int]) -> list[Any]:
    return list(map(values.__getitem__, places))


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


def export_csv(profile: TreeProfile | TraceProfile, metric: str | None = None) -> Exported:
    """`profile` as CSV in UTF-8 with a line of names on top; what is not known is empty.

    Raises:
        UsageError: A metric was picked, but all have their column.
    """
    refuse_metric(metric)
    columns = columns_of(profile)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*map(_with_texts, columns.values()), strict=True))
    return Exported(out.getvalue().encode(), loss_notes(profile))


def refuse_metric(metric: str | None) -> None:
    """Tables hold every metric, so that none can be picked."""
    if metric is not None:
        raise UsageError(f"--metric {metric!r} has no meaning here: a table holds every metric")


def _with_texts(column: Sequence[Cell]) -> Iterable[object]:
    """The cells, lists as JSON: each once, since many rows share one."""
    if tuple not in set(map(type, column)):
        return column
    lists = {id(cell): cell for cell in column if isinstance(cell, tuple)}
    texts = {key: json.dumps(cell) for key, cell in lists.items()}
    return (texts.get(id(cell), cell) for cell in column)


_INT64 = range(-(2**63), 2**63)


def export_parquet(profile: TreeProfile | TraceProfile, metric: str | None = None) -> Exported:
    """`profile` as Parquet.

    Raises:
        PackageMissing: pyarrow is not installed.
        UsageError: A metric was picked, but all have their column.
    """
    refuse_metric(metric)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise PackageMissing(
            "Parquet", "pyarrow", remedy='pip install "proton-profiler[parquet]"'
        ) from None
    arrays = {name: _array(pyarrow, name, cells) for name, cells in columns_of(profile).items()}
    said = summary_object(profile) | {"devices": device_map(profile)}
    table = pyarrow.table(arrays).replace_schema_metadata({PROTON_KEY: json.dumps(said)})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return Exported(out.getvalue())


def _array(pyarrow: Any, name: str, cells: list[Cell]) -> Any:
    """A column of one type: whole numbers, numbers, lists of numbers, or texts."""
    known = [cell for cell in cells if cell is not None]
    if not known and name == "file":
        return pyarrow.array(cells, pyarrow.string())
    if all(isinstance(cell, int) and cell in _INT64 for cell in known):
        return pyarrow.array(cells, pyarrow.int64())
    if all(isinstance(cell, int | float) for cell in known):
        numbers = [float(cell) if isinstance(cell, int | float) else None for cell in cells]
        return pyarrow.array(numbers, pyarrow.float64())
    if all(isinstance(cell, tuple) for cell in known):
        return pyarrow.array(cells, pyarrow.list_(pyarrow.float64()))
    return pyarrow.array([_text(cell) for cell in cells], pyarrow.string())


def _text(cell: Cell) -> str | None:
    return cell if cell is None or isinstance(cell, str) else json.dumps(cell)
