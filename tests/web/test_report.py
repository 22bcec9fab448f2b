"""The page of `proton report`: its first screen, keys, address, and problems in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
from tests.support.wide import combinations
from tests.web.conftest import DATA

Open = Callable[..., Opened]
EMPTY = {"empty.chrome_trace", "root_only.hatchet"}
RECORDINGS = sorted(
    path.name
    for path in DATA.iterdir()
    if path.is_file() and path.suffix not in (".md", ".py") and path.name not in EMPTY
)


# What is in the other encoding has a twin.
@pytest.mark.parametrize(
    "name", combinations(RECORDINGS, kept=lambda name: not name.endswith("_msgpack"))
)
def test_every_recording_opens_in_every_view_without_a_complaint(
    name: str, open_report: Open
) -> None:
    opened = open_report(name)
    tabs = opened.page.locator("[role=tab]")
    assert tabs.count() >= 1
    for at in range(tabs.count()):
        tabs.nth(at).click()
        assert opened.texts("#view .problem") == []
    assert not opened.is_cut()


def test_the_first_screen_says_how_long_where_and_how_good(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    figures = dict(zip(opened.texts(".figure span"), opened.texts(".figure strong"), strict=True))
    assert figures["total GPU"] == "687\u00a0µs"
    assert figures["of peak"] == "≥ 11.5\u00a0%"
    assert opened.words(".where .label") == ["forward", "optimizer"]
    assert opened.words("table.kernels tbody td.name")[0] == "matmul_1024x3072x768"
    assert opened.texts("header .problem") == ["✗ 3 lost"]


def test_python_frames_are_named_without_their_folders(tmp_path: Path, open_report: Open) -> None:
    def node(name: str, *children: object) -> dict[str, object]:
        time = {} if children else {"time (ns)": 5, "count": 1, "device_id": "0"}
        return {"frame": {"name": name, "type": "function"}, "metrics": time, "children": children}

    folder = "/home/somebody/projects/models/.venv/lib/python3.12/site-packages/trainer"
    frames = [node(f"{folder}/loop.py:{line}@main", node("k")) for line in (7, 9)]
    path = tmp_path / "python.hatchet"
    path.write_text(json.dumps([node("ROOT", *frames), {}]))
    opened = open_report(path)
    assert opened.words(".where .label") == ["main  loop.py:7", "main  loop.py:9"]
    opened.page.goto(opened.page.url + "#view=flame&sel=node:2")
    opened.page.wait_for_selector(".details .path")
    assert opened.texts(".details .path button") == ["main loop.py:7"]
    assert opened.page.get_attribute(".details .path button", "title") == f"{folder}/loop.py:7@main"


def test_a_selection_is_shown_on_the_right_and_told_in_the_address(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    opened.page.click("text=flash_fwd")
    assert opened.texts(".details h2") == ["flash_fwd"]
    assert opened.hash() == "#sel=kernel:flash_fwd"
    opened.page.click(".contexts button >> nth=0")
    assert opened.hash().startswith("#sel=node:")
    opened.page.keyboard.press("Escape")
    assert opened.hash() == ""
    assert opened.texts(".details h2") == []


def test_an_address_that_was_shared_shows_the_same(open_report: Open) -> None:
    words = "metric=count&sel=kernel%3Aadamw&search=a&theme=dark"
    opened = open_report("gpt.hatchet", hash=words)
    assert opened.texts(".details h2") == ["adamw"]
    assert opened.page.input_value("#search") == "a"
    assert opened.page.input_value("select[aria-label=metric]") == "count"
    assert opened.page.get_attribute("html", "data-theme") == "dark"


def test_keys_search_select_and_help(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    keyboard = opened.page.keyboard
    keyboard.press("/")
    keyboard.type("flash")
    assert opened.words("table.kernels tbody td.name") == ["flash_fwd"]
    assert opened.texts(".hits") == ["1 kernel"]
    keyboard.press("ArrowDown")
    assert opened.hash() == "#sel=kernel:flash_fwd&search=flash"
    keyboard.press("Escape")
    assert opened.page.input_value("#search") == ""
    keyboard.press("?")
    assert opened.page.locator(".help").is_visible()
    keyboard.press("Escape")
    assert not opened.page.locator(".help").is_visible()


def test_enter_in_the_search_goes_from_the_heaviest_hit_to_the_next(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="search=matmul")
    opened.page.focus("#search")
    found = []
    for _ in range(7):
        opened.page.keyboard.press("Enter")
        found.append(opened.hash())
    assert len(set(found[:6])) == 6
    assert found[6] == found[0]


def test_left_and_right_go_from_tab_to_tab(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    titles = opened.texts("[role=tab]")
    opened.page.focus("#tab-summary")
    opened.page.keyboard.press("ArrowRight")
    assert opened.texts("[role=tab][aria-selected=true]") == [titles[1]]
    assert opened.page.evaluate("document.activeElement.textContent") == titles[1]
    opened.page.keyboard.press("ArrowLeft")
    opened.page.keyboard.press("ArrowLeft")
    assert opened.texts("[role=tab][aria-selected=true]") == [titles[0]]


def test_a_selection_stays_where_the_other_profile_has_it_too(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "gpt.hatchet_msgpack", hash="sel=node:3")
    chosen = opened.texts(".details h2")
    opened.page.select_option("select[aria-label=profile]", "1")
    assert opened.texts(".details h2") == chosen
    assert "sel=node:3" in opened.hash()


def test_back_and_forward_go_through_the_views_and_lose_none(open_report: Open) -> None:
    opened = open_report("gpt.hatchet")
    chosen = "[role=tab][aria-selected=true]"
    for key in "23":
        opened.page.keyboard.press(key)
        opened.hash()
    seen = opened.texts(chosen)
    for go in (opened.page.go_back, opened.page.go_back, opened.page.go_forward):
        go()
        opened.hash()
        seen += opened.texts(chosen)
    opened.page.go_forward()
    opened.hash()
    assert [*seen, *opened.texts(chosen)] == ["Kernels", "Flame", "Summary", "Flame", "Kernels"]


def test_the_reader_chooses_light_or_dark_and_the_system_before(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", dark=True)
    root = opened.page.locator("html")
    assert root.get_attribute("data-theme") == "dark"
    opened.page.keyboard.press("d")
    assert root.get_attribute("data-theme") == "light"


def test_several_profiles_are_switched_in_the_header(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "interpreter.hatchet", hash="view=summary")
    choice = opened.page.locator("select[aria-label=profile]")
    assert choice.locator("option").count() == 2
    choice.select_option("1")
    assert opened.texts(".figure span")[0] == "total, interpreted"
    assert "profile=1" in opened.hash()
    opened.page.go_back()
    opened.page.wait_for_selector("text=total GPU")


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_nothing_is_wider_than_the_window(size: tuple[int, int], open_report: Open) -> None:
    opened = open_report("sampled.hatchet", size=size)
    opened.page.click("table.kernels tbody tr >> nth=0")
    assert not opened.is_cut()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-400],
        lambda data: "?" + data[1:],
        lambda data: "AAAA" + data[4:],
        lambda data: "",
    ],
    ids=["short", "no base64", "no gzip", "empty"],
)
def test_damaged_data_is_said_in_one_line(
    damage: Callable[[str], str], report: Callable[..., Path], open_page: Open
) -> None:
    page = report("gpt.hatchet")
    text = page.read_text()
    data = re.search(r'id="proton-data">([^<]+)<', text)
    assert data is not None
    page.write_text(text.replace(data[1], damage(data[1])))
    opened = open_page(page)
    (line,) = opened.texts("p.problem")
    assert "damaged" in line
    assert "proton report" in line


def test_a_browser_that_cannot_decompress_is_told_so(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", before="delete window.DecompressionStream")
    (line,) = opened.texts("p.problem")
    assert "DecompressionStream" in line


def test_a_page_without_data_says_how_to_write_one(tmp_path: Path, open_page: Open) -> None:
    from proton.render.page.html import PLACE, template

    page = tmp_path / "page.html"
    page.write_text(template().replace(PLACE, ""))
    (line,) = open_page(page).texts("p.problem")
    assert "proton report FILE" in line


def test_the_page_is_small_and_its_policy_lets_only_its_own_script_run(browser: object) -> None:
    from proton.render.page.html import template

    page = template()
    assert len(page.encode()) < 400_000
    assert re.search(r"script-src 'sha256-[\w+/=]{44}';", page)
    assert "connect-src 'self'" in page


def test_two_profiles_open_at_what_changed_and_both_are_named(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "gpt.hatchet_msgpack")
    assert opened.texts("[role=tab][aria-selected=true]") == ["Diff"]
    assert opened.page.title() == "gpt.hatchet → gpt.hatchet_msgpack \u2013 proton"
    assert opened.hash() == ""
    opened.page.keyboard.press("1")
    assert opened.hash() == "#view=summary"


def test_the_search_counts_what_the_view_shows(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="view=flame&search=flash")
    assert opened.texts(".hits") == ["6 contexts"]
    opened.page.keyboard.press("3")
    assert opened.texts(".hits") == ["1 kernel"]
    assert opened.page.locator(".kernels-view tbody tr").count() == 1


def test_a_bad_expression_is_said(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="search=/(/")
    assert opened.texts(".hits.none") == ["bad expression"]


def test_what_is_not_listed_is_a_click_away(open_report: Open) -> None:
    opened = open_report("h200/gpt2.hatchet")
    opened.page.click(".table-foot >> text=29 more below these")
    assert opened.texts("[role=tab][aria-selected=true]") == ["Kernels"]


def test_the_bars_say_what_they_are_of(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", hash="metric=count")
    assert opened.texts(".where h3") == ["where the count goes"]


@pytest.mark.parametrize("view", ["summary", "kernels", "roofline"])
def test_autotuning_is_told_and_switched_where_kernels_are_listed(
    view: str, open_report: Open
) -> None:
    opened = open_report("h200/kernels.hatchet", hash=f"view={view}")
    (line,) = opened.texts("#view .tuning")
    assert line.endswith("left out; count it")
    opened.page.click("#view .tuning button")
    assert "counted here" in opened.texts("#view .tuning")[0]


@pytest.mark.parametrize("view", ["summary", "kernels"])
def test_an_instrumented_kernel_is_marked(view: str, open_report: Open) -> None:
    opened = open_report("in_kernel.hatchet", hash=f"view={view}&sel=kernel:matmul_kernel")
    assert opened.texts("#view tbody .beware") == ["instrumented"]
    hint = opened.page.get_attribute("#view tbody .beware", "title") or ""
    assert "spills" in hint
    remark = opened.texts(".details section > .beware")[0]
    assert remark.startswith("instrumented: its time includes recording, which changed it: spills")
