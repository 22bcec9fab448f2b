"""The in-kernel view: CTAs on multiprocessors, warps with regions, numbers of the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from heapq import heapify, heapreplace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proton.analysis.cta_launches import cta_launches
from proton.files.detect import open_profile
from proton.model.ctas import summarize_ctas
from tests.data.make_in_kernel import MATMUL, in_kernel_trace
from tests.support.browser import Opened
from tests.support.profiles import trace_in
from tests.web.conftest import DATA

Open = Callable[..., Opened]
HASH = "view=inkernel"
MISSING = "\u2013"  # a dash


def words_of(opened: Opened) -> str:
    """The texts of the view, with plain blanks."""
    return opened.page.inner_text("#view").replace("\u202f", " ").replace("\u00a0", " ")


MANY = 100_000
FRAME_MS = 80  # of very many CTAs; the quickest frames count, as the machine does other things too


def trace_of(count: int, slots: int = 8, warped: int = 0) -> dict[str, Any]:
    """A launch with many CTAs on 132 multiprocessors, each begun where one has ended.

    One multiprocessor is slower, now and then a CTA takes long; the first `warped` have regions.
    """
    trace: dict[str, Any] = in_kernel_trace()
    kernel = next(event for event in trace["traceEvents"] if event.get("cat") == "kernel")
    stack = kernel["args"]["call_stack"]
    events = [event for event in trace["traceEvents"] if event["ph"] == "M"] + [kernel]
    random = Random(7)
    free = [(11 + random.random(), sm) for sm in range(132) for _ in range(slots)]
    heapify(free)

    def add(cat: str, path: list[str], row: tuple[Any, Any], at: float, took: float) -> None:
        event = {"ph": "X", "cat": cat, "name": path[-1], "pid": row[0], "tid": row[1]}
        args = {"call_stack": [*stack, *path]}
        events.append(event | {"ts": round(at, 3), "dur": round(took, 3), "args": args})

    for cta in range(count):
        at, sm = free[0]
        took = random.gauss(24, 1) * (1.2 if sm == 40 else 1) * (2 if cta % 397 == 396 else 1)
        heapreplace(free, (at + took + 0.1 * random.random(), sm))
        add("cta", [f"CTA {cta}"], (0, 300_000 + sm), at, took)
        for warp in range(4 if cta < warped else 0):
            process, start = f"{MATMUL} Core{sm} CTA{cta}", at + 0.3 + warp / 8
            row, line = ((process, f"warp {warp} (line {number})") for number in (0, 1))
            add(MATMUL, ["k loop"], row, start, 0.8 * took)
            for tile in range(8):
                begin, step = start + 0.1 * took * tile, 0.1 * took
                add(MATMUL, ["k loop", "load a"], row, begin, 0.25 * step)
                add(MATMUL, ["k loop", "wait tile"], row, begin + 0.3 * step, 0.4 * step)
                add(MATMUL, ["k loop", "dot"], row, begin + 0.72 * step, 0.25 * step)
                add(MATMUL, ["copy b"], line, begin + 0.1 * step, 0.85 * step)
            add(MATMUL, ["epilogue"], row, start + 0.82 * took, 0.12 * took)
    kernel["dur"] = max(at for at, _ in free) - 9
    trace["traceEvents"] = events
    return trace


def cells(opened: Opened, title: str) -> list[list[str]]:
    """The texts of the table below the heading `title`, row by row."""
    table = opened.page.locator(f"section:has(h3:text-is('{title}')) tbody tr")
    return [
        [" ".join(text.split()) for text in row.locator("td").all_inner_texts()]
        for row in table.all()
    ]


def digits(text: str) -> str:
    return "".join(letter for letter in text if letter in "0123456789.")


def test_regions_have_the_numbers_of_the_terminal(open_report: Open) -> None:
    opened = open_report("in_kernel.hatchet", hash=HASH)
    kernel = open_profile(DATA / "in_kernel.hatchet").in_kernel[0]
    rows = cells(opened, "regions")
    assert [row[0].split(" ")[:-1] for row in rows] == [one.name.split() for one in kernel.regions]
    assert [digits(row[2]) for row in rows] == [str(one.count) for one in kernel.regions]
    assert [row[4].replace(" ", "") for row in rows] == [
        "80.3%", "22.3%", "31.8%", "20.9%", MISSING, "19.7%", MISSING,
    ]  # fmt: skip
    assert [digits(text) for text in rows[0][5:8]] == ["3610", "3720", "4106"]
    notes = opened.page.inner_text("section:has(h3:text-is('regions'))")
    assert "a passage may be off by 15 cycles" in notes
    assert opened.page.locator("td:has-text('64.5') .num").first.get_attribute("title") == (
        "may be off by 15 cycles"
    )


def test_losses_spills_and_changed_occupancy_are_marked(open_report: Open) -> None:
    opened = open_report("in_kernel.hatchet", hash=HASH)
    assert opened.texts("#view .beware") == [
        "! matmul_kernel: recording changed it: spills 0 -> 24 bytes, occupancy 0.25 -> 0.19",
        "! matmul_kernel: lost in-kernel: 1 536 overflowed_records",
    ]
    options = opened.texts("select[aria-label=kernel] option")
    assert [option.startswith("! ") for option in options] == [True, True, False]


def test_kernels_and_the_selection_are_one(open_report: Open) -> None:
    opened = open_report("in_kernel.hatchet", hash=f"{HASH}&sel=kernel:softmax_kernel")
    assert "softmax_kernel" in opened.page.inner_text("select[aria-label=kernel] option:checked")
    assert opened.texts(".details section:has(h3:text-is('recorded inside')) dt") == [
        "CTAs", "waves", "tail",
    ]  # fmt: skip
    opened.page.select_option("select[aria-label=kernel]", "1")
    assert opened.texts(".details h2") == ["matmul_kernel"]
    assert opened.texts(".details .path .link") == ["step", "backward"]


def test_sums_of_ctas_and_heat_maps_are_drawn(
    open_report: Open, picture: Callable[[Opened, str], None]
) -> None:
    opened = open_report("in_kernel.hatchet", hash=f"{HASH}&sel=kernel:softmax_kernel")
    text = words_of(opened)
    for words in (
        "1 000 on 130 multiprocessors, 3.79 waves",
        "tail 6.05 µs (25 %)",
        "2 ran nothing (grey)",
        "not counted, in instructions: 1 copies by descriptor",
        "tl.load: first byte of CTA.warp 0.0 x_ptr +0, 0.1 +512",
        "no access was counted by address",
    ):
        assert words in text
    assert opened.page.locator(".sm-columns span").count() == 132
    canvas = opened.page.locator(".heat-canvas")
    box = canvas.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + 80, box["y"] + 8)
    said = opened.page.inner_text(".hover")
    assert said.replace("\u00a0", " ").startswith("+0 B to +")
    assert "moved" in said
    assert [digits(row[5]) for row in cells(opened, "memory accesses")] == ["11.7", "5.86"]
    opened.page.mouse.move(5, 5)
    picture(opened, "heat_map")


def test_a_click_on_a_cta_shows_its_warps_and_regions(open_report: Open) -> None:
    opened = open_report("in_kernel.chrome_trace", hash=HASH)
    text = opened.page.inner_text("#view")
    assert "2 on 2 multiprocessors, 1.00 wave" in text
    canvas = opened.page.locator(".cta-canvas")
    assert canvas.get_attribute("aria-label") == "2 CTAs on 2 multiprocessors"
    box = canvas.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + 300, box["y"] + box["height"] - 14)
    assert "CTA 1" in opened.page.inner_text(".hover")
    opened.page.mouse.down()
    opened.page.mouse.up()
    opened.page.wait_for_selector(".warp-canvas")
    assert "CTA 1 on SM 9, 138\u00a0µs from 2.00\u00a0µs on" in opened.page.inner_text("#view")
    assert opened.texts(".region-legend > span") == ["k loop", "dot", "epilogue", "copy b"]
    warps = opened.page.locator(".warp-canvas")
    assert warps.get_attribute("aria-label") == "2 warps"
    edge = warps.bounding_box()
    assert edge is not None
    opened.page.mouse.move(edge["x"] + 200, edge["y"] + 25)
    card = " ".join(opened.page.inner_text(".hover").split())
    assert card.startswith("k loop loop, line 51 took 120 µs")
    words = opened.hash().removeprefix("#")
    again = open_report("in_kernel.chrome_trace", hash=words)
    assert again.page.locator(".warp-canvas").count() == 1


def test_ctas_and_regions_of_warps_are_tables_too(open_report: Open) -> None:
    opened = open_report("in_kernel.chrome_trace", hash=HASH)
    opened.page.get_by_role("button", name="CTAs as a table").click()
    rows = opened.page.get_by_role("table", name="CTAs", exact=True).locator("tbody tr")
    (launch,) = cta_launches(trace_in(open_profile(str(DATA / "in_kernel.chrome_trace"))))
    assert rows.count() == len(launch.ctas)
    rows.first.click()
    opened.page.get_by_role("button", name="regions of its warps as a table").click()
    names = opened.texts(".twin-table td:first-child")
    assert "k loop" in names
    assert "epilogue" in names


def test_arrows_go_to_the_cta_beside_the_chosen_one(open_report: Open) -> None:
    opened = open_report("in_kernel.chrome_trace", hash=f"{HASH}&zoom.inkernel=..0")
    assert "CTA 0 on SM 3" in opened.page.inner_text("#view")
    opened.page.keyboard.press("ArrowDown")
    assert "CTA 1 on SM 9" in opened.page.inner_text("#view")


def test_a_cta_of_one_kernel_is_none_of_another(tmp_path: Path, open_report: Open) -> None:
    recording = tmp_path / "two.chrome_trace"
    text = (DATA / "in_kernel.chrome_trace").read_text()
    trace = json.loads(text)
    trace["traceEvents"] += json.loads(text.replace("matmul_kernel", "other"))["traceEvents"]
    recording.write_text(json.dumps(trace))
    opened = open_report(recording, hash=f"{HASH}&zoom.inkernel=0..0")
    assert opened.page.locator(".warp-canvas").count() == 1
    opened.page.select_option("select[aria-label=kernel]", "1")
    opened.page.wait_for_selector("text=click a CTA")
    opened.page.go_back()
    opened.page.wait_for_selector(".warp-canvas")


def test_launches_of_another_tool_are_drawn_too(open_report: Open) -> None:
    opened = open_report("triton36_inkernel_trace.chrome_trace", hash=HASH)
    assert opened.page.get_attribute(".cta-canvas", "aria-label") == "4 CTAs on 4 multiprocessors"


def test_an_address_shows_the_same_part_of_the_warps(open_report: Open) -> None:
    """What was seen of warps was once not in the address."""
    opened = open_report("in_kernel.chrome_trace", hash=f"{HASH}&zoom.inkernel=..1")
    warps = opened.page.locator(".warp-canvas")
    whole = warps.screenshot()
    box = warps.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + 400, box["y"] + 20)
    opened.page.mouse.wheel(0, -600)
    opened.page.mouse.move(5, 5)
    opened.page.wait_for_url(re.compile(r"#.*zoom.inkernel=0\.\.1\.w\d+-\d+"))
    zoomed = warps.screenshot()
    assert zoomed != whole
    words = opened.hash().removeprefix("#")
    again = open_report("in_kernel.chrome_trace", hash=words)
    assert again.page.locator(".warp-canvas").get_attribute("aria-label") == "2 warps"
    assert again.hash().removeprefix("#") == words
    assert again.page.locator(".warp-canvas").screenshot() != whole
    again.page.evaluate(f"location.hash = '{HASH}&zoom.inkernel=0..1'")
    again.page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    assert again.page.locator(".warp-canvas").screenshot() == whole, "an address is followed"
    again.page.keyboard.press("ArrowUp")
    assert again.hash() == f"#{HASH}&zoom.inkernel=0..0", "of another CTA all is seen"


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("triton36_inkernel.hatchet", ["region", "line", "cycles", "share", "per warp"]),
        (
            "triton36_inkernel_trace.chrome_trace",
            ["region", "line", "passages", "share", "average"],
        ),
    ],
)
def test_regions_of_triton_s_own_profiler_have_a_table(
    name: str, heads: list[str], open_report: Open
) -> None:
    opened = open_report(name, hash=HASH)
    assert opened.texts("section:has(h3:text-is('regions')) th") == heads
    rows = cells(opened, "regions")
    assert [row[0] for row in rows] == ["load", "store"]


def test_a_region_leads_to_its_line_without_any_samples(open_report: Open, tmp_path: Path) -> None:
    opened = open_report("in_kernel.hatchet", hash=HASH)
    opened.page.click("section:has(h3:text-is('regions')) button:text-is('matmul.py:51')")
    opened.page.wait_for_selector("[data-line='51'][aria-selected=true]")
    assert "pb = pointers(b, k, n, N)" in opened.page.inner_text("[data-line='51']")
    assert opened.texts("[data-line='51'] .region-chip") == ["k loop 80.3\u00a0%"]
    assert "nothing was sampled" in opened.page.inner_text("#view")
    opened.page.keyboard.press("j")
    opened.page.wait_for_selector("[data-line='53'][aria-selected=true]")
    opened.page.click("[data-line='53'] .region-chip")
    opened.page.wait_for_selector("section:has(h3:text-is('regions'))")


def test_a_region_of_a_file_that_is_gone_leads_to_its_number(
    open_report: Open, tmp_path: Path
) -> None:
    recording = tmp_path / "moved.hatchet"
    text = (DATA / "in_kernel.hatchet").read_text()
    recording.write_text(text.replace("sampled/matmul.py", "gone/matmul.py"))
    opened = open_report(recording, hash=HASH)
    opened.page.click("section:has(h3:text-is('regions')) button:text-is('matmul.py:55')")
    opened.page.wait_for_selector("[data-line='55'][aria-selected=true]")
    assert "no text" in opened.page.inner_text("[data-line='55']")
    assert "gone/matmul.py: no such file" in opened.page.inner_text(".beware")


def test_keys_zoom_and_move(open_report: Open) -> None:
    opened = open_report("in_kernel.chrome_trace", hash=HASH)
    link = opened.page.locator("button:text-is('all')")
    assert link.is_disabled()
    before = opened.page.locator(".cta-canvas").screenshot()
    for key in ("w", "w", "d", "+"):
        opened.page.keyboard.press(key)
    assert link.is_enabled()
    # The address follows when the picture rests.
    opened.page.wait_for_url(re.compile("#.*zoom"))
    words = opened.hash().removeprefix("#")
    assert re.search(r"zoom.inkernel=0\.\.\.\d+-\d+$", words)
    assert (
        open_report("in_kernel.chrome_trace", hash=words)
        .page.locator("button:text-is('all')")
        .is_enabled()
    )
    assert opened.page.locator(".cta-canvas").screenshot() != before
    opened.page.keyboard.press("0")
    assert link.is_disabled()
    opened.page.click("text=Duration")
    assert opened.page.locator(".cta-canvas").screenshot() != before


def test_a_launch_of_very_many_ctas_is_drawn_and_moved_in_time(
    tmp_path: Path, open_report: Open
) -> None:
    recording = tmp_path / "many.chrome_trace"
    recording.write_text(json.dumps(trace_of(MANY)))
    opened = open_report(recording, hash=HASH)
    canvas = opened.page.locator(".cta-canvas")
    assert canvas.get_attribute("aria-label") == "100\u202f000 CTAs on 132 multiprocessors"
    box = canvas.bounding_box()
    assert box is not None
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    times = opened.page.evaluate(
        """async (place) => {
            const canvas = document.querySelector(".cta-canvas")
            const times = []
            for (let at = 0; at < 20; at++) {
                const begin = performance.now()
                canvas.dispatchEvent(new WheelEvent("wheel", {
                    deltaY: at < 12 ? -120 : 120, clientX: place[0], clientY: place[1],
                    bubbles: true, cancelable: true,
                }))
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
                times.push(performance.now() - begin)
            }
            return times.sort((a, b) => a - b)
        }""",
        [box["x"] + 400, box["y"] + 200],
    )
    assert times[2] < FRAME_MS, times


def test_waves_and_tail_are_in_the_picture_of_the_documentation(
    tmp_path: Path, open_report: Open, picture: Callable[[Opened, str], None]
) -> None:
    recording = tmp_path / "waves.chrome_trace"
    recording.write_text(json.dumps(trace_of(1000, 2, warped=200)))
    opened = open_report(recording, hash=HASH)
    text = words_of(opened)
    assert "1 000 on 132 multiprocessors, 3.79 waves" in text
    trace = trace_in(open_profile(recording))
    ctas = summarize_ctas(cta_launches(trace)[0].ctas)
    assert ctas is not None
    assert ctas.p50_ns is not None
    assert f"a CTA p50 {ctas.p50_ns / 1e3:.1f} µs, p99" in text
    assert "from first start to last end · " in text
    box = opened.page.locator(".cta-canvas").bounding_box()
    assert box is not None
    opened.page.mouse.click(box["x"] + 160, box["y"] + 120)
    opened.page.wait_for_selector(".warp-canvas")
    opened.page.mouse.move(5, 5)
    picture(opened, "in_kernel")


@pytest.mark.parametrize("name", ["in_kernel.hatchet", "in_kernel.chrome_trace"])
@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_nothing_is_cut_at_any_size(open_report: Open, name: str, size: tuple[int, int]) -> None:
    opened = open_report(name, hash=HASH, size=size, dark=True)
    assert not opened.is_cut()
    assert not opened.page.evaluate(
        "() => { const view = document.querySelector('#view'); "
        "return view.scrollWidth > view.clientWidth }"
    )
