"""The chart of the steps that a program marked with `proton.step()`, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from tests.support.browser import Opened

Open = Callable[..., Opened]
MS = 1_000_000


def series(durations: list[int], **more: Any) -> dict[str, Any]:
    starts = [sum(durations[:at]) for at in range(len(durations))]
    return {"base_ns": 10**18, "start_ns": starts, "duration_ns": durations, **more}


def write(path: Path, *steps: dict[str, Any]) -> Path:
    """A profile of numbered scopes, which have a chart of their own where no step is marked."""
    kernel = {"frame": {"name": "matmul"}, "metrics": {"time (ns)": 5 * MS, "count": 1}}
    turns = [
        {"frame": {"name": f"turn_{at}"}, "metrics": {}, "children": [{**kernel, "children": []}]}
        for at in range(20)
    ]
    root: dict[str, Any] = {"frame": {"name": "ROOT"}, "metrics": {}, "children": turns}
    root["proton"] = {"format": 1, "steps": list(steps)}
    path.write_text(json.dumps([root, {"CUDA": {"0": {"arch": "90"}}}]))
    return path


def words(opened: Opened, selector: str) -> str:
    return re.sub(r"\s+", " ", opened.page.locator(selector).inner_text())


DURATIONS = [10 * MS + 1000 * (at % 7) for at in range(40)]
DURATIONS[17] = 31 * MS
GPU = [8 * MS] * 40
NAMES = ["eval" if at == 17 else "" for at in range(40)]


def test_marked_steps_have_a_chart_with_host_and_gpu_time(
    open_report: Open, tmp_path: Path
) -> None:
    path = write(tmp_path / "run.hatchet", series(DURATIONS, names=NAMES, gpu_time_ns=GPU))
    opened = open_report(path)
    said = words(opened, ".steps")
    assert "40 steps, host time of each: median 10" in said
    assert "slowest 31.0 ms (step 17); GPU time of a step: median 8.00 ms" in said
    assert opened.texts(".steps .legend > span") == ["host time", "GPU time of what it launched"]
    assert "one is slow: step 17 eval 31.0 ms" in said
    assert opened.page.locator(".where .steps").count() == 0  # numbered scopes stay out of the way
    box = opened.page.locator(".steps canvas").bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + box["width"] * 17.5 / 40, box["y"] + 60)
    card = re.sub(r"\s+", "", "".join(opened.words(".hover")))
    assert card.startswith("step17eval")
    assert "hosttime31.0ms" in card
    assert "GPUtime8.00ms" in card
    opened.page.mouse.click(box["x"] + box["width"] * 3.5 / 40, box["y"] + 60)
    assert words(opened, ".steps-chosen").startswith("step 3 host time 10.0 ms")
    opened.page.get_by_role("button", name="step 17 eval").click()
    assert words(opened, ".steps-chosen").startswith("step 17 eval host time 31.0 ms")


def test_the_chart_of_steps_is_a_table_too(open_report: Open, tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", series(DURATIONS, gpu_time_ns=GPU))
    opened = open_report(path, size=(1440, 900))
    opened.page.get_by_role("button", name="all of them as a table").click()
    opened.page.get_by_role("button", name="host time").click()  # the largest first
    row = opened.page.locator(".steps .twin-table tbody tr").first
    cells = [re.sub(r"\s+", " ", text) for text in row.locator("td").all_inner_texts()]
    assert cells[0] == "step 17"
    assert cells[1].startswith("31")
    assert cells[3].startswith("8")
    row.click()
    assert words(opened, ".steps-chosen").startswith("step 17")


def test_steps_of_several_ranks_are_shown_one_rank_at_a_time(
    open_report: Open, tmp_path: Path
) -> None:
    other = [12 * MS] * 5
    path = write(tmp_path / "run.hatchet", series(other, rank=0), series(DURATIONS, rank=3))
    opened = open_report(path)
    assert "45 steps" in words(opened, ".steps")
    assert "(step 17 of rank 3)" in words(opened, ".steps")
    assert "step 39" in words(opened, ".steps-ends")  # that rank is shown
    assert "GPU" not in words(opened, ".steps")
    opened.page.select_option("select[aria-label='steps of which rank']", "0")
    assert words(opened, ".steps-ends") == "step 0 step 4"


def test_numbered_scopes_have_the_chart_where_no_step_is_marked(
    open_report: Open, tmp_path: Path
) -> None:
    opened = open_report(write(tmp_path / "run.hatchet"))
    assert "turn_* \u00d7 20" in words(opened, ".where .steps")


def test_a_step_leads_to_its_place_in_the_timeline(
    open_report: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = proton.start("run", backend="interpreter", data="trace")
    for _ in range(4):
        with proton.cpu_timed_scope("work"):
            pass
        proton.step()
    proton.finalize(session)
    (path,) = tmp_path.glob("run.*trace")
    opened = open_report(path)
    box = opened.page.locator(".steps canvas").bounding_box()
    assert box is not None
    opened.page.mouse.click(box["x"] + box["width"] * 1.5 / 4, box["y"] + 70)
    assert words(opened, ".steps-chosen").startswith("step 1 ")
    opened.page.get_by_role("button", name="show it in the timeline").click()
    opened.page.wait_for_selector(".timeline")
    assert "zoom.timeline=" in opened.hash()


def test_interpreted_work_is_not_called_gpu_time(open_report: Open, tmp_path: Path) -> None:
    path = write(tmp_path / "run.hatchet", series(DURATIONS, gpu_time_ns=GPU))
    root, _ = json.loads(path.read_text())
    path.write_text(json.dumps([root, {"CPU": {"0": {"arch": "interpreter"}}}]))
    opened = open_report(path)
    legend = ["host time", "time (interpreted) of what it launched"]
    assert opened.texts(".steps .legend > span") == legend
    assert "GPU" not in words(opened, ".steps")
    opened.page.locator(".steps canvas").hover()
    assert "time (interpreted)" in words(opened, ".hover")


def test_steps_of_a_schedule_are_called_by_their_number_in_the_program(
    open_report: Open, tmp_path: Path
) -> None:
    names = [str(100 + at) for at in range(40)]
    opened = open_report(write(tmp_path / "run.hatchet", series(DURATIONS, names=names)))
    said = words(opened, ".steps")
    assert "slowest 31.0 ms (step 117)" in said
    assert "one is slow: step 117 31.0 ms" in said
