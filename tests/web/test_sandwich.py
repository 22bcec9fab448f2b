"""The sandwich of the flame graph in a browser, and frames of libraries that are hidden."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.support.browser import Opened
from tests.support.flames import click, node, point, selected, table, write_tree

Open = Callable[..., Opened]


def test_every_kernel_stands_below_its_callers(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=flame")
    opened.page.click("text=Sandwich")  # nothing is selected: of everything
    level = base_level(opened)
    opened.page.mouse.move(*point(opened, 0.1, level))
    assert opened.texts(".hover strong") == ["everything"]
    click(opened, 0.1, level - 1)
    assert selected(opened) == "matmul_1024x3072x768"
    assert "sel=kernel:" in opened.hash()
    click(opened, 0.1, level - 2)
    assert selected(opened) == "mlp"
    opened.page.keyboard.press("c")
    click(opened, 0.86, 1)
    assert selected(opened) == "forward"


def base_level(opened: Opened) -> int:
    """The level of what is in the middle of a sandwich: those of callers are above it."""
    opened.page.keyboard.press("t")
    levels = [
        int(text.replace("\u2212", "-")) for text in opened.texts(".flame-table td:nth-child(5)")
    ]
    opened.page.keyboard.press("t")
    return -min(levels)


def write_layers(path: Path) -> Path:
    """`attn` in two places: of a layer directly, and of the head through `wrap`."""
    attn = [node("matmul", [], 20), node("softmax", [], 10)]
    wrapped = node("wrap", [node("attn", [node("matmul", [], 60)])])
    top = [node("layer", [node("attn", attn)]), node("head", [wrapped]), node("init", [], 10)]
    return write_tree(path, node("ROOT", top))


def test_a_sandwich_has_callers_above_and_callees_below(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(write_layers(tmp_path / "layers.hatchet"), hash="view=flame")
    click(opened, 0.1, 3)  # head > wrap > attn
    assert selected(opened) == "attn"
    opened.page.keyboard.press("s")
    opened.page.wait_for_selector(".trail")
    assert opened.texts(".trail") == ["everything \u203a attn"]
    assert "zoom.flame=c.z" in opened.hash()
    opened.page.keyboard.press("t")
    assert table(opened) == [
        ["attn", "90.0 %", "0", ""],
        ["matmul", "80.0 %", "1", "below attn"],
        ["wrap", "60.0 %", "-1", "called attn"],
        ["head", "60.0 %", "-2", "called wrap \u203a attn"],
        ["layer", "30.0 %", "-1", "called attn"],
        ["softmax", "10.0 %", "1", "below attn"],
    ]
    opened.page.reload()  # the address has all of it
    opened.page.wait_for_selector(".trail")
    opened.page.mouse.move(*point(opened, 0.1, 0))
    assert opened.texts(".hover strong") == ["head"]
    card = "".join(opened.words(".hover"))
    assert "called wrap \u203a attn" in card
    assert "ofwhatisshown66.7%" in re.sub(r"\s", "", card)


def test_a_sandwich_is_narrowed_to_a_caller_or_a_callee(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(write_layers(tmp_path / "layers.hatchet"), hash="view=flame")
    opened.page.evaluate("location.hash = 'view=flame&sel=node:2'")  # layer > attn
    opened.page.click("text=Sandwich")
    opened.page.mouse.dblclick(*point(opened, 0.95, 1))  # layer, of which attn was called
    opened.page.wait_for_selector(".trail >> text=layer")
    assert opened.texts(".trail") == ["everything \u203a layer \u203a attn"]
    opened.page.keyboard.press("t")
    assert [row[:2] for row in table(opened)] == [
        ["attn", "30.0 %"],
        ["layer", "30.0 %"],
        ["matmul", "20.0 %"],
        ["softmax", "10.0 %"],
    ]
    opened.page.keyboard.press("t")
    opened.page.keyboard.press("Escape")
    opened.page.mouse.dblclick(*point(opened, 0.97, 3))  # softmax, which only the layer's has
    opened.page.wait_for_selector(".trail >> text=softmax")
    assert ".b" in opened.hash()
    opened.page.mouse.move(*point(opened, 0.1, 0))
    assert opened.texts(".hover strong") == ["layer"]  # head is gone, and so is a level
    for _ in range(2):
        opened.page.keyboard.press("Escape")
    opened.page.wait_for_selector(".trail", state="detached")
    assert "zoom" not in opened.hash()


def test_a_sandwich_is_walked_and_centred_by_keys(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(write_layers(tmp_path / "layers.hatchet"), hash="view=flame&sel=node:2")
    press = opened.page.keyboard.press
    press("s")
    opened.page.wait_for_selector(".trail")
    press("ArrowUp")  # from nowhere: the middle
    press("ArrowUp")
    assert selected(opened) == "wrap"
    press("ArrowDown")
    press("ArrowDown")
    assert selected(opened) == "matmul"
    press("s")  # now that is in the middle
    assert opened.texts(".trail") == ["everything \u203a matmul"]
    press("ArrowUp")
    press("ArrowUp")
    assert selected(opened) == "attn"
    press("Escape")
    assert opened.texts(".trail") == ["everything \u203a attn"]
    press("c")
    assert opened.page.locator(".trail").count() == 0


def test_a_kernel_leads_to_its_sandwich_from_any_view(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=kernels&sel=kernel:adamw")
    opened.page.get_by_role("button", name="callers in the flame graph").click()
    opened.page.wait_for_selector(".trail")
    assert opened.texts(".trail") == ["everything \u203a adamw"]


def write_python(path: Path) -> Path:
    """Own code that calls `jit.py` of an installed package twice, which runs kernels."""
    jit = "/x/site-packages/triton/runtime/jit.py"
    first = node(f"{jit}:744@run", [node(f"{jit}:12@launch", [node("matmul", [], 60)])])
    second = node(f"{jit}:700@run", [node("matmul", [], 30)])
    own = node("/x/model.py:12@forward", [first, second, node("softmax", [], 10)])
    return write_tree(path, node("ROOT", [own]))


def test_frames_of_libraries_are_hidden_on_demand(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(write_python(tmp_path / "py.hatchet"), hash="view=flame&search=jit")
    assert opened.texts(".hits") == ["3 contexts"]
    opened.page.get_by_role("button", name="Hide library frames").click()
    assert "hide=library" in opened.hash()
    assert opened.texts(".hits") == ["0 contexts"]
    opened.page.fill("#search", "")
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("t")
    assert [row[:3] for row in table(opened)] == [
        ["everything", "100.0 %", "0"],
        ["forward model.py:12", "100.0 %", "1"],
        ["matmul", "90.0 %", "2"],
        ["softmax", "10.0 %", "2"],
    ]
    opened.page.locator(".flame-table tr", has_text="softmax").click()
    assert re.sub(r"\s+", " ", opened.texts(".details .path")[0]) == "forward model.py:12"
    opened.page.locator(".flame-table tr", has_text="matmul").click()
    opened.page.wait_for_selector(".details >> text=matmul")
    assert re.sub(r"\s+", " ", opened.texts(".details .path")[0]) == "forward model.py:12"
    assert "contexts2" in "".join(opened.words(".details dl")).replace(" ", "")
    opened.page.keyboard.press("s")  # a sandwich has none either
    assert [row[:3] for row in table(opened)] == [
        ["matmul", "90.0 %", "0"],
        ["forward model.py:12", "90.0 %", "-1"],
    ]
    opened.page.keyboard.press("l")
    assert len(table(opened)) == 6
    assert "hide" not in opened.hash()


def test_a_profile_without_frames_of_libraries_has_no_switch(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=flame")
    assert opened.page.get_by_role("button", name="Hide library frames").count() == 0


def test_the_lines_of_a_function_are_one_in_a_sandwich(open_report: Open, tmp_path: Path) -> None:
    first = node("/x/model.py:12@forward", [node("matmul", [], 20)])
    second = node("/x/model.py:15@forward", [node("softmax", [], 10)])
    path = write_tree(tmp_path / "lines.hatchet", node("ROOT", [first, second]))
    opened = open_report(path, hash="view=flame")
    click(opened, 0.1, 1)
    opened.page.keyboard.press("s")
    opened.page.keyboard.press("t")
    assert [row[:2] for row in table(opened)] == [
        ["forward model.py", "100.0 %"],
        ["matmul", "66.7 %"],
        ["softmax", "33.3 %"],
    ]
