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
    labels = TurnLabels({1: Turns(1200, [1.0, 4.0, 2.0])}, derive(PROFILE, ["time/us"]))
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


def test_lists_and_differences_have_each_turn() -> None:
    fold = ViewOptions(fold_numbered=True)
    assert "step_*" not in "".join(view_lines(PROFILE, fold, Style(), PROFILE))
