"""Pages can be used without eyes or mouse: axe-core finds nothing in any view, in both themes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proton.cli import main
from tests.support.browser import Opened
from tests.web.conftest import DATA, ROOT

Open = Callable[..., Opened]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
PROFILES = {
    "kernels": ("h200/kernels.hatchet",),
    "trace": ("h200/gpt2.pftrace",),
    "samples": ("sampled.hatchet",),
    "in-kernel": ("in_kernel.hatchet",),
    "two": ("gpt.hatchet", "gpt.hatchet_msgpack"),
}


@pytest.fixture
def find_problems() -> Callable[[Opened], list[str]]:
    """`find_problems(opened)`: what axe-core has to say of the page as it is."""
    if not AXE.exists():
        if os.environ.get("PROTON_REQUIRE_WEB") == "1":
            pytest.fail(f"PROTON_REQUIRE_WEB is set, but {AXE} is missing: npm --prefix web ci")
        pytest.skip(f"ACCESS IS NOT TESTED: {AXE} is missing")
    script = AXE.read_text()

    def find(opened: Opened) -> list[str]:
        # The page's policy lets no other script run; the driver's own may.
        opened.page.evaluate(f"() => {{ if (!window.axe) {{ {script} }} }}")
        found: dict[str, Any] = opened.page.evaluate("() => axe.run(document)")
        return [
            f"{each['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    return find


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("names", PROFILES.values(), ids=PROFILES)
def test_no_view_has_anything_that_shuts_somebody_out(
    names: tuple[str, ...],
    dark: bool,
    open_report: Open,
    find_problems: Callable[[Opened], list[str]],
) -> None:
    opened = open_report(*names, hash="view=summary", dark=dark)
    opened.page.locator("table.kernels tbody tr").first.click()
    opened.page.wait_for_selector(".details h2")
    tabs = opened.page.locator("[role=tab]")
    for at in range(tabs.count()):
        tabs.nth(at).click()
        title = tabs.nth(at).inner_text()
        assert [f"{title}: {problem}" for problem in find_problems(opened)] == []


def test_neither_have_ranks(
    tmp_path: Path, open_report: Open, find_problems: Callable[[Opened], list[str]]
) -> None:
    merged = tmp_path / "merged.hatchet"
    parts = [str(DATA / f"train.part_{part}.hatchet") for part in (0, 1, 3)]
    assert main(["merge", *parts, "-o", str(merged)]) == 0
    assert find_problems(open_report(merged, hash="view=ranks")) == []


def test_neither_has_the_help(
    open_report: Open, find_problems: Callable[[Opened], list[str]]
) -> None:
    opened = open_report("gpt.hatchet")
    opened.page.keyboard.press("?")
    assert find_problems(opened) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_neither_has_a_sandwich_with_its_table(
    dark: bool, open_report: Open, find_problems: Callable[[Opened], list[str]]
) -> None:
    opened = open_report("gpt.hatchet", hash="view=flame&sel=kernel:flash_fwd", dark=dark)
    opened.page.keyboard.press("s")
    opened.page.keyboard.press("t")
    opened.page.wait_for_selector(".flame-table")
    opened.page.wait_for_selector(".details:not(.arriving)")
    assert find_problems(opened) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_neither_have_steps(
    dark: bool,
    tmp_path: Path,
    open_report: Open,
    find_problems: Callable[[Opened], list[str]],
) -> None:
    path = tmp_path / "run.hatchet"
    root, devices = json.loads((DATA / "gpt.hatchet").read_text())
    durations = [9, 99, *[9] * 8]
    starts = [100 * at for at in range(10)]
    times = {"base_ns": 0, "start_ns": starts, "duration_ns": durations, "gpu_time_ns": [3] * 10}
    root["proton"] = {"format": 1, "steps": [{**times, "rank": rank} for rank in (0, 1)]}
    path.write_text(json.dumps([root, devices]))
    opened = open_report(path, dark=dark)
    opened.page.get_by_role("button", name="step 1").click()
    opened.page.get_by_role("button", name="all of them as a table").click()
    opened.page.wait_for_selector(".steps .twin-table")
    assert find_problems(opened) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_neither_have_columns_to_choose(
    dark: bool, open_report: Open, find_problems: Callable[[Opened], list[str]]
) -> None:
    opened = open_report("gpt.hatchet", hash="view=kernels", dark=dark)
    opened.page.click(".chooser summary")
    assert find_problems(opened) == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_neither_has_a_flame_graph_of_changes(
    dark: bool, open_report: Open, find_problems: Callable[[Opened], list[str]]
) -> None:
    opened = open_report(
        "train.part_0.hatchet", "train.part_1.hatchet", hash="view=flame&zoom.flame=d", dark=dark
    )
    opened.page.keyboard.press("t")
    opened.page.wait_for_selector(".flame-table th >> text=change")
    assert find_problems(opened) == []
