from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.model.profile import Profile
from proton.render.text.annotated_source import annotated_source
from proton.render.text.style import Style

DATA = Path(__file__).resolve().parents[2] / "data"


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    shutil.copy(DATA / "sampled.hatchet", tmp_path)
    shutil.copytree(DATA / "sampled", tmp_path / "sampled")
    return open_profile(tmp_path / "sampled.hatchet")


def shown(profile: Profile, wanted: str, width: int | None = None, *, full: bool = False) -> str:
    return "\n".join(annotated_source(profile, wanted, Style(width=width), full=full))


def test_lines_with_samples_have_a_margin_and_others_none(profile: Profile) -> None:
    lines = shown(profile, "softmax.py").splitlines()
    hot = next(line for line in lines if "tl.max(v" in line)
    assert hot.split()[:3] == ["1045", "81.1", "████████▏"]
    assert "long_scoreboard 67 %, barrier 19 %" in hot
    cold = next(line for line in lines if "tl.arange(0, BLOCK)" in line)
    assert cold.split()[0] == "12"


def test_a_short_file_is_shown_whole(profile: Profile) -> None:
    assert "import triton.language as tl" in shown(profile, "softmax.py")
    assert "⋯" not in shown(profile, "softmax.py")


def test_of_a_long_file_the_neighbourhoods_of_samples_are_shown(profile: Profile) -> None:
    text = shown(profile, "matmul.py")
    assert "⋯ 28 lines" in text
    assert "TILES = [" not in text
    assert "acc = tl.dot(x, y, acc)" in text


def test_full_shows_all_of_a_long_file(profile: Profile) -> None:
    text = shown(profile, "matmul.py", 60, full=True)
    assert "TILES = [" in text
    assert "⋯" not in text
    assert "tl.store(pointers(c, m, n, N), acc.to(tl.float16))" in text


def test_lines_fit_the_terminal(profile: Profile) -> None:
    lines = annotated_source(profile, "matmul.py", Style(width=90), full=False)
    start = next(number for number, line in enumerate(lines) if line.startswith("samples  share"))
    assert max(map(len, lines[start:])) <= 90


def test_the_title_says_how_many_samples_in_which_kernels(profile: Profile) -> None:
    assert "sampled/matmul.py   2 999 samples in matmul 2 999" in shown(profile, "matmul.py")


def test_a_file_that_changed_is_said_and_the_numbers_stay(profile: Profile) -> None:
    path = Path(profile.source).parent / "sampled" / "softmax.py"
    path.write_text("# one line\n")
    text = shown(profile, "softmax.py")
    assert "! sampled/softmax.py: changed since the recording (" in text
    assert "1045" in text


def test_a_file_that_is_gone_is_said_and_the_numbers_stay(profile: Profile) -> None:
    text = shown(profile, "removed.py")
    assert "! sampled/removed.py: no such file; line numbers without text" in text
    assert any(line.split()[:1] == ["4"] and line.endswith(" 7") for line in text.splitlines())


def test_a_library_file_has_what_was_inlined_from_it(profile: Profile) -> None:
    assert "standard.py   1 107 samples in softmax 1 107" in shown(profile, "standard.py")


def test_no_file_or_several_list_the_candidates(profile: Profile) -> None:
    with pytest.raises(UsageError, match=r"is not a sampled file; there are: sampled/matmul"):
        shown(profile, "x.py")


def test_a_profile_without_samples_says_how_to_get_them() -> None:
    with pytest.raises(FormatError, match="has no samples of source lines; record with mode="):
        shown(open_profile(DATA / "gpt.hatchet"), "x.py")


def test_a_trace_has_annotated_sources_too() -> None:
    assert "2 999 samples" in shown(open_profile(DATA / "sampled.chrome_trace"), "matmul.py")


def test_a_file_of_the_known_tool_is_shown() -> None:
    text = shown(open_profile(DATA / "samples.hatchet"), "softmax.py")
    assert "kernels/softmax.py   52 samples in softmax 52" in text
