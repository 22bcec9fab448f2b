"""The lines that kernels come from, as the page's pane and its source view get them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proton.model.origins import KernelOrigins
from proton.render.page.origins import MOST_FILES, OriginPlace, origin_lines, origins_part
from proton.render.page.source import source_part
from tests.support.origins import EQUAL, FUSED, RELU, compiled_profile


def test_kernels_have_their_lines_and_remarks() -> None:
    part = origins_part(compiled_profile())
    assert part is not None
    at = part.name.index(FUSED)
    assert part.lines[at] == [
        OriginPlace("/home/me/model.py", 12, "model.py:12 in forward", "aten.relu", False),
        OriginPlace("/home/me/model.py", 13, "model.py:13 in forward", "aten.mul", True),
    ]
    assert part.remarks[at] == []
    assert len(part.remarks[part.name.index(EQUAL)]) == 2


def test_a_profile_without_origins_has_no_part() -> None:
    profile = replace(compiled_profile(), origins=())
    assert origins_part(profile) is None
    assert source_part(profile) is None


def test_the_source_view_has_the_text_of_these_lines(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("def forward(x):\n    return x.relu()\n")
    line = replace(RELU, file=str(file), line=2)
    profile = replace(compiled_profile(), origins=(KernelOrigins(FUSED, "w.py", 0, (line,)),))
    part = source_part(profile)
    assert part is not None
    assert (part.sampling, list(part.seen), list(part.regions)) == (None, [], [])
    (shown,) = part.files
    assert (shown.path, shown.is_user) == (str(file), True)
    assert shown.chunks[0].lines[1] == "    return x.relu()"


def test_the_files_of_the_longest_kernels_are_in_the_page() -> None:
    lines = tuple(replace(RELU, file=f"{number:02}.py") for number in range(MOST_FILES + 4))
    profile = replace(compiled_profile(), origins=(KernelOrigins(FUSED, "w.py", 0, lines),))
    assert len({file for file, _ in origin_lines(profile)}) == MOST_FILES
