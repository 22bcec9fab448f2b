"""Tables by module, operator, kernel or line, for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proton.analysis.folding.work_groups import BY, By
from proton.analysis.prepare import prepare
from proton.errors import UsageError
from proton.files.detect import open_profile
from proton.model.device import INTERPRETED, Device
from proton.model.metric import Metrics
from proton.model.profile import TreeProfile
from proton.render.text.group_table import group_view
from proton.render.text.style import Style
from proton.render.text.view_content import ViewOptions
from tests.support.profiles import Row, profile_of, tree_of_kinds

DATA = Path(__file__).parents[2] / "data"


def training(name: str = "training.hatchet") -> TreeProfile:
    return prepare(open_profile(str(DATA / name)))


def test_the_last_line_is_all_rows_together() -> None:
    lines = group_view(training(), "op", ViewOptions(), Style())
    titles = next(line.split() for line in lines if line.startswith("op"))
    whole = next(line.split() for line in lines if line.startswith("all"))
    assert titles[:3] == ["op", "GPU", "ms"]
    assert whole == ["all", "11.263", "100.0", "3.844", "6.311", "1.107", "316", "7129.600", "296"]


def test_without_a_gpu_the_time_of_the_host_is_split() -> None:
    lines = group_view(training("training_cpu.hatchet"), "op", ViewOptions(), Style())
    titles = next(line for line in lines if line.startswith("op"))
    assert "GPU" not in titles
    assert "kernels" not in titles
    assert "backward" in titles


def test_times_of_the_interpreter_say_so() -> None:
    rows: list[Row] = [(0, "ROOT", {}), (1, "k", {"time (ns)": 9000, "count": 1})]
    profile = profile_of(rows, devices=[Device("CPU", "0", arch=INTERPRETED)])
    lines = group_view(profile, "kernel", ViewOptions(), Style())
    (titles,) = [line for line in lines if line.startswith("kernel")]
    assert "time (interpreted) ns" in titles
    assert "GPU" not in titles


@pytest.mark.parametrize("by", BY)
def test_the_object_for_scripts_has_the_same_sums(by: By) -> None:
    (text,) = group_view(training(), by, ViewOptions(), Style(), "json")
    table = json.loads(text)
    assert table["group_by"] == by
    assert sum(row["time_ns"] for row in table["rows"]) == table["total"]["time_ns"] == 11_262_760
    parts = ("forward_ns", "backward_ns", "recompute_ns")
    assert all(sum(row[part] for part in parts) == row["time_ns"] for row in table["rows"])
    assert sum(row["share"] for row in table["rows"]) == pytest.approx(1)


def test_work_outside_of_modules_has_a_row_and_no_name() -> None:
    (text,) = group_view(training(), "module", ViewOptions(), Style(), "json")
    (outside,) = [row for row in json.loads(text)["rows"] if row["name"] is None]
    assert outside["shown"] == "(outside of modules)"


@pytest.mark.parametrize("width", [80, 100, 140])
@pytest.mark.parametrize("by", BY)
def test_columns_give_way_to_names_that_stay_distinct(by: By, width: int) -> None:
    lines = group_view(training(), by, ViewOptions(), Style(width=width))
    assert max(map(len, lines)) <= width
    first = next(at for at, line in enumerate(lines) if line.startswith(by))
    last = next(at for at, line in enumerate(lines) if line.startswith("all "))
    names = [line.split("  ")[0] for line in lines[first:last]]
    assert len(set(names)) == len(names)
    assert width < 140 or "share %" in lines[first]


def test_layers_are_one_row_where_that_is_asked_for() -> None:
    rows: list[tuple[int, str, str, Metrics]] = [(0, "r", "ROOT", {})]
    for layer in range(3):
        rows += [(1, "m", f"h.{layer}", {}), (2, "m", f"h.{layer}.attn", {})]
        rows += [(3, "k", "flash", {"time (ns)": 5, "count": 1})]
    profile = profile_of([]).with_tree(tree_of_kinds(rows))
    for folds, names in ((True, ["h.*.attn"]), (False, ["h.0.attn", "h.1.attn", "h.2.attn"])):
        options = ViewOptions(fold_numbered=folds)
        (text,) = group_view(profile, "module", options, Style(), "json")
        assert [row["name"] for row in json.loads(text)["rows"]] == names


def test_filters_by_name_keep_what_is_below() -> None:
    options = ViewOptions(include="transformer.h.0.attn$")
    (text,) = group_view(training(), "module", options, Style(), "json")
    assert {row["name"] for row in json.loads(text)["rows"]} == {
        "transformer.h.0.attn",
        "transformer.h.0.attn.c_attn",
        "transformer.h.0.attn.c_proj",
    }


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("module", "no modules were recorded; proton -c blame SCRIPT records them"),
        ("op", "no operators were recorded; proton -c ops SCRIPT records them"),
        ("line", "no lines of the program were recorded"),
        ("kernel", "no kernel ran; --group-by op"),
    ],
)
def test_what_was_not_recorded_is_said_with_the_remedy(by: By, message: str) -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "x", {"n": 1})])
    with pytest.raises(UsageError, match=message):
        group_view(profile, by, ViewOptions(), Style())
