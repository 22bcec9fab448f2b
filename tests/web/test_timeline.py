"""The timeline in a browser: lanes, zoom, selection, search, gaps and their sums."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.web_work import big_trace
from proton.files.trace.write import to_chrome
from proton.model.profile import Profile, TraceProfile
from proton.model.span_table import numbered_flows
from proton.model.trace import Flow, Lane, LaneKind, Span, SpanKind, Trace
from tests.support.browser import Opened

OpenReport = Callable[..., Opened]
CANVAS = ".timeline-canvas canvas"
HOST = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)
STREAM = Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE)
OTHER = Lane("[0, 200009]", "GPU Stream 9", LaneKind.DEVICE)


LAUNCHES = numbered_flows([(1, 2, 71), (4, 5, 72)])


def call(start_us: float, end_us: float, name: str) -> Span:
    path = ("step", f"launch {name}")
    return Span(path[-1], SpanKind.SCOPE, 0, start_us * 1000, (end_us - start_us) * 1000, path)


def work(lane: int, start_us: float, end_us: float, name: str, kind: SpanKind) -> Span:
    path = ("step", name)
    return Span(name, kind, lane, start_us * 1000, (end_us - start_us) * 1000, path)


def small_trace() -> TraceProfile:
    """100 us: a kernel, 40 us host and 10 us launch, a kernel; a copy on the side."""
    spans = [
        Span("step", SpanKind.SCOPE, 0, 0.0, 100_000.0, ("step",)),
        call(1, 4, "first_kernel"),
        work(1, 10, 30, "first_kernel", SpanKind.KERNEL),
        work(2, 12, 20, "Memcpy", SpanKind.COPY),
        call(70, 75, "second_kernel"),
        work(1, 80, 95, "second_kernel", SpanKind.KERNEL),
    ]
    return TraceProfile("t", trace=Trace([HOST, STREAM, OTHER], spans, LAUNCHES))


@pytest.fixture
def opened(tmp_path: Path, open_report: OpenReport) -> Opened:
    """The small trace, with the timeline in front."""
    return open_trace(small_trace(), tmp_path, open_report)


def open_trace(
    profile: Profile, folder: Path, open_report: OpenReport, hash: str = "", **options: object
) -> Opened:
    assert isinstance(profile, TraceProfile)
    path = folder / "run.chrome_trace"
    path.write_bytes(to_chrome(profile, profile.trace))
    page = open_report(path, hash=f"view=timeline{hash}", **options)
    page.page.wait_for_selector(CANVAS)
    return page


def x_of(opened: Opened, share: float) -> float:
    """The place on the screen of a share of the trace, whole trace in view."""
    box = opened.page.locator(CANVAS).bounding_box()
    assert box is not None
    return float(box["x"] + box["width"] * (0.01 + share) / 1.02)


def y_of(opened: Opened, lane: str) -> float:
    box = opened.page.locator(".timeline-lane", has_text=lane).bounding_box()
    assert box is not None
    return float(box["y"] + 8)


def click(opened: Opened, lane: str, share: float) -> None:
    opened.page.mouse.click(x_of(opened, share), y_of(opened, lane))


def seen_range(opened: Opened) -> tuple[float, float]:
    """The window in nanoseconds, from the address; the whole trace where it says nothing."""
    match = re.search(r"zoom\.timeline=(-?[\d.]+)~(-?[\d.]+)", opened.hash())
    return (0.0, 100_000.0) if match is None else (float(match[1]), float(match[2]))


def test_host_threads_stand_above_the_streams_of_a_device(opened: Opened) -> None:
    assert opened.texts(".timeline-group .timeline-name") == ["Host", "GPU"]
    assert opened.texts(".timeline-lane .timeline-name") == ["CPU Thread 0", "stream 7", "stream 9"]


def test_the_legend_sums_idle_time_by_cause_and_says_how_busy_the_device_was(
    opened: Opened,
) -> None:
    legend = opened.texts(".timeline-legend")[0].replace("\u00a0", " ")
    assert "host busy 40.0 µs" in legend
    assert "launch latency 10.0 µs" in legend
    assert "35.0 % busy" in legend
    assert "50.0 % launch-bound" in legend


def test_sums_are_those_of_what_is_in_view(tmp_path: Path, open_report: OpenReport) -> None:
    opened = open_trace(small_trace(), tmp_path, open_report, "&zoom.timeline=60000~75000")
    legend = opened.texts(".timeline-legend")[0].replace("\u00a0", " ")
    assert "host busy 10.0 µs" in legend
    assert "launch latency 5.00 µs" in legend


def test_a_click_on_a_span_selects_it_and_its_kernel(opened: Opened) -> None:
    click(opened, "stream 7", 0.2)
    assert opened.texts(".details h2")[0] == "first_kernel"
    assert "sel=span:" in opened.hash()
    details = " ".join(opened.texts(".details"))
    assert "this span" in details
    assert "launch first_kernel" in details


def test_the_launch_of_a_span_can_be_followed_and_back(opened: Opened) -> None:
    click(opened, "stream 7", 0.2)
    opened.page.locator(".details .link", has_text="launch first_kernel").click()
    assert opened.texts(".details h2")[0] == "launch first_kernel"
    before = opened.hash()
    opened.page.locator(".details .link", has_text=re.compile("^first_kernel$")).first.click()
    assert opened.hash() != before


def test_idle_time_tells_its_cause_and_leads_to_what_it_waited_for(opened: Opened) -> None:
    opened.page.mouse.move(x_of(opened, 0.5), y_of(opened, "stream 7"))
    card = opened.texts(".hover")[0]
    assert "idle: host busy" in card
    assert "40.0" in card.replace("\n", "")
    click(opened, "stream 7", 0.5)
    assert opened.texts(".details h2")[0] == "second_kernel"


def test_the_card_beside_the_pointer_tells_name_and_duration(opened: Opened) -> None:
    opened.page.mouse.move(x_of(opened, 0.16), y_of(opened, "stream 9"))
    card = opened.texts(".hover")[0]
    assert "Memcpy" in card
    assert "8.00" in card.replace("\n", "")
    opened.page.mouse.move(5, 5)
    assert opened.page.locator(".hover").count() == 0


@pytest.mark.parametrize("keys", ["0", "w", "aa", "d", "/second"])
def test_the_card_follows_when_the_lanes_move_below_the_pointer(
    tmp_path: Path, open_report: OpenReport, keys: str
) -> None:
    opened = open_trace(small_trace(), tmp_path, open_report, "&zoom.timeline=5000~60000")
    box = opened.page.locator(CANVAS).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * 0.3, y_of(opened, "stream 7")
    opened.page.mouse.move(x, y)
    assert opened.texts(".hover strong") == ["first_kernel"]
    for key in keys:
        opened.page.keyboard.press(key)
    opened.page.wait_for_timeout(500)
    settled = opened.texts(".hover")
    opened.page.mouse.move(x + 0.4, y)
    assert settled in ([], opened.texts(".hover"))


def test_the_card_follows_an_address_that_moves_the_window(opened: Opened) -> None:
    opened.page.mouse.move(x_of(opened, 0.16), y_of(opened, "stream 7"))
    assert opened.texts(".hover strong") == ["first_kernel"]
    opened.page.evaluate("location.hash = 'view=timeline&zoom.timeline=75000~95000'")
    opened.page.wait_for_timeout(300)
    assert opened.texts(".hover strong") == ["stream idle: launch latency"]


def test_no_card_hangs_in_the_corner_of_a_smaller_window(opened: Opened) -> None:
    opened.page.mouse.move(x_of(opened, 0.9), y_of(opened, "stream 7"))
    assert opened.texts(".hover strong") == ["second_kernel"]
    opened.page.set_viewport_size({"width": 500, "height": 400})
    opened.page.wait_for_timeout(300)
    assert opened.texts(".hover") == []


def test_the_wheel_zooms_around_the_pointer_down_to_a_nanosecond(opened: Opened) -> None:
    opened.page.mouse.move(x_of(opened, 0.2), y_of(opened, "stream 7"))
    for _ in range(40):
        opened.page.mouse.wheel(0, -400)
    opened.page.wait_for_timeout(300)
    start, end = seen_range(opened)
    assert end - start == pytest.approx(1, abs=0.01)
    assert (start + end) / 2 == pytest.approx(20_000, abs=150)


def test_keys_zoom_and_move_and_the_whole_trace_comes_back(opened: Opened) -> None:
    opened.page.keyboard.press("w")
    opened.page.wait_for_timeout(400)
    first = seen_range(opened)
    assert first[1] - first[0] == pytest.approx(61_200, rel=0.01)
    opened.page.keyboard.press("d")
    opened.page.wait_for_timeout(400)
    assert seen_range(opened)[0] > first[0] + 10_000
    opened.page.keyboard.press("a")
    opened.page.wait_for_timeout(400)
    assert seen_range(opened) == pytest.approx(first, abs=2)
    opened.page.keyboard.press("s")
    opened.page.wait_for_timeout(400)
    opened.page.keyboard.press("0")
    opened.page.wait_for_timeout(400)
    assert "zoom" not in opened.hash()


def test_dragging_takes_the_window_along(tmp_path: Path, open_report: OpenReport) -> None:
    opened = open_trace(small_trace(), tmp_path, open_report, "&zoom.timeline=20000~40000")
    y = y_of(opened, "stream 7")
    opened.page.mouse.move(x_of(opened, 0.5), y)
    opened.page.mouse.down()
    opened.page.mouse.move(x_of(opened, 0.25), y, steps=4)
    opened.page.mouse.up()
    opened.page.wait_for_timeout(300)
    start, end = seen_range(opened)
    assert start == pytest.approx(24_900, abs=400)
    assert end - start == pytest.approx(20_000, rel=0.01)
    assert "sel=" not in opened.hash()  # a drag is no click


def test_a_press_on_the_map_goes_there(tmp_path: Path, open_report: OpenReport) -> None:
    opened = open_trace(small_trace(), tmp_path, open_report, "&zoom.timeline=0~10000")
    box = opened.page.locator(".timeline-map canvas").bounding_box()
    assert box is not None
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    opened.page.wait_for_timeout(300)
    start, end = seen_range(opened)
    assert (start + end) / 2 == pytest.approx(50_000, abs=500)


def test_a_shared_address_opens_the_same_window_and_span(
    tmp_path: Path, open_report: OpenReport
) -> None:
    hash = "&zoom.timeline=60000~90000&sel=span:4"
    opened = open_trace(small_trace(), tmp_path, open_report, hash)
    assert seen_range(opened) == (60_000, 90_000)
    assert opened.texts(".details h2")[0] == "second_kernel"


def test_arrow_keys_go_to_the_neighbours_of_a_span(opened: Opened) -> None:
    click(opened, "stream 7", 0.2)
    opened.page.keyboard.press("ArrowRight")
    assert opened.texts(".details h2")[0] == "second_kernel"
    opened.page.keyboard.press("ArrowLeft")
    assert opened.texts(".details h2")[0] == "first_kernel"
    opened.page.keyboard.press("f")
    opened.page.wait_for_timeout(400)
    start, end = seen_range(opened)
    assert start < 10_000 < 30_000 < end < 60_000


def test_the_next_key_goes_from_match_to_match(opened: Opened) -> None:
    opened.page.fill("#search", "_kernel")
    opened.page.locator("#search").blur()
    seen = []
    for _ in range(4):
        opened.page.keyboard.press("n")
        seen.append(opened.texts(".details h2")[0])
    assert seen == ["launch first_kernel", "first_kernel", "launch second_kernel", "second_kernel"]
    opened.page.keyboard.press("N")
    assert opened.texts(".details h2")[0] == "launch second_kernel"
    opened.page.keyboard.press("ArrowUp")
    assert opened.texts(".details h2")[0] == "step"


def test_a_search_counts_spans_and_enter_goes_from_one_to_the_next(opened: Opened) -> None:
    opened.page.fill("#search", "second_kernel")
    assert opened.texts(".hits") == ["2 spans"]
    opened.page.press("#search", "Enter")
    assert opened.texts(".details h2")[0] == "launch second_kernel"
    opened.page.press("#search", "Enter")
    assert opened.texts(".details h2")[0] == "second_kernel"
    opened.page.press("#search", "Enter")
    assert opened.texts(".details h2")[0] == "launch second_kernel"


def facts(opened: Opened) -> dict[str, str]:
    """What the pane says of the span, which stands first in it."""
    section = opened.page.locator(".details section").first
    names, values = (section.locator(part).all_text_contents() for part in ("dt", "dd"))
    return dict(zip(names, (value.replace("\u202f", " ") for value in values), strict=True))


def test_the_pane_begins_with_the_span_and_its_times_to_the_nanosecond(
    tmp_path: Path, open_report: OpenReport
) -> None:
    profile = small_trace()
    base = 1_763_000_000_123_456_789
    profile = replace(profile, trace=replace(profile.trace, base_time_ns=base))
    opened = open_trace(profile, tmp_path, open_report)
    click(opened, "stream 7", 0.9)
    section = opened.page.locator(".details section").first
    assert section.locator("h3").first.inner_text() == "this span"
    found = facts(opened)
    assert found["start"].replace("\u00a0", " ") == "80 000 ns"
    assert found["end"].replace("\u00a0", " ") == "95 000 ns"
    assert found["duration"].replace("\u00a0", " ") == "15 000 ns"
    assert found["at"] == "2025-11-13 02:13:20.123536789 UTC"


MANGLED = "_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE"


def test_calls_that_launch_are_named_as_their_kernels(
    tmp_path: Path, open_report: OpenReport
) -> None:
    spans = [call(1, 40, MANGLED), work(1, 50, 95, MANGLED, SpanKind.KERNEL)]
    profile = TraceProfile("t", trace=Trace([HOST, STREAM, OTHER], spans, [Flow(0, 1)]))
    opened = open_trace(profile, tmp_path, open_report)
    opened.page.mouse.move(x_of(opened, 0.1), y_of(opened, "CPU Thread 0"))
    assert opened.texts(".hover strong")[0].startswith("launch cutlass::Kernel2<")


def drag(opened: Opened, start: float, end: float) -> None:
    """Drag over the lanes from one share of the trace to another."""
    y = y_of(opened, "stream 7")
    opened.page.mouse.move(x_of(opened, start), y)
    opened.page.mouse.down()
    opened.page.mouse.move(x_of(opened, end), y, steps=4)
    opened.page.mouse.up()


def table_rows(opened: Opened) -> dict[str, list[str]]:
    """The cells of the table below the lanes, by name; units stand right behind numbers."""
    found = {}
    for row in opened.page.locator(".timeline-table tbody tr").all():
        name, *others = row.locator("td").all_inner_texts()
        found[name] = [re.sub(r"(?<=\d)\s+(?=[a-zµ%])", "", text) for text in others]
    return found


@pytest.mark.parametrize("key", ["Shift", "m"])
def test_a_stretch_of_time_that_is_dragged_over_is_summed_up_by_name(
    opened: Opened, key: str
) -> None:
    if key == "m":
        opened.page.keyboard.press("m")
        drag(opened, 0.2, 0.9)
    else:
        opened.page.keyboard.down("Shift")
        drag(opened, 0.2, 0.9)
        opened.page.keyboard.up("Shift")
    rows = table_rows(opened)
    assert rows["first_kernel"][:2] == ["kernel", "1"]
    assert float(re.sub(r"[^\d.]", "", rows["first_kernel"][2])) == pytest.approx(10, abs=0.2)
    assert float(re.sub(r"[^\d.]", "", rows["second_kernel"][2])) == pytest.approx(10, abs=0.2)
    assert rows["step"][3] == "100.0%"
    assert "selected" in opened.texts(".timeline-table .toolbar")[0]
    assert "zoom" not in opened.hash()  # the window stayed
    opened.page.keyboard.press("Escape")
    assert opened.page.locator(".timeline-table").count() == 0


def test_what_is_in_view_is_a_table_too_by_name_and_span_by_span(
    tmp_path: Path, open_report: OpenReport
) -> None:
    opened = open_trace(small_trace(), tmp_path, open_report, "&zoom.timeline=60000~100000")
    opened.page.get_by_role("button", name="table", exact=True).click()
    assert opened.page.locator(".timeline-table tbody tr").count() == 3
    opened.page.get_by_role("button", name="Spans", exact=True).click()
    row = [text.replace("\u202f", " ") for text in table_rows(opened)["second_kernel"]]
    assert row == ["GPU stream 7", "kernel", "80 000ns", "95 000ns", "15 000ns"]
    opened.page.locator(".timeline-table tr", has_text="launch second").click()
    assert opened.texts(".details h2")[0] == "launch second_kernel"
    assert opened.page.get_by_role("button", name="copy spans", exact=True).count() == 1


def color_at(opened: Opened, lane: str, share: float, below: int = 0) -> list[int]:
    """The colour of the lanes' canvas at a time, `below` pixels under the middle of a lane."""
    box = opened.page.locator(CANVAS).bounding_box()
    assert box is not None
    place = [x_of(opened, share) - box["x"], y_of(opened, lane) + below - box["y"]]
    script = """([selector, x, y]) => {
        const one = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true })
        one.drawImage(document.querySelector(selector), -Math.round(x), -Math.round(y))
        return [...one.getImageData(0, 0, 1, 1).data]
    }"""
    return list(opened.page.evaluate(script, [CANVAS, *place]))


def test_a_search_fades_what_does_not_fit(opened: Opened) -> None:
    before = [color_at(opened, "stream 7", share) for share in (0.11, 0.94)]
    opened.page.fill("#search", "second_kernel")
    opened.page.wait_for_timeout(300)
    faded, kept = (color_at(opened, "stream 7", share) for share in (0.11, 0.94))
    assert faded != before[0]
    assert kept == before[1]
    opened.page.fill("#search", "")
    opened.page.wait_for_timeout(300)
    assert color_at(opened, "stream 7", 0.11) == before[0]


def test_a_kernel_selected_elsewhere_is_underlined_here(opened: Opened) -> None:
    before = [color_at(opened, "stream 7", share, below=7) for share in (0.2, 0.9)]
    opened.page.evaluate("location.hash = 'view=timeline&sel=kernel:second_kernel'")
    opened.page.wait_for_timeout(300)
    assert color_at(opened, "stream 7", 0.2, below=7) == before[0]
    assert color_at(opened, "stream 7", 0.9, below=7) != before[1]


def test_groups_close_and_open(opened: Opened) -> None:
    group = opened.page.locator(".timeline-group", has_text="GPU")
    group.click()
    assert opened.texts(".timeline-lane .timeline-name") == ["CPU Thread 0"]
    assert group.get_attribute("aria-expanded") == "false"
    group.click()
    assert len(opened.texts(".timeline-lane")) == 3


def test_insides_of_kernels_are_closed_at_first(open_report: OpenReport) -> None:
    opened = open_report("in_kernel.chrome_trace", hash="view=timeline")
    states = {
        button.inner_text().split("\n")[1]: button.get_attribute("aria-expanded")
        for button in opened.page.locator(".timeline-group").all()
    }
    assert states["GPU"] == "true"
    assert set(states.values()) == {"true", "false"}


def test_a_tree_has_no_timeline(open_report: OpenReport) -> None:
    opened = open_report("gpt.hatchet", hash="view=timeline")
    assert "Timeline" not in opened.texts("[role=tab]:not(.without)")


HOSTILE = "</script><img src=x onerror=alert(1)>\u202egnp.exe" + "x" * 10_000


def test_hostile_names_are_shown_and_do_nothing(tmp_path: Path, open_report: OpenReport) -> None:
    profile = small_trace()
    assert isinstance(profile, TraceProfile)
    spans = [replace_name(span) for span in profile.trace.spans]
    lanes = [HOST._replace(name=HOSTILE), STREAM, OTHER]
    profile = replace(profile, trace=replace(profile.trace, spans=spans, lanes=lanes))
    opened = open_trace(profile, tmp_path, open_report)
    opened.page.mouse.move(x_of(opened, 0.2), y_of(opened, "stream 7"))
    click(opened, "stream 7", 0.2)
    assert opened.page.locator("img").count() == 0
    assert "\u202e" not in opened.page.inner_text("body")
    assert not opened.is_cut()


def replace_name(span: Span) -> Span:
    if span.kind is not SpanKind.KERNEL:
        return span
    return span._replace(name=HOSTILE, path=("step", HOSTILE))


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (900, 600)])
@pytest.mark.parametrize("dark", [False, True])
def test_a_training_trace_fits_the_window(
    tmp_path: Path,
    open_report: OpenReport,
    width: int,
    height: int,
    dark: bool,
) -> None:
    opened = open_trace(big_trace(6000), tmp_path, open_report, size=(width, height), dark=dark)
    assert not opened.is_cut()
    legend = opened.page.locator(".timeline-legend").bounding_box()
    assert legend is not None
    assert legend["height"] < 90


def test_launch_and_kernel_have_the_correlation_id_and_lead_to_each_other(opened: Opened) -> None:
    click(opened, "stream 7", 0.88)
    opened.page.wait_for_selector(".details h2")
    assert "correlation id\n72" in opened.page.locator(".details").inner_text()
    opened.page.get_by_role("button", name="launch second_kernel").click()
    pane = opened.page.locator(".details").inner_text()
    assert opened.texts(".details h2") == ["launch second_kernel"]
    assert "correlation id\n72" in pane
    opened.page.get_by_role("button", name="second_kernel", exact=True).click()
    assert opened.texts(".details h2") == ["second_kernel"]
    click(opened, "stream 9", 0.16)  # nobody knows what launched it
    opened.page.wait_for_function("document.querySelector('.details h2').innerText === 'Memcpy'")
    assert "correlation id" not in opened.page.locator(".details").inner_text()
