"""The diff of two profiles in a browser: order, verdicts, intervals, new and gone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.browser import Opened
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
    assert cells[0].startswith("-4.")
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


def test_too_little_is_said_to_be_not_enough(open_report: Open) -> None:
    opened = open_report("triton36_kernels.hatchet", "triton36_samples.hatchet", hash="view=diff")
    assert set(opened.texts(".verdict")) <= {"not enough", "same"}
    assert "not enough" in opened.texts(".verdict")


def test_what_makes_them_hard_to_compare_is_said(open_report: Open) -> None:
    opened = open_report("gpt.hatchet", "interpreter.hatchet", hash="view=diff")
    assert any("different devices" in note for note in opened.texts(".diff-head .bad"))


def test_one_profile_has_no_diff(open_report: Open) -> None:
    assert "Diff" not in open_report("gpt.hatchet").texts("[role=tab]")


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
