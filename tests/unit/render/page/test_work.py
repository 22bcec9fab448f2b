"""The part of a page that has work by module, operator, kernel and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proton.files.detect import open_profile
from proton.render.page import page_data
from tests.support.pages import ReadColumn, unpack

DATA = Path(__file__).parents[3] / "data"


def parts_of(name: str) -> tuple[dict[str, Any], ReadColumn]:
    head, read = unpack(page_data([open_profile(str(DATA / name))]))
    (parts,) = head["profiles"]
    return parts, read


def test_work_has_a_place_in_every_table_and_adds_up() -> None:
    parts, read = parts_of("training.hatchet")
    work = parts["work"]
    names = work["names"]
    assert names[0] == ""
    assert sum(read(work["time_ns"])) == parts["summary"]["time_ns"]
    assert sum(read(work["count"])) == parts["summary"]["kernels"]
    assert set(read(work["phase"])) == {0, 1, 2}
    modules = {names[number] for number in read(work["module"])}
    assert {"", "lm_head", "transformer.h.1.mlp.c_fc"} <= modules
    assert "aten::addmm" in {names[number] for number in read(work["op"])}


def test_a_profile_without_a_framework_has_none() -> None:
    assert parts_of("gpt.hatchet")[0]["work"] is None
    assert parts_of("triton36_python.hatchet")[0]["work"] is None


def test_time_of_operators_on_the_host_adds_up_on_a_page() -> None:
    parts, read = parts_of("training_cpu.hatchet")
    (cpu,) = [metric for metric in parts["tree"]["metrics"] if metric["name"] == "cpu_time (ns)"]
    assert cpu["kind"] == "inclusive"
    assert sum(read(cpu["values"])) == parts["summary"]["time_ns"] == 7_129_600
    (calls,) = [metric for metric in parts["tree"]["metrics"] if metric["name"] == "calls"]
    assert calls["kind"] == "exclusive"


def test_time_of_scopes_on_the_host_stays_that_of_whole_scopes() -> None:
    parts, _ = parts_of("proton_tree.hatchet")
    (cpu,) = [metric for metric in parts["tree"]["metrics"] if metric["name"] == "cpu_time (ns)"]
    assert cpu["kind"] == "exclusive"
