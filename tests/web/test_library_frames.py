"""Frames of libraries, hidden in the lanes of a timeline and in the paths of a diff."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from proton.files.trace.write import to_chrome
from proton.model.profile import TraceProfile
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace
from tests.support.browser import Opened
from tests.support.flames import node, write_tree

Open = Callable[..., Opened]
HOST = Lane("[0, 0]", "CPU Thread 0", LaneKind.HOST)
STREAM = Lane("[0, 200007]", "GPU Stream 7", LaneKind.DEVICE)
NAMES = ".diff-view tbody td:first-child"


def write_trace(path: Path) -> Path:
    """A thread with a function of the program, one of torch that it calls, and a kernel."""
    nested = ["train.py(7): forward", "torch/nn/modules/module.py(9): _call_impl", "aten::mm"]
    spans = [
        Span(name, SpanKind.SCOPE, 0, 1000.0 * at, 100_000.0 - 2000.0 * at)
        for at, name in enumerate(nested)
    ]
    spans.append(Span("mm", SpanKind.KERNEL, 1, 20_000.0, 9000.0, ("mm",)))
    trace = Trace([HOST, STREAM], spans)
    path.write_bytes(to_chrome(TraceProfile("t", trace=trace), trace))
    return path


def test_lanes_leave_out_frames_of_libraries(open_report: Open, tmp_path: Path) -> None:
    opened = open_report(write_trace(tmp_path / "run.chrome_trace"), hash="view=timeline")
    lane = opened.page.locator(".timeline-lane", has_text="CPU Thread 0")
    tall = lane.bounding_box()
    opened.page.get_by_role("button", name="Hide library frames").click()
    assert "hide=library" in opened.hash()
    short = lane.bounding_box()
    assert tall is not None
    assert short is not None
    assert short["height"] < tall["height"]
    opened.page.keyboard.press("t")
    opened.page.wait_for_selector(".timeline-table tbody tr")
    names = opened.words(".timeline-table tbody td:first-child")
    assert names == ["train.py(7): forward", "aten::mm", "mm"]
    opened.page.keyboard.press("l")
    opened.page.wait_for_function(
        "document.querySelectorAll('.timeline-table tbody tr').length === 4"
    )


def test_paths_leave_out_frames_of_libraries(open_report: Open, tmp_path: Path) -> None:
    def write(name: str, time_ns: int) -> Path:
        library = node("/x/site-packages/torch/nn/modules/module.py:9@_call_impl", [])
        library["children"] = [node("block", [node("mm", [], time_ns)])]
        return write_tree(tmp_path / name, node("ROOT", [node("train.py:3@main", [library])]))

    path = ["train.py:3@main", "block", "mm"]
    pages = write("a.hatchet", 100), write("b.hatchet", 300)
    opened = open_report(*pages, hash="view=diff&zoom.diff=scopes.-size.total")
    assert len(opened.words(NAMES)) == 4
    opened.page.get_by_role("button", name="Hide library frames").click()
    assert "hide=library" in opened.hash()
    ends = [re.split(r"[^\w.:@/-]+", name) for name in opened.words(NAMES)]
    assert ends == [path[:length] for length in (1, 2, 3)]
    opened.page.keyboard.press("l")
    opened.page.wait_for_function("document.querySelectorAll('.diff-view tbody tr').length === 4")
