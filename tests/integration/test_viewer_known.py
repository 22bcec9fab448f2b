"""Our numbers and selections against those of the viewer that Triton 3.6 ships, on one file."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from proton.analysis.derive import derive
from proton.analysis.prepare import prepare
from proton.cli.viewer import main
from proton.files.detect import open_profile
from proton.model.profile import TreeProfile

pytest.importorskip("hatchet")
pytest.importorskip("triton")

DATA = Path(__file__).resolve().parents[1] / "data"
LINE = re.compile(r"^(?P<lead>[│├└─ ]*)(?P<value>nan|[\d.]+) (?P<name>\S.*)$")

Values = dict[tuple[str, ...], float | None]


def node(name: str, metrics: dict[str, Any] | None, *children: Any) -> dict[str, Any]:
    frame = {"name": name, "type": "function"}
    return {"frame": frame, "metrics": metrics or {}, "children": list(children)}


def kernel(name: str, time_ns: int, count: int = 1, **metrics: float) -> dict[str, Any]:
    labels = {"device_id": "0", "device_type": "CUDA"}
    return node(name, {"time (ns)": time_ns, "count": count, **labels, **metrics})


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile as both tools read it, with names that differ from their siblings'."""
    marks = {"time (ns)": 0, "count": 0, "flops16": 0, "flops8": 0, "bytes": 0}
    root = node(
        "ROOT",
        marks,
        node(
            "fwd",
            {"cpu_time (ns)": 5000},
            kernel("matmul", 4_000_000, 10, flops16=1e12, bytes=1_000_000),
            node(
                "triton_inner",
                None,
                kernel("matmul", 1_000_000, flops8=1e11, bytes=10_000),
                kernel("add", 500_000, bytes=2**30),
            ),
        ),
        node(
            "bwd",
            {"cpu_time (ns)": 7000},
            node(
                "triton", None, node("<autotune>", None, kernel("mm_a", 3000), kernel("mm_b", 2000))
            ),
            node("__proton_launch_metadata", None, kernel("meta", 10)),
        ),
    )
    device = {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "num_sms": 132}
    devices = {"CUDA": {"0": device | {"memory_clock_rate": 3201000}}}
    path = tmp_path_factory.mktemp("known") / "common.hatchet"
    path.write_text(json.dumps([root, devices]))
    return path


def known_view(*arguments: str | Path) -> Values:
    """What Triton's viewer prints, by path."""
    from triton.profiler import viewer

    out = io.StringIO()
    with patch.object(sys, "argv", ["viewer", *map(str, arguments)]), redirect_stdout(out):
        viewer.main()
    return by_path(out.getvalue())


def our_view(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Values:
    assert main([str(argument) for argument in arguments]) == 0
    _, _, tree = capsys.readouterr().out.partition("\n\n")  # a head is above it
    return by_path(tree.replace(" - ", " nan "))


def by_path(text: str) -> Values:
    values: Values = {}
    path: list[str] = []
    for line in text.splitlines():
        if match := LINE.match(line):
            del path[len(match["lead"]) // 3 :]
            path.append(match["name"])
            values[tuple(path)] = None if match["value"] == "nan" else float(match["value"])
    assert values, text
    return values


@pytest.mark.parametrize("word", ["time/ms", "time/us", "avg_time/us", "count", "gbyte/s"])
def test_the_numbers_are_the_same(
    common: Path, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    ours, known = our_view(capsys, "-m", word, common), known_view("-m", word, common)
    assert set(ours) == set(known)
    for path, value in known.items():
        if value:  # what was not measured is a dash with us, and 0 or nan with them
            assert ours[path] == pytest.approx(value, abs=6e-4), path


@pytest.mark.parametrize(
    "options",
    [
        ["-i", ".*matmul.*"],
        ["-i", "triton.*"],
        ["-i", "mm_a"],
        ["-i", "mat"],
        ["-e", "triton.*"],
        ["-e", "matmul"],
        ["-t", "0.003"],
        ["-t", "0.5"],
        ["-d", "1"],
        ["-d", "3"],
    ],
)
def test_the_same_contexts_are_kept_with_the_same_numbers(
    common: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    ours = our_view(capsys, "-m", "time/ms", *options, common)
    known = known_view("-m", "time/ms", *options, common)
    assert ours == pytest.approx(known, abs=1.1e-3)  # a half is rounded up by us, down by them


def test_flops_of_a_width_have_the_same_rate(
    common: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = our_view(capsys, "-m", "tflop16/s", common)
    known = known_view("-m", "tflop16/s", common)
    path = ("ROOT", "fwd", "matmul")
    assert ours[path] == known[path] == 250.0


def test_util_of_kernels_is_the_same_but_for_the_peaks_assumed(
    common: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Theirs scales the H100 PCIe; ours has the data sheet of the SXM: 0.12 % apart."""
    ours, known = our_view(capsys, "-m", "util", common), known_view("-m", "util", common)
    assert ours["ROOT", "fwd", "matmul"] == pytest.approx(known["ROOT", "fwd", "matmul"], rel=0.005)
    inner = ("ROOT", "fwd", "triton_inner")
    assert ours[*inner, "add"] == known[*inner, "add"]
    assert ours[*inner, "matmul"] == pytest.approx(known[*inner, "matmul"], rel=0.02)


def test_a_difference_is_the_same(
    common: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(common.read_text())
    document[0]["children"][0]["children"][0]["metrics"]["time (ns)"] = 1_000_000
    other = tmp_path / "other.hatchet"
    other.write_text(json.dumps(document))
    assert main(["-m", "time/ms", "--diff-profile", str(other), str(common)]) == 0
    ours = by_path(capsys.readouterr().out.replace("+", ""))
    known = known_view("-m", "time/ms", "--diff-profile", other, common)
    assert ours["ROOT",] == known["ROOT",] == 3.0
    assert ours["ROOT", "fwd", "matmul"] == known["ROOT", "fwd", "matmul"] == 3.0


@pytest.mark.parametrize("name", ["kernels", "graph", "python", "samples"])
def test_recordings_of_triton_show_the_same_times(name: str) -> None:
    from triton.profiler import viewer as known

    path = DATA / f"triton36_{name}.hatchet"
    frame, columns = known.parse(["time/us"], str(path))
    theirs: dict[tuple[str, ...], list[float]] = {}
    for row, value in frame.dataframe[columns[0]].items():
        theirs.setdefault(tuple(each.frame["name"] for each in row.path()), []).append(value)
    profile = prepare(open_profile(path))
    assert isinstance(profile, TreeProfile)
    [ours] = derive(profile, ["time/us"])
    found: dict[tuple[str, ...], list[float]] = {}
    for each in profile.tree.nodes():
        value = ours.values[each.row]
        if isinstance(value, float):
            found.setdefault(("ROOT", *each.path()), []).append(value)
    assert found
    for where, values in found.items():
        assert sorted(values) == pytest.approx(sorted(v for v in theirs[where] if v > 0)), where
