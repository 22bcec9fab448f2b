"""What pages cost: writing them, opening them in Chromium, and frames while zooming a timeline.

Usage: python benchmarks/web_page.py [--rounds N] [--json PATH] [--spans N] [--nodes N]
       [--model FILE]
Needs the built page (`make web`), Chromium and the package playwright. Chromium runs headless and
paints in software: a screen with a GPU does better. Times of opening are by the wall clock, from
the request for the page until its content was painted. A frame's time is from one animation frame
to the next, with the browser's limit of 60 a second taken off, while a script turns the wheel: from
the whole trace into microseconds and back. The size is that of a recorded tree's page.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from proton.files.read import read_profile
from proton.files.write import write_profile
from proton.render.page.html import page_of, template
from stats import Result, estimate, parser, report
from web_work import big_trace, wide_tree

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MODEL = ROOT / "tests" / "data" / "h200" / "gpt2.hatchet"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")
FRAME = "timeline frame"  # the measure that the page takes of each frame
WHEEL_TURNS = 150
LIMIT_MS = 60_000
# Calls `painted` two frames after the content is there: one draws it, the other is behind that.
WATCH = """
const look = () => {
  if (!(%s)) return requestAnimationFrame(look)
  requestAnimationFrame(() => requestAnimationFrame(() => painted()))
}
requestAnimationFrame(look)
"""
HAS_TABS = "document.querySelector('[role=tab]')"
HAS_FRAME = f"performance.getEntriesByName('{FRAME}').length"
ZOOM = """async ([turns, name]) => {
  const canvas = document.querySelector(".timeline-canvas canvas")
  const box = canvas.getBoundingClientRect()
  const place = { clientX: box.left + 0.43 * box.width, clientY: box.top + 50 }
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  performance.clearMeasures(name)
  await frame()
  const gaps = []
  for (let turn = 0, last = performance.now(); turn < turns; turn++) {
    const deltaY = turn < turns / 2 ? -120 : 120
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY, ...place, cancelable: true }))
    await frame()
    const now = performance.now()
    gaps.push(now - last)
    last = now
  }
  return [gaps, performance.getEntriesByName(name).map((each) => each.duration)]
}"""


class Written(NamedTuple):
    """What a process took, in seconds."""

    wall: float
    processor: float


def written(profile: Path, page: Path) -> Written:
    """What `proton report` takes, as a whole process."""
    command = [sys.executable, "-m", "proton", "report", str(profile), "-o", str(page)]
    paths = filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its byte code
    before, start = children_s(), time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return Written(time.perf_counter() - start, children_s() - before)


def children_s() -> float:
    """Processor time of the processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def opened(
    browser: Browser, page: Path, ready: str, then: Callable[[Page], None] | None = None
) -> float:
    """Seconds from asking for a page until it has painted what makes `ready` true."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        tab = context.new_page()
        tab.set_default_timeout(LIMIT_MS)
        painted: list[float] = []
        tab.expose_function("painted", lambda: painted.append(time.perf_counter()))
        tab.add_init_script(WATCH % ready)
        view = "#view=timeline" if ready == HAS_FRAME else ""
        start = time.perf_counter()
        tab.goto(page.as_uri() + view, wait_until="commit")
        while not painted:
            if time.perf_counter() - start > LIMIT_MS / 1000:
                raise TimeoutError(f"{page.name} has not been painted after {LIMIT_MS / 1000} s")
            tab.wait_for_timeout(5)
        if then is not None:
            then(tab)
        return painted[0] - start
    finally:
        context.close()


def zoomed(tab: Page, frames: list[list[float]], drawing: list[list[float]]) -> None:
    """Turn the wheel, one turn a frame; what each frame took, and what of it was drawing."""
    gaps, draws = tab.evaluate(ZOOM, [WHEEL_TURNS, FRAME])
    frames.append(gaps)
    drawing.append(draws)


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def launch(driver: Any, *flags: str) -> Browser:
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        sys.exit("web_page.py: no Chromium is installed (apt-get install chromium)")
    browser: Browser = driver.chromium.launch(
        executable_path=executable, args=["--no-sandbox", *flags]
    )
    return browser


def tree_results(driver: Any, folder: Path, nodes: int, rounds: int) -> list[Result]:
    """A wide tree: how long writing and opening its page takes."""
    source, page = folder / "wide.hatchet", folder / "wide.html"
    write_profile(wide_tree(nodes), source)
    writing = [written(source, page) for _ in range(rounds)]
    browser = launch(driver)
    painting = [opened(browser, page, HAS_TABS) for _ in range(rounds)]
    browser.close()
    what = f"page of {nodes} nodes"
    return [
        Result(f"write a {what}", "s", estimate([each.wall for each in writing]), bar=1),
        Result("of it, processor time", "s", estimate([each.processor for each in writing])),
        Result(f"first paint of a {what}", "s", estimate(painting), bar=1),
        Result(f"size of a {what}", "KB", estimate([page.stat().st_size / 1000])),
    ]


def trace_results(driver: Any, folder: Path, spans: int, rounds: int) -> list[Result]:
    """A large trace: opening its timeline, and frames while zooming."""
    page = folder / "trace.html"
    profile = big_trace(spans)
    start = time.perf_counter()
    page.write_text(page_of([profile]))
    writing = time.perf_counter() - start
    del profile
    frames: list[list[float]] = []
    drawing: list[list[float]] = []
    browser = launch(driver)
    opening = [opened(browser, page, HAS_FRAME) for _ in range(rounds)]
    browser.close()
    browser = launch(driver, *UNLIMITED)
    for _ in range(rounds):
        opened(browser, page, HAS_FRAME, lambda tab: zoomed(tab, frames, drawing))
    browser.close()
    what = f"trace of {spans} spans"
    middles = [statistics.median(each) for each in frames]
    draws = [statistics.median(each) for each in drawing]
    return [
        Result(f"open a {what}", "s", estimate(opening), bar=3),
        Result("frame while zooming it, median", "ms", estimate(middles), bar=16),
        Result("frame while zooming it, 95 % are below", "ms", estimate(list(map(p95, frames)))),
        Result("of a frame, drawing by the page", "ms", estimate(draws)),
        Result(f"make the page of a {what}", "s", estimate([writing]), note="once, in memory"),
        Result("size of it", "MB", estimate([page.stat().st_size / 1e6])),
    ]


def size_results(model: Path) -> list[Result]:
    """The page of a model's training, and of nothing."""
    profile = read_profile(model.read_bytes(), model.name)
    size = len(page_of([profile]).encode()) / 1000
    empty = len(template().encode()) / 1000
    note = f"{0 if profile.tree is None else len(profile.tree)} contexts, as recorded"
    return [
        Result("size of the page of GPT-2's training", "KB", estimate([size]), bar=500, note=note),
        Result("size of a page without data", "KB", estimate([empty]), bar=400),
    ]


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__)
    arguments.add_argument("--spans", type=int, default=1_000_000, help="of the large trace")
    arguments.add_argument("--nodes", type=int, default=50_000, help="of the wide tree")
    arguments.add_argument("--model", type=Path, default=MODEL, help="a tree of GPT-2's training")
    options = arguments.parse_args()
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        sys.exit("web_page.py: the package playwright is missing (tools/requirements/test.txt)")
    gc.disable()  # as the commands do: what is made lives until the end
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        folder = Path(place)
        results = tree_results(driver, folder, options.nodes, options.rounds)
        results += trace_results(driver, folder, options.spans, options.rounds)
    report(results + size_results(options.model), options.json)


if __name__ == "__main__":
    main()
