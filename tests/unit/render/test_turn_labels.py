from __future__ import annotations

from proton.analysis.derive import derive
from proton.analysis.prepare import prepare
from proton.render.text.style import Style
from proton.render.text.turn_labels import TurnLabels, Turns
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [(0, "ROOT", {})]
for step, time_ns in enumerate((5_000, 40_000, 20_000)):
    ROWS += [(1, f"step_{step}", {}), (2, "k", {"time (ns)": time_ns})]
ROWS += [(1, "last", {}), (2, "k", {"time (ns)": 90_000})]
PROFILE = prepare(profile_of(ROWS))


def test_a_row_of_turns_gives_up_its_spread_before_its_name() -> None:
    labels = TurnLabels({1: Turns(1200, [1.0, 4.0] + [2.0] * 1198)}, derive(PROFILE, ["time/us"]))
    whole = "step_* (1 200: 1.000 to 4.000, median 2.000)"
    assert labels.label(1, "step_*", None) == labels.label(1, "step_*", len(whole)) == whole
    assert labels.label(1, "step_*", len(whole) - 1) == "step_* (1 200: median 2.000)"
    assert labels.label(1, "step_*", 20) == "step_* (1 200)"
    assert labels.label(1, "a_very_long_step_*", 25) == "a_very_l…g_step_* (1 200)"
    assert labels.label(2, "k", None) is None


def test_turns_without_values_are_counted() -> None:
    labels = TurnLabels({1: Turns(3, [])}, [])
    assert labels.label(1, "step_*", None) == "step_* (3)"


def test_turns_keep_their_row_where_the_tree_is_sorted() -> None:
    lines = view_lines(PROFILE, ViewOptions(fold_numbered=True, sort=""), Style())
    assert [line.strip("├└│─ ") for line in lines[3:8]] == [
        "155.000 ROOT",
        "90.000 last",
        "90.000 k",
        "65.000 step_* (3: 5.000 to 40.000, median 20.000)",
        "65.000 k",
    ]


def test_a_spread_is_that_of_turns_with_a_value() -> None:
    turns = {1: Turns(4, [1.0, 4.0]), 2: Turns(3, [2.0])}
    labels = TurnLabels(turns, derive(PROFILE, ["time/us"]))
    assert labels.label(1, "step_*", None) == "step_* (2 of 4: 1.000 to 4.000, median 1.000)"
    assert labels.label(1, "step_*", 16) == "step_* (2 of 4)"
    assert labels.label(2, "step_*", None) == "step_* (1 of 3: 2.000)"
    (said,) = labels.explained([1] * len(PROFILE.tree), PROFILE.tree)
    assert said.endswith("--fold none shows each; N of M: the others have no value")


def test_a_list_has_each_turn() -> None:
    rows: list[Row] = [(0, "ROOT", {}), *((1, f"step_{at}", {"time (ns)": at}) for at in range(3))]
    fold = ViewOptions(fold_numbered=True, is_sorted=True)
    assert "step_*" not in "".join(view_lines(profile_of(rows), fold, Style()))


def steps(*times_ns: int) -> list[Row]:
    rows: list[Row] = [(0, "ROOT", {})]
    for step, time_ns in enumerate(times_ns):
        rows += [(1, f"step_{step}", {}), (2, "k", {"time (ns)": time_ns, "count": 1})]
    return rows


def test_differences_are_folded_with_the_spread_of_the_differences() -> None:
    before = prepare(profile_of(steps(5_000, 40_000, 20_000)))
    after = prepare(profile_of(steps(6_000, 40_000, 18_000)))
    lines = view_lines(after, ViewOptions(["time/us"], fold_numbered=True), Style(), before)
    assert [line.strip("├└│─ ") for line in lines[4:7]] == [
        "-1.000 ROOT",
        "-1.000 step_* (3: -2.000 to +1.000, median +0.000)",
        "-1.000 k",
    ]
    assert lines[-1].startswith("step_*: siblings that differ in a number")
    each = view_lines(after, ViewOptions(["time/us"]), Style(), before)
    assert "step_1" in "".join(each)


def test_differences_fold_alike_where_one_side_has_too_few_turns() -> None:
    many = prepare(profile_of(steps(1_000, 1_000, 1_000)))
    few = prepare(profile_of(steps(1_000, 1_000)))
    for one, other, change in ((many, few, "+1.000"), (few, many, "-1.000")):
        lines = view_lines(one, ViewOptions(["time/us"], fold_numbered=True), Style(), other)
        assert lines[5].strip("├└│─ ").startswith(f"{change} step_* (3: ")
        assert "new" not in "".join(lines)
        assert "gone" not in "".join(lines)
