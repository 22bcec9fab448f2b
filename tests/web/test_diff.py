"""The diff of two profiles in a browser: order, verdicts, intervals, new and gone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
from tests.support.flames import node, point, write_tree
from tests.support.model_steps import write_steps

Open = Callable[..., Opened]
NAMES = ".diff-view tbody td:first-child"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A change that made one kernel slower, one faster, and replaced two."""
    return (
        write_steps(tmp_path / "before.hatchet"),
        write_steps(
            tmp_path / "after.hatchet",
            seed=2,
            slower={"layer_norm_bwd": 1.35, "flash_bwd": 0.93},
            leave_out=("gelu_kernel", "gelu_bwd_kernel"),
            more={"fused_gelu": (90.0, 5e7, 66e6, 40, 0, (4096, 1, 1))},
        ),
    )


def test_what_changed_most_stands_on_top_whichever_way(
    open_report: Open, pair: tuple[Path, Path]
) -> None:
    opened = open_report(*pair, hash="view=diff")
    assert opened.texts(NAMES)[:2] == ["flash_bwd", "layer_norm_bwd"]
    assert opened.texts(".verdict")[:3] == ["faster", "slower", "same"]


def test_changes_have_their_interval(open_report: Open, pair: tuple[Path, Path]) -> None:
    opened = open_report(*pair, hash="view=diff")
    cells = opened.texts(".diff-view tbody tr:first-child .sure")
    assert re.fullmatch(r"-4\u202f\d{3} ± \d+ µs", cells[0])
    assert "± " in cells[0]
    assert cells[1].startswith("-7.")
    assert opened.page.locator(".diffbar .interval").count() == 8
    assert "95 % confidence" in opened.texts(".note")[0]


def test_red_is_only_what_became_slower_beyond_chance(
    open_report: Open, pair: tuple[Path, Path]
) -> None:
    opened = open_report(*pair, hash="view=diff")
    assert opened.texts(".verdict.worse") == ["slower"]
    assert opened.texts(".verdict.better") == ["faster"]


def test_new_and_gone_kernels_stand_apart(open_report: Open, pair: tuple[Path, Path]) -> None:
    opened = open_report(*pair, hash="view=diff")
    assert not {"fused_gelu", "gelu_kernel"} & set(opened.texts(NAMES))
    opened.page.click("button:has-text('New 1')")
    assert opened.texts(NAMES) == ["fused_gelu"]
    opened.page.click("button:has-text('Gone 2')")
    assert opened.texts(NAMES) == ["gelu_bwd_kernel", "gelu_kernel"]
    assert "zoom.diff=gone" in opened.hash()


def test_a_kernel_is_selected_in_the_profile_that_has_it(
    open_report: Open, pair: tuple[Path, Path]
) -> None:
    opened = open_report(*pair, hash="view=diff&zoom.diff=new.-size")
    opened.page.click("text=fused_gelu")
    assert opened.texts(".details h2") == ["fused_gelu"]
    assert "profile=1" in opened.hash()


def test_recordings_of_more_steps_are_compared_at_equal_runs(
    open_report: Open, tmp_path: Path
) -> None:
    few = write_steps(tmp_path / "few.hatchet", steps=10)
    many = write_steps(tmp_path / "many.hatchet", seed=2, slower={"flash_bwd": 1.2})
    opened = open_report(few, many, hash="view=diff")
    assert opened.texts("button[aria-pressed=true]") == ["In both 10", "At equal runs"]
    assert "at 2.00 times the runs" in opened.texts(".side.total span")[0]
    assert opened.texts(NAMES)[0] == "flash_bwd"
    assert opened.texts(".verdict")[:2] == ["slower", "more runs"]
    opened.page.click("button:has-text('Total')")
    assert opened.texts(".sure .change")[0].startswith("+")
    assert "zoom.diff=kernels.-size.total" in opened.hash()


def test_scopes_are_compared_too(open_report: Open, pair: tuple[Path, Path]) -> None:
    opened = open_report(*pair, hash="view=diff")
    opened.page.click("button:has-text('Scopes')")
    names = opened.texts(NAMES)
    assert {"forward", "backward", "optimizer"} <= set(names)
    opened.page.click("text=/^optimizer$/")
    assert opened.texts(".details h2") == ["optimizer"]


def test_that_nothing_is_known_of_single_runs_is_said_once(open_report: Open) -> None:
    opened = open_report("triton36_kernels.hatchet", "triton36_samples.hatchet", hash="view=diff")
    assert opened.page.locator(".diff-view tbody tr").count() > 0
    assert opened.texts(".verdict") == []
    assert "verdict" not in " ".join(opened.texts(".diff-view th"))
    assert [note for note in opened.texts(".diff-view .note") if note.startswith("No verdicts")]


def test_what_makes_them_hard_to_compare_is_said(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "interpreter.hatchet", hash="view=diff")
    assert any("different devices" in note for note in opened.texts(".diff-head .bad"))


def test_one_profile_has_no_diff(open_report: Open) -> None:
    assert "Diff" not in open_report("gpt.hatchet").texts("[role=tab]:not(.without)")


@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_the_page_never_scrolls_to_the_side(
    size: tuple[int, int], open_report: Open, pair: tuple[Path, Path]
) -> None:
    assert not open_report(*pair, hash="view=diff", size=size).is_cut()


def test_its_picture_for_the_documentation_is_small(
    open_report: Open, pair: tuple[Path, Path], picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report(*pair, hash="view=diff", size=(1280, 560))
    opened.page.click("text=layer_norm_bwd")
    picture(opened, "diff")


def test_profiles_of_the_host_alone_are_compared_too(open_report: Open, tmp_path: Path) -> None:
    paths = []
    for name, time_ns in {"before": 50_000, "after": 90_000}.items():
        child = {"frame": {"name": "load"}, "metrics": {"cpu_time (ns)": time_ns}, "children": []}
        root = {"frame": {"name": "ROOT"}, "metrics": {"cpu_time (ns)": 0}, "children": [child]}
        paths.append(tmp_path / f"{name}.hatchet")
        paths[-1].write_text(json.dumps([root, {}]))
    opened = open_report(*paths)
    assert opened.texts("[role=tab][aria-selected=true]") == ["Diff"]
    assert opened.page.title() == "before.hatchet → after.hatchet \u2013 proton"
    assert opened.texts(NAMES) == ["load"]
    assert "+40.0\u00a0µs" in opened.texts(".side.total strong")[0]
    assert "on the host" in opened.texts(".side.total span")[0]


def test_a_flame_graph_tells_by_colours_what_changed(open_report: Open, tmp_path: Path) -> None:
    before = node("ROOT", [node("fwd", [node("mm", [], 40), node("old", [], 10)])])
    after = node("ROOT", [node("fwd", [node("mm", [], 60), node("new", [], 20)])])
    paths = [write_tree(tmp_path / "a.hatchet", before), write_tree(tmp_path / "b.hatchet", after)]
    opened = open_report(*paths)
    opened.page.get_by_role("button", name="as a flame graph").click()
    opened.page.wait_for_selector(".flame-view")
    assert "zoom.flame=d" in opened.hash()
    assert opened.texts(".legend > span") == ["gone or less", "as before", "more or new"]
    opened.page.keyboard.press("t")
    rows = [
        [re.sub(r"\s+", " ", text).strip() for text in row.locator("td").all_inner_texts()]
        for row in opened.page.locator(".flame-table tbody tr").all()
    ]
    assert [[row[0], *row[3:6]] for row in rows] == [
        ["everything", "50 ns", "80 ns", "+60.0 %"],
        ["fwd", "50 ns", "80 ns", "+60.0 %"],
        ["mm", "40 ns", "60 ns", "+50.0 %"],
        ["new", "0 ns", "20 ns", "new"],
    ]
    opened.page.mouse.move(*point(opened, 0.1, 2))
    card = re.sub(r"\s+", "", "".join(opened.words(".hover")))
    assert "before40nsafter60nschange+50.0%" in card
    assert color_at(opened, 0.1, 2)[0] > color_at(opened, 0.1, 2)[2]  # more red than blue
    opened.page.keyboard.press("v")  # back to colours of kinds
    assert "zoom" not in opened.hash()
    assert opened.page.locator(".flame-table th", has_text="before").count() == 0


def test_the_first_profile_shows_what_is_gone(open_report: Open, tmp_path: Path) -> None:
    before = node("ROOT", [node("mm", [], 40), node("old", [], 60)])
    after = node("ROOT", [node("mm", [], 40)])
    paths = [write_tree(tmp_path / "a.hatchet", before), write_tree(tmp_path / "b.hatchet", after)]
    opened = open_report(*paths, hash="view=flame&zoom.flame=d")
    opened.page.mouse.move(*point(opened, 0.1, 1))
    assert "changegone" in re.sub(r"\s+", "", "".join(opened.words(".hover")))
    red, _, blue = color_at(opened, 0.1, 1)
    assert blue > red
    red, _, blue = color_at(opened, 0.9, 1)
    assert abs(blue - red) < 12  # as before: no colour


def color_at(opened: Opened, share: float, level: int) -> list[int]:
    """Red, green and blue of a box, near its lower edge, where no text stands."""
    x, y = point(opened, share, level)
    box = opened.page.locator(".flame-scroll canvas").bounding_box()
    assert box is not None
    color: list[int] = opened.page.evaluate(
        """([x, y]) => {
          const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
          const ratio = devicePixelRatio
          const drawn = document.querySelector('.flame-scroll canvas')
          pixel.drawImage(drawn, x * ratio, y * ratio, 1, 1, 0, 0, 1, 1)
          return Array.from(pixel.getImageData(0, 0, 1, 1).data).slice(0, 3) }""",
        [x - box["x"], y - box["y"] + 9],
    )
    return color


@pytest.mark.parametrize("selected", ["", "&sel=node:40"])
def test_all_columns_are_seen_at_the_width_of_a_laptop(open_report: Open, selected: str) -> None:
    """Long names once took the room of the last columns, and units were cut."""
    sources = "h200/gpt2.hatchet", "h200/gpt2.pftrace"
    opened = open_report(*sources, hash=f"view=diff{selected}", size=(1440, 900))
    opened.page.wait_for_selector(".details:not(.arriving) h2" if selected else ".diff-view th")
    place = opened.page.locator(".diff-view .table").bounding_box()
    assert place is not None
    heads = [opened.page.locator(".diff-view th").nth(at) for at in range(len(opened.texts("th")))]
    for head in heads:
        box = head.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= place["x"] + place["width"] + 1, head.inner_text()
    cut = "e => [...e].filter(c => c.scrollWidth > c.clientWidth + 1).map(c => c.innerText)"
    assert opened.page.locator(".diff-view td:not(.text)").evaluate_all(cut) == []


def test_names_stay_where_columns_have_to_scroll(open_report: Open) -> None:
    sources = "h200/gpt2.hatchet", "h200/gpt2.pftrace"
    opened = open_report(*sources, hash="view=diff", size=(700, 800))
    opened.page.locator(".diff-view .table").evaluate("e => e.scrollLeft = e.scrollWidth")
    place, name, last = (
        opened.page.locator(f".diff-view {each}").bounding_box()
        for each in (".table", "tbody td:first-child >> nth=0", "th:last-child")
    )
    assert place
    assert name
    assert last
    assert abs(name["x"] - place["x"]) <= 2
    assert last["x"] + last["width"] <= place["x"] + place["width"] + 1
