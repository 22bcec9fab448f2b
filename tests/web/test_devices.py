"""Work of several devices in a browser: rows of one name say whose they are, as in the terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proton.cli.viewer import main
from proton.files.trace.write import to_chrome
from proton.model.profile import TraceProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.browser import Opened
from tests.support.flames import node, table, write_tree

Open = Callable[..., Opened]
LANES = [
    Lane(f"[0, 20000{device}]", f"GPU {device} Stream 7", LaneKind.DEVICE) for device in range(2)
]


def ran(device: int, time_ns: int) -> dict[str, Any]:
    found = node("matmul", [], time_ns)
    found["metrics"] |= {"device_id": str(device), "device_type": "CUDA"}
    return found


def write_loop(path: Path) -> Path:
    """Three turns of a loop, each with work on both devices."""
    turns = [node(f"turn_{at}", [ran(0, 30), ran(1, 10)]) for at in range(3)]
    return write_tree(path, node("ROOT", turns))


def test_a_trace_says_on_which_device_work_of_one_name_ran(
    open_report: Open, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = [
        Span("matmul", SpanKind.KERNEL, lane, 10.0, 20.0 + lane, ("matmul",)) for lane in (0, 1)
    ]
    path = tmp_path / "run.chrome_trace"
    trace = Trace(LANES, spans)
    path.write_bytes(to_chrome(TraceProfile("t", trace=trace), trace))
    opened = open_report(path)
    names = opened.words(".where .bar .label")
    assert names == ["matmul (GPU 1)", "matmul (GPU 0)"]
    capsys.readouterr()
    assert main([str(path)]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in names)


def test_rows_of_one_device_are_folded_without_those_of_another(
    open_report: Open, tmp_path: Path
) -> None:
    opened = open_report(write_loop(tmp_path / "run.hatchet"), hash="view=flame")
    opened.page.get_by_role("button", name="Table", exact=True).click()
    opened.page.wait_for_selector(".flame-table tbody tr")
    shares = {row[0]: row[1] for row in table(opened)}
    assert shares["matmul (GPU 0)"] == "75.0 %"
    assert shares["matmul (GPU 1)"] == "25.0 %"


def test_a_sandwich_is_of_all_devices_and_names_none(open_report: Open, tmp_path: Path) -> None:
    path = write_tree(tmp_path / "run.hatchet", node("ROOT", [ran(0, 30), ran(1, 10)]))
    opened = open_report(path, hash="view=flame&zoom.flame=c.z1-1")
    opened.page.get_by_role("button", name="Table", exact=True).click()
    opened.page.wait_for_selector(".flame-table tbody tr")
    assert [row[0] for row in table(opened)] == ["matmul"]


def test_the_pane_says_whose_a_row_is(open_report: Open, tmp_path: Path) -> None:
    path = write_tree(tmp_path / "run.hatchet", node("ROOT", [ran(0, 30), ran(1, 10)]))
    opened = open_report(path, hash="view=flame&sel=node:2")
    assert opened.texts(".details h2") == ["matmul (GPU 1)"]
