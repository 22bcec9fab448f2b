"""The writer of the pages of figures: their rows, their markers, what it leaves alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import run_all
from benchmarks.run_all import Benchmark, number, put, row, section, write_page


def result(**changes: Any) -> dict[str, Any]:
    estimate = {"median": 41.26, "low": 40.0, "high": 43.5, "samples": 11}
    plain = {"figure": "scope", "unit": "ns", "estimate": estimate, "bar": 60.0}
    return {**plain, "known": None, "note": "", **changes}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.1234, "0.12"), (1.234, "1.23"), (41.26, "41.3"), (1234.5, "1234")],
)
def test_numbers_have_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


def test_a_row_gives_figure_interval_bar_and_verdict() -> None:
    assert row(result()) == "| scope | 41.3 (40.0 to 43.5) ns | <= 60 ns | yes | - |\n"


def test_a_missed_bar_stands_out() -> None:
    assert "| **no** |" in row(result(bar=30.0))


def test_a_bar_within_the_interval_alone_is_undecided() -> None:
    assert "| undecided |" in row(result(bar=41.0))


def test_the_section_leaves_out_where_the_results_went() -> None:
    document = {
        "machine": "a machine",
        "date": "2026-01-31",
        "command": ["scope_cost.py", "--json", "x/results.json"],
        "results": [result()],
    }
    assert section(document).startswith(
        "2026-01-31; a machine; `python benchmarks/scope_cost.py`\n\n| figure "
    )


def test_only_what_stands_between_the_markers_changes() -> None:
    page = "head\n<!-- figures: begin a -->\nold\n<!-- figures: end a -->\ntail\n"
    assert put(page, "a", "new\n") == page.replace("old", "new")


def test_a_new_benchmark_gets_markers_at_the_end() -> None:
    page = put("head\n", "b", "new\n")
    assert page.startswith("head\n")
    assert put(page, "b", "newer\n") == page.replace("new\n", "newer\n")


def test_a_missing_end_marker_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no"):
        put("<!-- figures: begin a -->\n", "a", "x")


def test_tables_are_made_from_a_folder_of_results(tmp_path: Path) -> None:
    document = {"machine": "m", "date": "d", "command": ["overhead.py"], "results": [result()]}
    (tmp_path / "overhead.json").write_text(json.dumps(document))
    (tmp_path / "other.json").write_text("{}")
    page = "<!-- figures: begin overhead -->\nold\n<!-- figures: end overhead -->\n"
    assert "| scope | 41.3 (40.0 to 43.5) ns |" in write_page(page, tmp_path)
    assert "old" not in write_page(page, tmp_path)


def test_a_table_stands_in_its_own_page_only(tmp_path: Path) -> None:
    document = {"machine": "m", "date": "d", "command": ["x.py"], "results": [result()]}
    (tmp_path / "in_kernel_accuracy.json").write_text(json.dumps(document))
    assert "41.3" in write_page("", tmp_path, "accuracy.md")
    assert write_page("", tmp_path) == ""


def test_a_benchmark_that_takes_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(run_all, "HERE", tmp_path)
    monkeypatch.setitem(run_all.BENCHMARKS, "slow", Benchmark("slow", (), 0.2))
    assert not run_all.run("slow", tmp_path)
    assert "slow: not done after 0 s" in capfd.readouterr().err
