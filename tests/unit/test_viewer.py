from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proton import viewer

DATA = Path(__file__).resolve().parents[1] / "data"
KERNELS = str(DATA / "triton36_kernels.hatchet")
SCOPES = str(DATA / "triton36_scopes.hatchet")
PYTHON = str(DATA / "triton36_python.hatchet")

hatchet = pytest.importorskip("hatchet")


@pytest.fixture(scope="module")
def known() -> Any:
    pytest.importorskip("triton")
    from triton.profiler import viewer as module

    return module


def assert_same(ours: Any, theirs: Any) -> None:
    import pandas

    left, right = ours.dataframe, theirs.dataframe
    assert list(left.columns) == list(right.columns)
    pandas.testing.assert_frame_equal(
        left.reset_index(drop=True), right.reset_index(drop=True), rtol=2e-3
    )


@pytest.mark.parametrize("path", [KERNELS, SCOPES, PYTHON])
def test_read_returns_what_the_known_function_returns(known: Any, path: str) -> None:
    ours, theirs = viewer.read(path), known.read(path)
    assert_same(ours[0], theirs[0])
    assert ours[1:] == theirs[1:]
    assert set(ours[0].inc_metrics) == set(theirs[0].inc_metrics)
    assert ours[0].exc_metrics == theirs[0].exc_metrics


@pytest.mark.parametrize(
    "metrics",
    [
        ["time/ms"],
        ["time/%", "count"],
        ["avg_time/us"],
        ["util"],
        ["tflop16/s", "gbyte/s"],
        ["TIME"],
    ],
)
@pytest.mark.parametrize(
    "filters",
    [{}, {"include": ".*matmul.*"}, {"exclude": "matmul_.*"}],
)
def test_parse_returns_what_the_known_function_returns(
    known: Any, metrics: list[str], filters: dict[str, Any]
) -> None:
    ours = viewer.parse(metrics, KERNELS, **filters)
    theirs = known.parse(metrics, KERNELS, **filters)
    assert ours[1] == theirs[1]
    assert_same(ours[0], theirs[0])


def test_a_threshold_keeps_what_the_known_function_keeps(known: Any) -> None:
    ours = viewer.parse(["time/us"], KERNELS, threshold=2.3)[0]
    theirs = known.parse(["time/us"], KERNELS, threshold=2.3)[0]
    assert_same(ours, theirs)
    assert len(ours.dataframe) < len(viewer.read(KERNELS)[0].dataframe)


@pytest.mark.parametrize("format", ["full", "file_function_line", "function_line", "file_function"])
def test_format_frames_does_what_the_known_function_does(known: Any, format: str) -> None:
    ours = viewer.format_frames(viewer.read(PYTHON)[0], format)
    theirs = known.format_frames(known.read(PYTHON)[0], format)
    assert list(ours.dataframe["name"]) == list(theirs.dataframe["name"])


def test_least_times_are_those_of_the_known_functions(known: Any) -> None:
    frame, _, _, devices = viewer.read(KERNELS)
    for name in ("get_min_time_flops", "get_min_time_bytes"):
        ours = getattr(viewer, name)(frame.dataframe, devices)
        theirs = getattr(known, name)(frame.dataframe, devices)
        assert list(ours["min_time"].fillna(-1)) == pytest.approx(
            list(theirs["min_time"].fillna(-1)), rel=2e-3
        )


def test_a_difference_is_that_of_the_known_function(known: Any) -> None:
    results = []
    for module in (viewer, known):
        frame, derived = module.parse(["time/us"], KERNELS)
        results.append(
            module.apply_diff_profile(frame, derived, KERNELS, ["time/us"], None, None, None)
        )
    assert_same(*results)
    assert results[0].dataframe["time/us (inc)"].iloc[0] == 0


def test_msgpack_is_read_too() -> None:
    json_frame = viewer.read(str(DATA / "gpt.hatchet"))[0]
    msgpack_frame = viewer.read(str(DATA / "gpt.hatchet_msgpack"))[0]
    assert list(json_frame.dataframe["name"]) == list(msgpack_frame.dataframe["name"])


def test_raw_metrics_are_read_from_an_open_text_file() -> None:
    with open(KERNELS, encoding="utf-8") as file:
        frame, inclusive, _, devices = viewer.get_raw_metrics(file)
    assert "time (ns)" in inclusive
    assert "CUDA" in devices
    assert "time (ns) (inc)" not in frame.dataframe.columns


def test_an_unknown_metric_raises_a_runtime_error_that_lists_them() -> None:
    with pytest.raises(RuntimeError, match=r"unknown metric 'nope'; .*'time'"):
        viewer.parse(["nope"], KERNELS)


def test_an_unknown_unit_raises_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown unit 'min'"):
        viewer.parse(["time/min"], KERNELS)


def test_util_needs_no_bytes(tmp_path: Path) -> None:
    kernel = {
        "time (ns)": 1000,
        "count": 1,
        "device_id": "0",
        "device_type": "CUDA",
        "flops16": 1e6,
    }
    device = {"arch": "90", "bus_width": 1, "clock_rate": 1980000, "num_sms": 132}
    frame = {"name": "k", "type": "function"}
    root = {
        "frame": {"name": "ROOT", "type": "function"},
        "metrics": {"time (ns)": 0, "count": 0, "flops16": 0},
        "children": [{"frame": frame, "metrics": kernel, "children": []}],
    }
    path = tmp_path / "run.hatchet"
    path.write_text(json.dumps([root, {"CUDA": {"0": device | {"memory_clock_rate": 1}}}]))
    graph, _ = viewer.parse(["util"], str(path))
    assert 0 < graph.dataframe["util"].iloc[1] < 1


def test_without_hatchet_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hatchet", None)
    with pytest.raises(ImportError, match="pip install llnl-hatchet"):
        viewer.read(KERNELS)


TUTORIAL = """
import triton.profiler.viewer as proton_viewer

def show_profile(precision, profile_name):
    metric_names = ["time/ms"]
    if precision == "fp8":
        metric_names = ["tflop8/s"] + metric_names
    elif precision == "fp16":
        metric_names = ["tflop16/s"] + metric_names
    file_name = f"{profile_name}.hatchet"
    tree, metrics = proton_viewer.parse(metric_names, file_name)
    proton_viewer.print_tree(tree, metrics)

show_profile("fp16", NAME)
"""

BLOCK_SCALED = """
def show_profile(profile_name):
    import triton.profiler.viewer as proton_viewer
    metric_names = ["time/ms"]
    metric_names = ["tflop/s"] + metric_names
    tree, metrics = proton_viewer.parse(metric_names, f"{profile_name}.hatchet")
    proton_viewer.print_tree(tree, metrics)

show_profile(NAME)
"""


@pytest.mark.parametrize("tutorial", [TUTORIAL, BLOCK_SCALED], ids=["09", "10"])
def test_a_script_of_the_tutorials_runs_with_the_import_replaced(
    tutorial: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tutorial.replace("triton.profiler.viewer", "proton.viewer")
    exec(compile(script, "tutorial.py", "exec"), {"NAME": KERNELS.removesuffix(".hatchet")})
    text = capsys.readouterr().out
    assert "matmul_256x256x256" in text
    assert "ROOT" in text


def test_trees_are_printed_as_the_known_function_prints_them(
    known: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for module in (viewer, known):
        frame, derived = module.parse(["time/us"], PYTHON)
        module.print_tree(frame, derived, depth=4, format="file_function")
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]


def test_a_sorted_list_follows_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    frame, derived = viewer.parse(["time/us"], KERNELS)
    viewer.print_tree(frame, derived, print_sorted=True)
    listed = capsys.readouterr().out.split("largest first:\n")[1].splitlines()
    values = [float(line.split()[-1]) for line in listed]
    assert values == sorted(values, reverse=True)
    assert len(values) == 9


def test_metrics_are_listed_by_kind(capsys: pytest.CaptureFixture[str]) -> None:
    viewer.show_metrics(KERNELS)
    text = capsys.readouterr().out
    assert text.startswith("inclusive metrics:\n")
    assert "- time\n" in text
    assert "exclusive metrics:\n" in text


@pytest.mark.parametrize("metrics", ["time", ["TIME", "count"], ["device_id", "nope"]])
def test_columns_are_those_of_the_known_function(known: Any, metrics: Any) -> None:
    _, inclusive, exclusive, _ = viewer.read(KERNELS)
    ours, theirs = (
        module.match_available_metrics(metrics, inclusive, exclusive) for module in (viewer, known)
    )
    assert ours == theirs


def test_no_measured_metric_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="unknown metric 'nope'"):
        viewer.match_available_metrics(["nope"], ["time (ns)"], [])


def database() -> list[Any]:
    def node(name: str, metrics: dict[str, Any], *children: Any) -> dict[str, Any]:
        frame = {"name": name, "type": "function"}
        return {"frame": frame, "metrics": metrics, "children": list(children)}

    kernel = {"time (ns)": 5, "count": 1, "device_id": "0", "device_type": "CUDA"}
    launch = node("__proton_launch_metadata", {}, node("m", dict(kernel)))
    step = node("step", {}, node("k", kernel), launch, node("bare", {}))
    root = node("ROOT", {"time (ns)": 0, "count": 0}, step, node("only", {}, launch))
    return [root, {"CUDA": {"0": {"arch": "90"}}}]


def test_frames_are_removed_as_the_known_function_does_and_the_list_stays(known: Any) -> None:
    given = database()
    assert viewer.remove_frames(given) == known.remove_frames(database())
    assert given == database()


def test_raw_metrics_take_what_data_get_returns_and_leave_it_alone() -> None:
    given = database()
    frame, inclusive, _, devices = viewer.get_raw_metrics(given)
    assert set(inclusive) == {"time (ns)", "count"}
    assert devices["CUDA"]["0"]["arch"] == "90"
    assert sorted(frame.dataframe["name"]) == ["ROOT", "k", "step"]
    assert given == database()
