"""`python -m proton.viewer`, and the functions that scripts import, on llnl-hatchet GraphFrames.

The command line needs neither llnl-hatchet nor pandas; the functions import them when called.
Columns of sums over subtrees end in ` (inc)`, as hatchet names them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import IO, Any

from proton.analysis.derive import TIME_UNITS
from proton.analysis.measurements import find_metric, plain_name, unit_of
from proton.analysis.roofline import FLOPS_WIDTHS
from proton.analysis.select import METADATA_SCOPE
from proton.cli.viewer import main
from proton.errors import MetricNotFound, UsageError
from proton.specs import max_bps, max_flops

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
_SCALES = {"": 1.0, "g": 1e9, "t": 1e12}
_RATES = {
    f"{scale}{what}/s": (metric, factor)
    for what, metric in (
        ("byte", "bytes"),
        ("flop", "flops"),
        *((f"flop{width}", f"flops{width}") for width in FLOPS_WIDTHS),
    )
    for scale, factor in _SCALES.items()
}


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
    root, devices = _load(file)
    frame = hatchet.GraphFrame.from_literal([_prune(root)])
    inclusive = frame.show_metric_columns()
    exclusive = [column for column in frame.dataframe.columns if column not in inclusive]
    return frame, inclusive, exclusive, devices


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
    columns = _Columns(gf.dataframe, inclusive_metrics, exclusive_metrics, device_info)
    derived = [columns.derive(metric) for metric in metrics]
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
    least = _zeros_like(df)
    for device_type, index, device in _devices(device_info):
        rows = df["device_id"] == index
        for width in FLOPS_WIDTHS:
            if f"flops{width}" in df.columns:
                peak = max_flops(
                    device_type, device["arch"], width, device["num_sms"], device["clock_rate"]
                )
                least.loc[rows, "min_time"] += df.loc[rows, f"flops{width}"].fillna(0) / peak
    return least


def get_min_time_bytes(df: DataFrame, device_info: Devices) -> DataFrame:
    """Column `min_time`: the least seconds that the bytes of each row take on its device."""
    least = _zeros_like(df)
    for device_type, index, device in _devices(device_info):
        rows = df["device_id"] == index
        peak = max_bps(
            device_type, device["arch"], device["bus_width"], device["memory_clock_rate"]
        )
        if "bytes" in df.columns:
            least.loc[rows, "min_time"] += df.loc[rows, "bytes"] / peak
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


class _Columns:
    """A dataframe under derivation and the metrics it came with."""

    def __init__(
        self,
        frame: DataFrame,
        inclusive: Sequence[str],
        exclusive: Sequence[str],
        devices: Devices,
    ) -> None:
        self._frame = frame
        self._inclusive = inclusive
        self._available = [*inclusive, *exclusive]
        self._devices = devices

    def derive(self, metric: str) -> str:
        """Add the column for `metric` where it is not there yet; its name."""
        frame = self._frame
        name, slash, unit = metric.partition("/")
        if metric == "util":
            frame["util"] = self._utilisation()
            return "util"
        if metric in _RATES:
            source, factor = _RATES[metric]
            frame[metric + _INCLUSIVE] = frame[self._find(source)] / self._seconds("time") / factor
            return metric + _INCLUSIVE
        if slash and unit in TIME_UNITS and name.removeprefix("avg_") in ("time", "cpu_time"):
            seconds = self._seconds(name.removeprefix("avg_"))
            if name.startswith("avg_"):
                seconds = seconds / frame["count (inc)"]
            frame[metric + _INCLUSIVE] = seconds * (TIME_UNITS["s"] / TIME_UNITS[unit])
            return metric + _INCLUSIVE
        source = self._find(name)
        if not slash:
            return source
        if unit != "%":
            raise UsageError.unknown("unit", unit, choices=["%", *TIME_UNITS])
        suffix = _INCLUSIVE if source.endswith(_INCLUSIVE) else ""
        whole = frame[source].iloc[0] if suffix else frame[source].sum()
        frame[metric + suffix] = frame[source] / whole * 100.0
        return metric + suffix

    def _find(self, name: str) -> str:
        """The column that holds the metric called `name`."""
        metric = find_metric(name, self._available)
        if metric is None:
            choices = ", ".join(repr(plain_name(each)) for each in self._available)
            raise MetricNotFound(f"unknown metric {name!r}; this profile has {choices}")
        return metric + _INCLUSIVE if metric in self._inclusive else metric

    def _seconds(self, name: str) -> Any:
        column = self._find(name)
        unit = unit_of(column.removesuffix(_INCLUSIVE)) or "ns"
        return self._frame[column] / (TIME_UNITS["s"] / TIME_UNITS[unit])

    def _utilisation(self) -> Any:
        frame = self._frame
        by_bytes = get_min_time_bytes(frame, self._devices)["min_time"]
        by_flops = get_min_time_flops(frame, self._devices)["min_time"]
        ran_on_a_device = frame["device_id"].notna()
        return (by_flops.combine(by_bytes, max) / self._seconds("time")).where(ran_on_a_device)


def _hatchet() -> Any:
    try:
        import hatchet
    except ImportError as error:
        raise ImportError(
            f"llnl-hatchet, whose graph frames are returned here, cannot be imported ({error}); "
            "`pip install llnl-hatchet` (the package called hatchet is another one)"
        ) from None
    return hatchet


def _load(file: IO[Any]) -> tuple[dict[str, Any], Devices]:
    """Root node and device map, after the one reader has found the file sound."""
    from proton.files.read import read_profile

    data = file.read()
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    read_profile(data, str(getattr(file, "name", "profile")))
    if data.lstrip()[:1] == b"[":
        value = json.loads(data)
    else:
        import msgpack

        value = msgpack.unpackb(data, strict_map_key=False)
    return value[0], value[1] if len(value) > 1 else {}


def _prune(root: dict[str, Any]) -> dict[str, Any]:
    """The tree without launch metadata, empty leaves, and what holds nothing else."""
    order = [root]
    for node in order:
        order.extend(node.get("children", ()))
    dropped: set[int] = set()
    for node in reversed(order):  # children first
        children = node.get("children", [])
        kept = [child for child in children if id(child) not in dropped]
        is_empty = not node.get("metrics") and not children
        is_metadata = node["frame"]["name"] == METADATA_SCOPE
        if is_metadata or is_empty or (children and not kept):
            dropped.add(id(node))
        node["children"] = kept
    return root


def _devices(device_info: Devices) -> list[tuple[str, str, Mapping[str, Any]]]:
    return [
        (device_type, index, device)
        for device_type, devices in device_info.items()
        for index, device in devices.items()
    ]


def _zeros_like(df: DataFrame) -> DataFrame:
    import pandas

    return pandas.DataFrame(0.0, index=df.index, columns=["min_time"])


def _file_and_function(name: str) -> str:
    file = name.rsplit("/", 1)[-1].split(":", 1)[0]
    return f"{file}@{name.rsplit('@', 1)[-1].split(':', 1)[0]}"


if __name__ == "__main__":
    sys.exit(main())
