from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from proton.analysis.folding.fold_lines import HotLine, Lineless
from proton.analysis.source_lines import Samples
from proton.model.profile import Profile
from proton.model.sampling import SourceFile
from proton.render.text.row_labels import LineLabels
from proton.render.text.style import ASCII, Style
from tests.support.sampling import SAMPLING

SAMPLES = Samples(100, 0, Counter({"wait": 60, "barrier": 40}))
REST = HotLine("2 more lines", 0, 0.25, SAMPLES, is_line=False)
SOURCE = "x = 1\n\ty = tl.load(p)  # \x1b[31m\n"


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    (tmp_path / "k.py").write_text(SOURCE)
    return Profile(str(tmp_path / "run.hatchet"), sampling=SAMPLING)


def labels_for(profile: Profile, *, full: bool = False, style: Style | None = None) -> LineLabels:
    gone = HotLine("gone/g.py", 9, 0.25, SAMPLES)
    lines = {5: HotLine("k.py", 2, 0.5, SAMPLES), 6: REST, 7: gone}
    kernels = {8: Lineless("no cubin", SAMPLES)}
    return LineLabels(profile, lines, kernels, style or Style(), full=full)


def with_file(profile: Profile, size: int) -> Profile:
    files = MappingProxyType({"k.py": SourceFile("", size)})
    return replace(profile, sampling=replace(SAMPLING, files=files))


def test_a_line_has_place_share_bar_reasons_and_text(profile: Profile) -> None:
    label = labels_for(with_file(profile, len(SOURCE))).label(5, "name", None)
    assert label == (
        "k.py:2         50.0 % █████      wait 60 %, barrier 40 %  y = tl.load(p)  # \\x1b[31m"
    )


def test_other_rows_keep_their_names(profile: Profile) -> None:
    assert labels_for(profile).label(1, "name", None) is None


def test_a_row_for_several_lines_has_no_text(profile: Profile) -> None:
    label = labels_for(profile).label(6, "name", None)
    assert label == "2 more lines   25.0 % ██▌        wait 60 %, barrier 40 %"


def test_a_file_that_changed_is_said_beside_its_text(profile: Profile) -> None:
    labels = labels_for(profile)
    label = labels.label(5, "name", None)
    assert label is not None
    assert "(file changed) y = tl.load(p)" in label
    assert any("changed since the recording" in note for note in labels.explained([1] * 9))


def test_a_file_that_is_gone_leaves_the_numbers(profile: Profile) -> None:
    labels = labels_for(profile)
    label = labels.label(7, "name", None)
    assert label is not None
    assert label.startswith("g.py:9         25.0 %")
    assert label.endswith("(file gone)")
    assert "gone/g.py: no such file; line numbers without text" in labels.explained([1] * 9)


def test_where_room_is_short_reasons_go_first_then_the_text(profile: Profile) -> None:
    labels = labels_for(with_file(profile, len(SOURCE)))
    wide, middle, narrow = (labels.label(5, "name", room) for room in (100, 75, 40))
    assert wide is not None
    assert middle is not None
    assert narrow is not None
    assert "barrier 40 %" in wide
    assert "barrier" not in middle
    assert "y = tl.load(p)" in middle
    assert len(narrow) <= 40
    assert narrow.startswith("k.py:2         50.0 % ██▌   wait")


def test_whole_paths_stand_where_nothing_is_to_be_cut(profile: Profile) -> None:
    label = labels_for(profile, full=True).label(7, "name", None)
    assert label is not None
    assert label.startswith("gone/g.py:9 ")


def test_bars_are_plain_where_nothing_else_can_be_drawn(profile: Profile) -> None:
    label = labels_for(profile, style=Style(glyphs=ASCII)).label(6, "name", None)
    assert label is not None
    assert "25.0 % ##  " in label


def test_a_kernel_without_lines_has_its_reasons_and_why(profile: Profile) -> None:
    labels = labels_for(profile)
    assert labels.label(8, "gemm", None) == "gemm (no cubin)  wait 60 %, barrier 40 %"
    assert labels.label(8, "gemm" * 9, 44) == "gemmgemmgem…mmgemmgemm (no cubin)  wait 60 %"
    assert any(note.startswith("no cubin: ") for note in labels.explained([1] * 9))


def test_what_is_hidden_is_not_explained(profile: Profile) -> None:
    assert labels_for(profile).explained([0] * 9) == []
