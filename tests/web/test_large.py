"""A page of many contexts: it opens, finds and selects as a small one does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from proton.files.write import write_profile
from tests.support.browser import Opened
from tests.support.profiles import Row, profile_of

STEPS, BLOCKS, KERNELS = 50, 50, 19
CONTEXTS = 1 + STEPS * (1 + BLOCKS * (1 + KERNELS))


def test_fifty_thousand_contexts_open_and_are_searched(
    tmp_path: Path, open_report: Callable[..., Opened]
) -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    for step in range(STEPS):
        rows.append((1, f"step_{step}", {}))
        for block in range(BLOCKS):
            rows.append((2, f"block_{block}", {}))
            rows += [
                (3, f"kernel_{at}", {"time (ns)": 100 + at, "count": 2}) for at in range(KERNELS)
            ]
    assert len(rows) == CONTEXTS == 50_051
    source = tmp_path / "large.hatchet"
    write_profile(profile_of(rows), source)
    opened = open_report(source)
    assert "50\u202f051" in opened.words(".recording dd")
    assert opened.words("table.kernels tbody td.name")[0] == "kernel_18"
    opened.page.fill("#search", "kernel_7")
    assert opened.texts(".hits") == ["1 kernel"]
    opened.page.keyboard.press("Enter")
    assert opened.texts(".details h2") == ["kernel_7"]
    assert opened.texts(".details .path button") == ["step_0", "block_0"]
