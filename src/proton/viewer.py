"""`python -m proton.viewer`, and the functions that scripts import, on llnl-hatchet GraphFrames.

The command line needs neither llnl-hatchet nor pandas; the functions import them when called.
Columns of sums over subtrees end in ` (inc)`, as hatchet names them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from math import nan
from typing import IO, Any

from proton.analysis.derive import derive
from proton.analysis.measurements import find_metric, plain_name, unknown_metric
from proton.analysis.roofline import FLOPS_WIDTHS
from proton.cli.viewer import main
from proton.errors import FormatError
from proton.files.encoding.summary import device_map, read_devices
from proton.model.device import peak_bytes_per_second, peak_flops
from proton.model.frame import METADATA_SCOPE, Frame
from proton.model.metric import DEVICE_ID, MetricKind, MetricValue
from proton.model.profile import LABELS, TreeProfile
from proton.model.tree import Tree
from proton.render.display_names import cut_name, printable

__all__ = [
    "apply_diff_profile",
    "derive_metrics",
    "filter_frames",
    "format_frames",
    "get_min_time_bytes",
    "get_min_time_flops",
    "get_raw_metrics",
    "main",
    "match_available_metrics",
    "parse",
    "print_tree",
    "read",
    "remove_frames",
    "show_metrics",
]

GraphFrame = Any  # hatchet.GraphFrame: an optional dependency without types
DataFrame = Any
Devices = Mapping[str, Mapping[str, Mapping[str, Any]]]  # type -> index -> arch, num_sms, ...

_INCLUSIVE = " (inc)"
_NAME_ROOM = 100  # columns of names in a sorted list


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


def get_raw_metrics(
    database: IO[Any] | Sequence[Any],
) -> tuple[GraphFrame, list[str], list[str], Devices]:
    """Like `read`, but without the columns of sums over subtrees.

    Args:
        database: An open file, or what `proton.data.get` returns, which stays as it is.
    """
    hatchet = _hatchet()
    profile = _load(database)
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


def match_available_metrics(
    metrics: str | Sequence[str],
    inclusive_metrics: Sequence[str],
    exclusive_metrics: Sequence[str],
) -> list[str]:
    """The columns that measured metrics have, by their names in any case and without unit.

    Raises:
        MetricNotFound: A RuntimeError; none of them was measured.
    """
    wanted = [metrics] if isinstance(metrics, str) else metrics
    available = [*inclusive_metrics, *exclusive_metrics]
    found = [metric for name in wanted if (metric := find_metric(name, available)) is not None]
    if not found:
        raise unknown_metric(", ".join(wanted), available, ())
    return [f"{each}{_INCLUSIVE}" if each in inclusive_metrics else each for each in found]


def remove_frames(database: Sequence[Any]) -> list[Any]:
    """What `proton.data.get` returns without launch metadata, empty leaves and what is left bare.

    The list that was given stays as it is; so do elements that are no nodes, as the device map.
    """
    kept = [_without_bare(node) if _is_node(node) else node for node in database]
    return [node for node in kept if node is not None]


def _is_node(element: object) -> bool:
    return isinstance(element, Mapping) and "frame" in element


def _without_bare(root: Mapping[str, Any]) -> dict[str, Any] | None:
    """A copy of a node without what `remove_frames` removes; None where nothing is left."""
    nodes: list[tuple[Mapping[str, Any], int]] = [(root, -1)]  # and the place of the parent
    for place, (node, _) in enumerate(nodes):  # grows while it runs: trees may be deep
        nodes += ((child, place) for child in node.get("children", ()))
    copies = [{**node, "children": []} for node, _ in nodes]
    is_kept = [False] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):  # children first
        node, parent = nodes[place]
        has_something = bool(node.get("metrics")) and not node.get("children")
        if node["frame"]["name"] == METADATA_SCOPE or not (has_something or is_kept[place]):
            continue
        is_kept[place] = True
        if parent >= 0:
            is_kept[parent] = True
            copies[parent]["children"].insert(0, copies[place])
    return copies[0] if nodes[0][0]["frame"]["name"] != METADATA_SCOPE and is_kept[0] else None


def print_tree(
    gf: GraphFrame,
    metrics: Sequence[str],
    depth: int = 100,
    format: str | None = None,
    print_sorted: bool = False,
) -> None:
    """Print what `parse` returned: the tree, and with `print_sorted` a list, largest first.

    Args:
        gf: A graph frame.
        metrics: The columns to show, as `parse` names them.
        depth: How many levels to show.
        format: Parts of Python frames to show, as `format_frames` takes it.
        print_sorted: Also print one line for each context, by the first of `metrics`.
    """
    gf = format_frames(gf, format)
    columns = list(metrics)
    print(gf.tree(metric_column=columns, expand_name=True, depth=depth, render_header=False))
    if not print_sorted:
        return
    print(f"by {columns[0]}, largest first:")
    ordered = gf.dataframe.sort_values(by=[columns[0]], ascending=False)
    for name, value in zip(ordered["name"][1:], ordered[columns[0]][1:], strict=True):
        print(f"{cut_name(printable(name), _NAME_ROOM):{_NAME_ROOM}} {value:.4g}")


def show_metrics(file_name: str) -> None:
    """Print the measured metrics of a profile by how they add up, without their units."""
    with open(file_name, "rb") as file:
        _, inclusive, exclusive, _ = get_raw_metrics(file)
    for kind, metrics in (("inclusive", inclusive), ("exclusive", exclusive)):
        print(f"{kind} metrics:")
        for metric in metrics:
            print(f"- {printable(plain_name(metric))}")


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


def _load(database: IO[Any] | Sequence[Any]) -> TreeProfile:
    from proton.files.read import read_profile

    if isinstance(database, Sequence):
        data: Any = json.dumps(database)
    else:
        data = database.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    profile = read_profile(data, str(getattr(database, "name", "profile")))
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
