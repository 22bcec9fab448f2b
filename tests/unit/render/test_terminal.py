from __future__ import annotations

from collections.abc import Callable

from proton.analysis.derive import Column
from proton.analysis.select import everything
from proton.model.metric import Metrics
from proton.model.tree import Tree
from proton.render.display_names import cell_width
from proton.render.text.style import ASCII, DIM, RESET, Style
from proton.render.text.terminal import column_title, draw_tree

MakeTree = Callable[..., Tree]
ROWS: list[tuple[int, str, Metrics]] = [
    (0, "ROOT", {}),
    (1, "a", {}),
    (2, "x", {}),
    (1, "b", {}),
    (2, "y", {}),
]


def column(*values: float | None, word: str = "time", unit: str = "ms") -> Column:
    return Column(word, word, unit, list(values))


def test_one_metric_stands_between_the_branch_and_the_name(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    drawing = draw_tree(tree, everything(tree), [column(3.0, 2.0, 2.0, 1.0, None)], str, Style())
    assert drawing.lines == [
        "time ms",
        "3.000 ROOT",
        "├─ 2.000 a",
        "│  └─ 2.000 x",
        "└─ 1.000 b",
        "   └─ - y",
    ]


def test_several_metrics_stand_in_aligned_columns_left_of_the_tree(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    columns = [column(10.0, 2.0, 2.0, 8.0, None), column(1, 1, None, 3, 1, word="n", unit="")]
    drawing = draw_tree(tree, everything(tree), columns, str, Style())
    assert drawing.lines == [
        "time ms  n",
        " 10.000  1  ROOT",
        "  2.000  1  ├─ a",
        "  2.000  -  │  └─ x",
        "  8.000  3  └─ b",
        "      -  1     └─ y",
    ]


def test_without_metrics_only_names_are_drawn(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    assert draw_tree(tree, everything(tree), [], str, Style()).lines[:2] == ["ROOT", "├─ a"]


def test_branches_fit_the_rows_that_are_kept(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    drawing = draw_tree(tree, bytearray([1, 1, 1, 0, 0]), [], str, Style())
    assert drawing.lines == ["ROOT", "└─ a", "   └─ x"]


def test_a_terminal_without_unicode_gets_ascii_branches(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    drawing = draw_tree(tree, everything(tree), [], str, Style(glyphs=ASCII))
    assert drawing.lines[1:3] == ["|- a", "|  `- x"]


def test_no_line_is_wider_than_the_terminal(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "long" * 40, {}), (2, "größe 模型" * 20, {})])
    columns = [column(1.0, 1.0, 1.0)]
    lines = draw_tree(tree, everything(tree), columns, str, Style(width=60)).lines
    assert max(map(cell_width, lines)) == 60
    assert "…" in lines[2]


def test_without_a_width_no_name_is_cut(make_tree: MakeTree) -> None:
    tree = make_tree([(0, "ROOT", {}), (1, "long" * 400, {})])
    assert draw_tree(tree, everything(tree), [], str, Style()).lines[1].endswith("long" * 400)


def test_marks_stand_behind_names(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS[:2])
    lines = draw_tree(tree, everything(tree), [], str, Style(), marks=["", "(new)"]).lines
    assert lines == ["ROOT", "└─ a (new)"]


def test_rows_are_painted_in_their_look_and_branches_are_dim(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS[:2])
    style = Style(color=True)
    lines = draw_tree(
        tree, everything(tree), [column(1.0, 1.0)], str, style, ["", "\x1b[33m"]
    ).lines
    assert lines[1] == "1.000 ROOT"
    assert lines[2] == f"{DIM}└─ {RESET}\x1b[33m1.000 a{RESET}"


def test_ten_thousand_levels_are_drawn_in_bounded_lines(make_tree: MakeTree) -> None:
    tree = make_tree([(depth, f"f{depth}", {}) for depth in range(10_001)])
    drawing = draw_tree(tree, everything(tree), [], str, Style(width=80))
    assert drawing.is_capped
    assert max(map(len, drawing.lines)) <= 80
    assert drawing.lines[-1].endswith("⋯10000 └─ f10000")


def test_ten_thousand_levels_without_a_width_stay_small(make_tree: MakeTree) -> None:
    tree = make_tree([(depth, "f", {}) for depth in range(10_001)])
    drawing = draw_tree(tree, everything(tree), [], str, Style())
    assert sum(map(len, drawing.lines)) < 3_000_000


def test_a_shallow_tree_is_not_capped(make_tree: MakeTree) -> None:
    tree = make_tree(ROWS)
    assert not draw_tree(tree, everything(tree), [], str, Style(width=80)).is_capped


def test_a_title_has_the_unit_and_no_raw_escapes() -> None:
    assert column_title(column(1.0)) == "time ms"
    assert column_title(column(1.0, word="\x1b", unit="")) == "\\x1b"
