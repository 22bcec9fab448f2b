"""`python -m proton.viewer`, and the functions that scripts import, on llnl-hatchet GraphFrames.

The command line needs neither llnl-hatchet nor pandas; the functions import them when called.
Columns of sums over subtrees end in ` (inc)`, as hatchet names them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from math import nan
from typing import IO, Any

from proton.analysis.derive import derive
from proton.analysis.roofline import FLOPS_WIDTHS
from proton.analysis.select import METADATA_SCOPE
from proton.cli.viewer import main
from proton.errors import FormatError
from proton.files.encoding.summary import device_map, read_devices
from proton.model.device import peak_bytes_per_second, peak_flops
from proton.model.frame import Frame
from proton.model.metric import DEVICE_ID, MetricKind, MetricValue
from proton.model.profile import LABELS, TreeProfile
from proton.model.tree import Tree

__all__ = [
    "apply_diff_profile",
    "derive_metrics",
    "filter_frames",
    "format_frames",
    "get_min_time_bytes",
    "get_min_time_flops",
    "get_raw_metrics",
    "main",
    "parse",
    "read",
]

GraphFrame = Any  # hatchet.GraphFrame: an optional dependency without types
DataFrame = Any
Devices = Mapping[str, Mapping[str, Mapping[str, Any]]]  # type -> index -> arch, num_sms, ...

_INCLUSIVE = " (inc)"


def read(filename: str) -> tuple[GraphFrame, list[str], list[str], Devices]:
    """A profile as (graph frame, inclusive metrics, exclusive metrics, device map).

    Raises:
        FormatError: The file is no hatchet profile.
        ImportError: llnl-hatchet is not installed.
    """
    with open(filename, "rb") as file:
        found = get_raw_metrics(file)
    found[0].update_inclusive_columns()
    return found


def get_raw_metrics(file: IO[Any]) -> tuple[GraphFrame, list[str], list[str], Devices]:
    """Like `read`, from an open file and without the columns of sums over subtrees."""
    hatchet = _hatchet()
    profile = _load(file)
    frame = hatchet.GraphFrame.from_literal([_literal(profile.tree)])
    inclusive = frame.show_metric_columns()
    exclusive = [column for column in frame.dataframe.columns if column not in inclusive]
    return frame, inclusive, exclusive, device_map(profile)


def parse(
    metrics: Sequence[str],
    filename: str,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
) -> tuple[GraphFrame, list[str]]:
    """Read a profile, derive `metrics`, filter by the first of them; frame and column names."""
    frame, inclusive, exclusive, devices = read(filename)
    derived = derive_metrics(frame, metrics, inclusive, exclusive, devices)
    return filter_frames(frame, include, exclude, threshold, derived[0]), derived


def derive_metrics(
    gf: GraphFrame,
    metrics: Sequence[str],
    inclusive_metrics: Sequence[str],
    exclusive_metrics: Sequence[str],
    device_info: Devices,
) -> list[str]:
    """Add a column for each of `metrics` (`time/ms`, `util`, ...) and return their names.

    Raises:
        MetricNotFound: A RuntimeError; the frame lacks a metric or what it is derived from.
        UsageError: A ValueError; the unit is unknown.
    """
    profile = _profile_of(gf, inclusive_metrics, exclusive_metrics, device_info)
    derived = [_add_column(gf, profile, metric, inclusive_metrics) for metric in metrics]
    for name in derived:
        (gf.inc_metrics if name.endswith("(inc)") else gf.exc_metrics).append(name)
    return derived


def filter_frames(
    gf: GraphFrame,
    include: str | None = None,
    exclude: str | None = None,
    threshold: float | None = None,
    metric: str | None = None,
) -> GraphFrame:
    """The frames that match `include` with all above and below them, or all but `exclude`."""
    if include:
        gf = gf.filter(["*", {"name": include}, "*"], squash=True)
    if exclude:
        from hatchet.query import NegationQuery, ObjectQuery

        gf = gf.filter(NegationQuery(ObjectQuery([{"name": exclude}, "*"])), squash=True)
    if threshold:
        gf = gf.filter(["*", {metric: f">= {threshold}"}], squash=True)
    return gf


def format_frames(gf: GraphFrame, format: str | None) -> GraphFrame:
    """Rewrite names that read `dir/file:line@function` to the parts that `format` names."""
    rewrite = {
        "file_function_line": lambda name: name.rsplit("/", 1)[-1],
        "function_line": lambda name: name.rsplit(":", 1)[-1],
        "file_function": _file_and_function,
    }.get(format or "full")
    if rewrite is not None:
        gf.dataframe["name"] = gf.dataframe["name"].map(rewrite)
    return gf


def get_min_time_flops(df: DataFrame, device_info: Devices) -> DataFrame:
    """Column `min_time`: the least seconds that the flops of each row take on its device."""
    return _least_times(df, device_info, {f"flops{width}": width for width in FLOPS_WIDTHS})


def get_min_time_bytes(df: DataFrame, device_info: Devices) -> DataFrame:
    """Column `min_time`: the least seconds that the bytes of each row take on its device."""
    return _least_times(df, device_info, {"bytes": None})


def _least_times(
    df: DataFrame, device_info: Devices, amounts: Mapping[str, int | None]
) -> DataFrame:
    """Seconds by the peaks of `amounts`: metric -> width of its operands, None for bytes."""
    import pandas

    least = pandas.DataFrame(0.0, index=df.index, columns=["min_time"])
    for device in read_devices(device_info, "profile"):
        rows = df["device_id"] == device.device_id
        for metric, width in amounts.items():
            if metric not in df.columns:
                continue
            if width is None:
                seconds = df.loc[rows, metric] / (peak_bytes_per_second(device) or nan)
            else:
                seconds = df.loc[rows, metric].fillna(0) / (peak_flops(device, width) or nan)
            least.loc[rows, "min_time"] += seconds
    return least


def apply_diff_profile(
    gf: GraphFrame,
    derived_metrics: Sequence[str],
    diff_file: str,
    metrics: Sequence[str],
    include: str | None,
    exclude: str | None,
    threshold: float | None,
) -> GraphFrame:
    """`gf` minus the profile in `diff_file`, treated the same way."""
    other, _ = parse(metrics, diff_file, include, exclude, threshold)
    for frame in (gf, other):
        frame.inc_metrics = [name for name in derived_metrics if name.endswith("(inc)")]
        frame.exc_metrics = [name for name in derived_metrics if not name.endswith("(inc)")]
    return gf.sub(other)


def _profile_of(
    gf: GraphFrame, inclusive: Sequence[str], exclusive: Sequence[str], devices: Devices
) -> TreeProfile:
    """The tree and the measured metrics of a frame, as `derive` takes them."""
    nodes = list(gf.graph.traverse())
    rows = {node: row for row, node in enumerate(nodes)}
    own: list[dict[str, MetricValue]] = [{} for _ in nodes]
    kinds = dict.fromkeys(exclusive, MetricKind.EXCLUSIVE)
    kinds |= dict.fromkeys(inclusive, MetricKind.INCLUSIVE) | dict.fromkeys(
        LABELS, MetricKind.PROPERTY
    )
    for metric in (name for name in (*inclusive, *exclusive) if name != "name"):
        column = gf.dataframe[metric].reindex(nodes)
        for metrics, value, is_there in zip(own, column, column.notna(), strict=True):
            if is_there:
                metrics[metric] = value
    return TreeProfile(
        "profile",
        Tree(
            [Frame(node.frame["name"]) for node in nodes],
            [rows[node.parents[0]] if node.parents else -1 for node in nodes],
            own,
        ),
        devices=read_devices(devices, "profile"),
        metric_kinds=kinds,
    )


def _add_column(gf: GraphFrame, profile: TreeProfile, metric: str, inclusive: Sequence[str]) -> str:
    """Add the column for `metric` where it is not there yet; its name."""
    (column,) = derive(profile, [metric])
    suffix = _INCLUSIVE if column.base in inclusive else ""
    if column.is_raw:
        return f"{column.base}{suffix}"
    frame, nodes = gf.dataframe, list(gf.graph.traverse())
    values = [value if isinstance(value, (int, float)) else None for value in column.values]
    if metric == "util":  # of what ran on a device, with or without work that it declares
        values = [
            (value or 0.0) if DEVICE_ID in own else None
            for value, own in zip(values, profile.tree.own, strict=True)
        ]
    elif column.unit != "%":
        suffix = _INCLUSIVE
    name = "util" if metric == "util" else f"{metric}{suffix}"
    frame[name] = type(frame["name"])(values, index=nodes, dtype=float).reindex(frame.index)
    return name


def _hatchet() -> Any:
    try:
        import hatchet
    except ImportError as error:
        raise ImportError(
            f"llnl-hatchet, whose graph frames are returned here, cannot be imported ({error}); "
            "`pip install llnl-hatchet` (the package called hatchet is another one)"
        ) from None
    return hatchet


def _load(file: IO[Any]) -> TreeProfile:
    from proton.files.read import read_profile

    data = file.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    profile = read_profile(data, str(getattr(file, "name", "profile")))
    if not isinstance(profile, TreeProfile):
        raise FormatError(f"{profile.source}: a trace, not a tree")
    return profile


def _literal(tree: Tree) -> dict[str, Any]:
    """The tree as hatchet takes it, without launch metadata, empty leaves and what is left bare."""
    has_children = set(tree.parents)
    is_kept = [row == 0 for row in range(len(tree))]
    for row in range(len(tree) - 1, 0, -1):  # children first: those that are kept keep it
        is_kept[row] |= row not in has_children and bool(tree.own[row])
        is_kept[row] &= tree.frames[row].name != METADATA_SCOPE
        is_kept[tree.parents[row]] |= is_kept[row]
    nodes: list[dict[str, Any]] = []
    for row, (frame, own) in enumerate(zip(tree.frames, tree.own, strict=True)):
        metrics = {k: list(v) if isinstance(v, tuple) else v for k, v in own.items()}
        node = {"frame": {"name": frame.name, "type": "function"}, "metrics": metrics}
        nodes.append({**node, "children": []})
        if row and is_kept[row]:
            nodes[tree.parents[row]]["children"].append(nodes[row])
    return nodes[0]


def _file_and_function(name: str) -> str:
    file = name.rsplit("/", 1)[-1].split(":", 1)[0]
    return f"{file}@{name.rsplit('@', 1)[-1].split(':', 1)[0]}"


if __name__ == "__main__":
    sys.exit(main())
