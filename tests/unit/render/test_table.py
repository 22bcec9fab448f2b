from __future__ import annotations

from collections.abc import Callable

from proton.analysis.derive import Column
from proton.analysis.select import everything
from proton.model.metric import Metrics
from proton.model.profile import TreeProfile
from proton.model.tree import Tree
from proton.render.text.style import BOLD, Style
from proton.render.text.table import metric_lines, sorted_lines

FLAT: list[tuple[int, str, Metrics]] = [
    (0, "ROOT", {}),
    (1, "small", {}),
    (1, "large", {}),
    (1, "none", {}),
]


def test_the_largest_is_on_top_and_dashes_are_last(make_tree: Callable[..., Tree]) -> None:
    tree = make_tree(FLAT)
    column = Column("t", "time", "ms", [None, 1.0, 20.0, None])
    lines = sorted_lines(tree, everything(tree), [column], str, Style())
    assert lines == ["time ms  name", " 20.000  large", "  1.000  small", "      -  none"]


def test_the_largest_loss_counts_as_much_as_a_gain(make_tree: Callable[..., Tree]) -> None:
    tree = make_tree(FLAT)
    column = Column("t", "time", "ms", [None, 1.0, -20.0, None], is_difference=True)
    lines = sorted_lines(
        tree, everything(tree), [column], str, Style(), marks=["", "(new)", "", ""]
    )
    assert lines[1:3] == ["-20.000  large", " +1.000  small (new)"]


def test_long_names_in_a_list_are_cut_to_the_width(make_tree: Callable[..., Tree]) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "long" * 50, {})])
    column = Column("t", "time", "ms", [None, 1.0])
    lines = sorted_lines(tree, everything(tree), [column], str, Style(width=50))
    assert len(lines[1]) == 50


def test_metrics_are_listed_with_unit_kind_and_number(
    make_profile: Callable[..., TreeProfile],
) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"time (ns)": 5, "count": 1, "weird\x1b": 2})]
    text = "\n".join(metric_lines(make_profile(rows), Style(width=100)))
    assert "time" in text
    assert "inclusive" in text
    assert "time/ms" in text
    assert "avg_time/us" in text
    assert "weird\\x1b" in text
    assert "\x1b" not in text


def test_names_of_metrics_are_not_taken_for_markup(
    make_profile: Callable[..., TreeProfile],
) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"load_bytes[a]": 5})]
    assert "load_bytes[a]" in "\n".join(metric_lines(make_profile(rows), Style(width=100)))


def test_the_list_of_metrics_keeps_to_the_width_and_is_bold_at_its_titles(
    make_profile: Callable[..., TreeProfile],
) -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"a_very_long_name_of_a_metric": 5, "time (ns)": 1})]
    lines = metric_lines(make_profile(rows), Style(width=50))
    at = lines.index("measured               unit   adds up     contexts")
    assert lines[at + 1 : at + 3] == [
        "a_very_lon…_a_metric          inclusive          1",
        "time                   ns     inclusive          1",
    ]
    assert max(map(len, lines[at:])) <= 50
    colored = metric_lines(make_profile(rows), Style(width=50, color=True))
    assert f"{BOLD}derived\x1b[0m" in colored
