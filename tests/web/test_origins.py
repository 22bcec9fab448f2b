"""Kernels of torch.compile in a browser: the pane lists their lines, which lead to the source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from proton.files.write import write_profile
from proton.model.origins import KernelOrigins
from tests.support.browser import Opened
from tests.support.origins import EQUAL, FUSED, MUL, RELU, compiled_profile

Open = Callable[..., Opened]


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A profile whose kernel comes from a file that is there and one that is not."""
    source = tmp_path / "here.py"
    source.write_text("\n" * 11 + "    y = torch.relu(y)\n    return y * 2\n")
    profile, gone = compiled_profile(), replace(MUL, file="/home/me/gone.py")
    here = KernelOrigins(FUSED, "w.py", 0, (gone, replace(RELU, file=str(source))))
    path = tmp_path / "compiled.hatchet"
    write_profile(replace(profile, origins=(here, *profile.origins[1:])), path)
    return path


def test_the_pane_of_a_kernel_lists_its_lines(open_report: Open, compiled: Path) -> None:
    opened = open_report(compiled, hash="view=kernels")
    opened.page.click(f".kernels-view tr:has-text('{FUSED}')")
    assert opened.texts(".details .origins li") == [
        "gone.py:13 in forward aten.mul (backward)",
        "here.py:12 in forward aten.relu",
    ]
    assert opened.page.locator(".details .origins button:has-text('gone.py')").count() == 1
    opened.page.click(f".kernels-view tr:has-text('{EQUAL}')")
    assert "several graphs have a kernel of this name" in opened.page.inner_text(".details")


def test_a_line_leads_to_its_source(open_report: Open, compiled: Path) -> None:
    opened = open_report(compiled, hash="view=kernels")
    opened.page.click(f".kernels-view tr:has-text('{FUSED}')")
    opened.page.click(".details .origins button:has-text('here.py:12')")
    assert "y = torch.relu(y)" in opened.page.inner_text("#view")
    assert "lines that kernels come from; nothing was sampled" in opened.page.inner_text("#view")
