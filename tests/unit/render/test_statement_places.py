"""Samples of a statement of several lines stand where it begins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.folding.fold_lines import fold_lines
from proton.analysis.source_lines import samples_by_file
from proton.model.frame import Frame, FrameKind
from proton.model.profile import TreeProfile
from proton.model.sampling import Sampling, SourceFile
from proton.render.statement_places import statements_of
from tests.support.profiles import profile_of
from tests.support.statements import TEXT


@pytest.fixture
def sampled(tmp_path: Path) -> TreeProfile:
    """A kernel with samples on the lines 8, 9, 12 (a closing bracket) and 17."""
    file = tmp_path / "kernel.py"
    file.write_text(TEXT)
    profile = profile_of(
        [
            (0, "ROOT", {}),
            (1, "k", {"time (ns)": 5}),
            *((2, f"line {line}", {"num_samples": 10}) for line in (8, 9, 12, 17)),
        ]
    )
    frames = list(profile.tree.frames)
    for row, line in enumerate((8, 9, 12, 17), 2):
        frames[row] = Frame(f"{file}:{line}@kernel", FrameKind.SAMPLE, str(file), line, "kernel")
    return replace(profile, tree=replace(profile.tree, frames=frames))


def test_files_and_kernels_count_them_there(sampled: TreeProfile) -> None:
    (lines,) = samples_by_file(sampled, statements_of(sampled)).values()
    assert {line: one.count for line, one in lines.items()} == {8: 20, 9: 10, 17: 10}
    folded = fold_lines(sampled.tree, begin=statements_of(sampled))
    shown = {line.line: line.samples.count for line in folded.lines.values()}
    assert shown == {8: 20, 9: 10, 17: 10}


def test_a_file_that_changed_keeps_the_recorded_lines(sampled: TreeProfile) -> None:
    (file,) = {frame.file for frame in sampled.tree.frames if frame.file}
    changed = replace(sampled, sampling=Sampling(files={file: SourceFile("0" * 64, 1)}))
    assert statements_of(changed)((file, 12)) == (file, 12)
    assert statements_of(changed)(("kernel.cu", 12)) == ("kernel.cu", 12)
