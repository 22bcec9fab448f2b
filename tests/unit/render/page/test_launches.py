from __future__ import annotations

from typing import Any

import pytest

from proton.analysis.cta_launches import CtaLaunch, Owner, WarpRegion
from proton.model.ctas import CtaTime
from proton.render.page import launches as launches_module
from proton.render.page.launches import launches_of
from tests.support.in_kernel import KERNEL
from tests.support.page import ReadableColumns
from tests.support.pages import plain

PATH = ("train", "forward", "matmul_kernel")
REGIONS = [
    WarpRegion(1, 0, "dot", 160, 170),
    WarpRegion(0, 0, "dot", 140, 150),
    WarpRegion(0, 1, "copy", 120, 190),
    WarpRegion(0, 0, "loop", 110, 190),
]


def launch(start: float = 100, path: tuple[str, ...] = PATH) -> CtaLaunch:
    ctas = [CtaTime(0, 3, start + 5, start + 90), CtaTime(2, 7, start + 10, start + 95)]
    return CtaLaunch(path, Owner(), start, start + 100, True, ctas, {1: list(REGIONS)})


def shown(*launches: CtaLaunch) -> tuple[dict[str, Any], ReadableColumns]:
    columns = ReadableColumns()
    return plain(launches_of(launches, [KERNEL], columns)), columns


def test_ctas_are_columns_with_times_from_the_launch_on() -> None:
    part, columns = shown(launch())
    (one,) = part["shown"]
    read = {key: columns.read(one[key]) for key in ("number", "sm", "start", "duration")}
    assert read == {"number": [0, 2], "sm": [3, 7], "start": [5, 10], "duration": [85, 85]}
    assert (one["start_ns"], one["duration_ns"], one["first_ns"], one["last_ns"]) == (
        100, 100, 5, 95,
    )  # fmt: skip
    facts = one["ctas"]
    assert (facts["count"], facts["sms"], facts["waves"], facts["tail_ns"]) == (2, 2, 1, 5)
    assert facts["busy"]["least"] == facts["busy"]["largest"] > 0.9


def test_a_launch_names_what_its_kernel_recorded_in_that_context() -> None:
    other = ("train", "backward", "matmul_kernel")
    part, _ = shown(launch(), launch(path=other))
    assert [one["kernel"] for one in part["shown"]] == [0, None]
    assert part["shown"][1]["context"] == ["train", "backward"]


def test_regions_stand_by_cta_warp_line_and_time() -> None:
    part, columns = shown(launch())
    regions = part["shown"][0]["regions"]
    assert columns.read(regions["first"]) == [0, 0, 4]
    assert columns.read(regions["warp"]) == [0, 0, 0, 1]
    assert columns.read(regions["line"]) == [0, 0, 1, 0]
    assert columns.read(regions["start"]) == [10, 40, 20, 60]
    assert columns.read(regions["duration"]) == [80, 10, 70, 10]
    names = [part["region_names"][at] for at in columns.read(regions["name"])]
    assert names == ["loop", "dot", "copy", "dot"]


def test_what_does_not_fit_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel has one launch before another has two."""
    monkeypatch.setattr(launches_module, "MOST_LAUNCHES", 2)
    monkeypatch.setattr(launches_module, "MOST_REGIONS", 5)
    part, _ = shown(launch(), launch(300), launch(500, ("softmax",)))
    assert [one["title"] for one in part["shown"]] == ["matmul_kernel", "softmax"]
    assert [one["regions"] is not None for one in part["shown"]] == [True, False]
    assert (part["left_out"], part["without_regions"]) == (1, 1)


def test_one_launch_is_shown_however_many_ctas_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launches_module, "MOST_CTAS", 1)
    part, _ = shown(launch(), launch(300))
    assert len(part["shown"]) == 1
