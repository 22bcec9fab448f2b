"""Every view of every recording fits a terminal of 80 columns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proton.cli import main as proton
from proton.cli.viewer import main as viewer
from proton.render.display_names import cell_width
from tests.support.terminal import Terminal

DATA = Path(__file__).parents[1] / "data"
COLUMNS = 80
SUFFIXES = (".hatchet", ".hatchet_msgpack", ".chrome_trace", ".pftrace", ".json")
RECORDINGS = sorted(
    str(path.relative_to(DATA))
    for folder in (DATA, DATA / "h200")
    for path in folder.iterdir()
    if path.suffix in SUFFIXES
)
# Names keep 16 columns however many metrics are asked for, so few are asked for here.
VIEWS: tuple[list[str], ...] = (
    [],
    ["--list"],
    ["--print-sorted"],
    ["--metrics", "time/ms,count"],
    ["--include", ".*mat.*"],
    ["--exclude", ".*mat.*"],
    ["--threshold", "1"],
    ["--depth", "2"],
    ["--format", "function_line"],
    ["--sort", "recorded"],
    ["--hide", "library"],
    ["--fold", "none"],
    ["--autotune"],
    ["--with-autotune"],
    *(["--group-by", by] for by in ("module", "op", "kernel", "line")),
    ["--regions"],
    ["--sass", "matmul"],
    ["--source", "matmul.py"],
)


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)  # the head says the path, which may be as long as it likes
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("NO_COLOR", "1")


def too_long(text: str) -> list[str]:
    return [line for line in text.splitlines() if cell_width(line) > COLUMNS]


@pytest.mark.parametrize("recording", RECORDINGS)
def test_every_view_fits_eighty_columns(recording: str, monkeypatch: pytest.MonkeyPatch) -> None:
    others = ["gpt.hatchet", "h200/gpt2.hatchet", recording]
    differences = [
        [*list_, "-diff", other] for other in others for list_ in ([], ["--print-sorted"])
    ]
    calls = [(viewer, [*view, recording]) for view in (*VIEWS, *differences)]
    calls += [(proton, ["compare", other, recording]) for other in others]
    shown = 0
    for command, words in calls:
        out = Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        shown += command(words) == 0  # others have no samples, regions or kernels, and say so
        assert not too_long(out.getvalue()), words
    assert shown > 0 or recording.startswith(("empty", "root_only"))
