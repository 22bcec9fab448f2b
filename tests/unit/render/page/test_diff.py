"""Tests of the page's diff."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.device import Device
from proton.model.profile import TreeProfile
from proton.render.page.diff import MOST_FRAMES, MOST_SCOPES, diff_part
from tests.support.pages import plain
from tests.support.profiles import H200, Row, profile_of

DATA = Path(__file__).parents[3] / "data"


def profile(**times: int) -> TreeProfile:
    rows: list[Row] = [(0, "ROOT", {}), (1, "step", {})]
    rows += [(2, name, {"time (ns)": time, "count": 1}) for name, time in times.items()]
    return profile_of(rows)


def test_new_and_gone_kernels_stand_apart() -> None:
    part = plain(diff_part(profile(a=5, gone=6), profile(a=9, new=7)))
    assert part is not None
    assert [each["name"] for each in part["kernels"]] == ["a"]
    assert [each["name"] for each in part["new"]] == ["new"]
    assert [each["name"] for each in part["gone"]] == ["gone"]
    assert part["new"][0]["before"] is None
    assert part["total"]["change_ns"] == 5


def test_scopes_have_their_path_and_their_rows() -> None:
    part = plain(diff_part(profile(a=5), profile(a=9)))
    assert part is not None
    (scope,) = part["scopes"]
    assert (scope["path"], scope["before_row"], scope["after_row"]) == (["step"], 1, 1)
    assert (scope["change_ns"], scope["by_speed_ns"], part["runs_ratio"]) == (4, 4, 1)
    assert part["kernels"][0]["by_speed_ns"] / part["kernels"][0]["expected_ns"] == 0.8


def test_a_profile_against_itself_changed_nothing() -> None:
    same = prepare(open_profile(DATA / "gpt.hatchet"))
    part = plain(diff_part(same, same))
    assert part is not None
    assert {each["verdict"] for each in part["kernels"]} == {"same"}
    assert (part["new"], part["gone"]) == ([], [])
    assert json.loads(json.dumps(part, allow_nan=False)) == part


def test_what_makes_them_hard_to_compare_is_said() -> None:
    other = Device("CUDA", "0", "80", name="NVIDIA A100")
    before = replace(profile(a=5), losses={"dropped": 3, "non_user_samples": 9})
    part = plain(diff_part(before, replace(profile(a=5), devices=[other])))
    assert part is not None
    assert part["notes"] == [
        f"they ran on different devices: {H200.name} before, NVIDIA A100 after",
        "3 events were lost before: its times may be too small",
    ]


def test_phases_are_what_chance_is_judged_by(tmp_path: Path) -> None:
    def phases(name: str, *times: int) -> TreeProfile:
        for at, time in enumerate(times):
            own = {"time (ns)": time, "count": 10}
            frame = {"frame": {"name": "k"}, "metrics": own, "children": []}
            root = {"frame": {"name": "ROOT"}, "metrics": {}, "children": [frame]}
            (tmp_path / f"{name}.part_{at}.hatchet").write_text(json.dumps([root, {}]))
        return prepare(open_profile(tmp_path / f"{name}.hatchet"))

    before = phases("before", 10_000, 10_100, 9_900)
    part = plain(diff_part(before, phases("after", 15_000, 15_100, 14_900)))
    assert part is not None
    (kernel,) = part["kernels"]
    assert (kernel["verdict"], kernel["basis"]) == ("slower", "phases")
    part = plain(diff_part(before, phases("two", 15_000, 15_100)))
    assert part is not None
    assert part["kernels"][0]["verdict"] == "not enough"


def test_phases_whose_files_are_gone_do_no_harm() -> None:
    lost = replace(profile(a=5), phases=(0, 1, 2), source="no/such/run.hatchet")
    part = plain(diff_part(lost, lost))
    assert part is not None
    assert part["kernels"][0]["verdict"] == "same"


def test_many_and_deep_scopes_stay_bounded() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    rows += [(depth, f"s{depth}", {}) for depth in range(1, 700)]
    deep = profile_of([*rows, (700, "k", {"time (ns)": 5, "count": 1})])
    part = plain(diff_part(deep, deep))
    assert part is not None
    assert (len(part["scopes"]), part["more_scopes"]) == (MOST_SCOPES, 699 - MOST_SCOPES)
    assert max(len(scope["path"]) for scope in part["scopes"]) == MOST_FRAMES + 1


def test_nothing_timed_nothing_to_compare() -> None:
    empty = profile_of([(0, "ROOT", {}), (1, "s", {})])
    assert plain(diff_part(empty, empty)) is None


def test_operators_are_compared_with_how_often_they_were_called() -> None:
    profile = prepare(open_profile(str(DATA / "training_cpu.hatchet")))
    part = plain(diff_part(profile, profile))
    assert part is not None
    (adam,) = [each for each in part["scopes"] if each["path"][-1] == "aten::_fused_adamw_"]
    assert (adam["before"]["count"], adam["before"]["mean_ns"]) == (4, 96_000)


def test_profiles_without_kernels_are_compared_by_the_time_of_their_scopes() -> None:
    def host(**times: int) -> TreeProfile:
        rows: list[Row] = [(0, "ROOT", {})]
        rows += [(1, name, {"cpu_time (ns)": time}) for name, time in times.items()]
        return profile_of(rows)

    part = plain(diff_part(host(load=50, step=100, old=5), host(load=40, step=180, new=7)))
    assert part is not None
    assert part["is_host"]
    assert part["kernels"] == []
    assert [(scope["path"], scope["change_ns"], scope["verdict"]) for scope in part["scopes"]] == [
        (["step"], 80, "not enough"),
        (["load"], -10, "not enough"),
        (["new"], 7, "new"),
        (["old"], -5, "gone"),
    ]
    assert part["total"]["change_ns"] == 72
    assert part["scopes"][2]["before_row"] == -1


def test_profiles_that_timed_nothing_have_no_difference() -> None:
    empty = profile_of([(0, "ROOT", {}), (1, "step", {"tokens": 3})])
    assert diff_part(empty, empty) is None
