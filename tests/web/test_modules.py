"""The view of modules, operators, kernels and lines in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from proton.cli.viewer import main
from tests.support.browser import Opened
from tests.web.conftest import DATA

Open = Callable[..., Opened]
HASH = "view=modules"
TITLES = {"module": "Modules", "op": "Operators", "kernel": "Kernels", "line": "Lines"}


def table(opened: Opened) -> list[list[str]]:
    rows = opened.page.locator(".modules-view tbody tr:not(.space)")
    return [
        ["".join(text.split()) for text in row.locator("td").all_text_contents()]
        for row in rows.all()
    ]


def pick(opened: Opened, by: str) -> None:
    opened.page.locator(".modules-view .choice button", has_text=TITLES[by]).click()


@pytest.mark.parametrize("by", TITLES)
def test_tables_are_those_of_the_terminal(
    by: str, open_report: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = open_report("training.hatchet", hash=HASH)
    pick(opened, by)
    assert main(["--group-by", by, "--json", str(DATA / "training.hatchet")]) == 0
    wanted = json.loads(capsys.readouterr().out)["rows"]
    rows = table(opened)
    assert len(rows) == len(wanted)
    assert [row[2] for row in rows] == [
        f"{100 * each['share']:.1f}%" if each["share"] else "\u2013" for each in wanted
    ]
    if by in ("module", "op"):
        assert rows[0][0] == wanted[0]["name"]


def test_a_module_leads_to_its_operators_kernels_and_lines(open_report: Open) -> None:
    opened = open_report("training.hatchet", hash=HASH)
    assert opened.texts(".onward") == ["select a row to see what lies in it"]
    opened.page.click("td:has-text('transformer.h.0.attn.c_attn')")
    assert opened.texts(".onward .link") == ["operators", "kernels", "lines"]
    opened.page.click(".onward .link:has-text('operators')")
    assert [row[0] for row in table(opened)] == ["aten::addmm", "aten::linear", "aten::t"]
    assert table(opened)[0][1] == "647µs"
    opened.page.click("td:has-text('aten::addmm')")
    opened.page.click(".onward .link:has-text('kernels')")
    assert len(table(opened)) == 2
    assert len(opened.texts(".modules-view .chip")) == 2
    assert "module=transformer.h.0.attn.c_attn|op=aten%3A%3Aaddmm" in opened.hash()
    opened.page.click("td:has-text('reduce_kernel')")
    opened.page.click(".onward .link:has-text('lines')")
    assert [row[0] for row in table(opened)] == ["forwardmodel.py:40"]
    for _ in range(3):
        opened.page.locator(".modules-view .chip").first.click()
    assert len(table(opened)) == 14


def test_the_address_restores_what_a_table_is_narrowed_to(open_report: Open) -> None:
    opened = open_report(
        "training.hatchet", hash=f"{HASH}&zoom.modules=op|-time|module=lm_head|line=nowhere"
    )
    assert [row[0] for row in table(opened)] == ["aten::addmm", "aten::linear", "aten::t"]
    assert len(opened.texts(".modules-view .chip")) == 1


def test_without_a_gpu_the_time_is_that_of_the_host(open_report: Open) -> None:
    opened = open_report("training_cpu.hatchet", hash=HASH)
    heads = [title.rstrip("▾▴") for title in opened.texts(".modules-view th")]
    assert heads[:3] == ["module", "CPU time", "share"]
    assert "kernels" not in heads
    assert opened.texts(".modules-view .choice button") == ["Modules", "Operators", "Lines"]


def test_the_search_narrows_rows_and_counts_them(open_report: Open) -> None:
    opened = open_report("training.hatchet", hash=f"{HASH}&search=mlp")
    assert {row[0].split(".")[3] for row in table(opened)} == {"mlp"}
    assert len(table(opened)) == 6


def test_colours_of_the_flame_graph_have_a_legend(open_report: Open) -> None:
    opened = open_report("training.hatchet", hash="view=flame")
    legend = ["module", "Python", "operator", "backward", "kernel", "copy"]
    assert opened.texts(".legend > span") == legend


def test_a_profile_without_a_framework_says_what_to_record(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash=HASH)
    assert "record with proton -c ops" in opened.texts("#view .needs")[0]


def test_the_first_screen_names_modules_and_without_a_gpu_operators(open_report: Open) -> None:
    opened = open_report("training.hatchet")
    assert opened.words("table.work tbody td.name")[0] == "lm_head"
    assert opened.page.locator("table.work").count() == 1
    opened = open_report("training_cpu.hatchet")
    assert opened.texts("table.work th.name") == ["top modules", "top operators"]
    assert "ops, torch 2.13.0" in opened.texts(".recording dd")
    opened.page.click("table.work td:has-text('aten::addmm')")
    assert opened.hash().startswith("#sel=node:")


@pytest.mark.parametrize("view", ["summary", "modules"])
def test_it_fits_a_phone(view: str, open_report: Open) -> None:
    opened = open_report("training.hatchet", hash=f"view={view}", size=(390, 800))
    assert not opened.is_cut()
