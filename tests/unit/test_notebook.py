"""Tests of `proton.show`, in a notebook and elsewhere; the browser is not opened."""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import proton
from proton import notebook
from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.files.write import write_profile
from proton.model.profile import Profile
from tests.support.profiles import profile_of


@pytest.fixture(autouse=True)
def page(tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> list[Profile]:
    """A working directory with a profile; pages that only name theirs. What was shown last."""
    shown: list[Profile] = []

    def page_of(profiles: list[Profile]) -> str:
        shown[:] = profiles
        return f'<p title="x">{[each.source for each in profiles]}</p>'

    monkeypatch.setattr(notebook, "page_of", page_of)
    write_profile(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]), "run.hatchet")
    return shown


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """A notebook, and what it was given to display."""
    found: list[dict[str, str]] = []
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(display)["display"] = lambda bundle, raw: found.append(bundle)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A machine with a browser, and the addresses that it was given."""
    found: list[str] = []

    def note(url: str) -> bool:
        found.append(url)
        return True

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(notebook, "open_in_browser", note)
    return found


def test_a_notebook_gets_the_page_in_a_frame_of_an_origin_of_its_own(
    displayed: list[dict[str, str]],
) -> None:
    proton.show("run.hatchet", height=300)
    [bundle] = displayed
    frame = bundle["text/html"]
    assert re.match(r'<iframe sandbox="allow-scripts allow-downloads" title="run.hatchet"', frame)
    assert "allow-same-origin" not in frame
    assert "height:300px" in frame
    [page] = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(page) == "<p title=\"x\">['run.hatchet']</p>"


def test_where_frames_cannot_be_shown_there_is_text(displayed: list[dict[str, str]]) -> None:
    proton.show("run.hatchet")
    first, second = displayed[0]["text/plain"].splitlines()
    assert first.startswith("run.hatchet   NVIDIA H200")
    assert second == "(a page, which cannot be shown here; try: proton serve run.hatchet)"


def test_a_hostile_name_stays_in_its_attribute(displayed: list[dict[str, str]]) -> None:
    Path("run.hatchet").rename('"><script>x.hatchet')
    proton.show('"><script>x.hatchet')
    assert "<script" not in displayed[0]["text/html"]


@pytest.mark.usefixtures("displayed")
def test_profiles_that_are_open_already_and_several_at_once(page: list[Profile]) -> None:
    profile = open_profile("run.hatchet")
    proton.show(profile, Path("run.hatchet"))
    assert page[0] is profile
    assert len(page) == 2


@pytest.mark.usefixtures("displayed")
def test_without_a_name_it_is_what_this_process_wrote_last(
    fake_gpu: Any, page: list[Profile], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        proton.start(name)
        fake_gpu.launch("k")
        proton.finalize()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    proton.show()
    assert [each.source for each in page] == [str(tmp_path / "second.hatchet")]


@pytest.mark.usefixtures("displayed")
def test_without_a_name_phases_are_one_profile(fake_gpu: Any, page: list[Profile]) -> None:
    session = proton.start("run")
    for _ in range(2):
        fake_gpu.launch("k")
        proton.data.advance_phase(session)
    fake_gpu.launch("k")
    proton.finalize()
    proton.show()
    assert page[0].phases == (0, 1, 2)


def test_with_nothing_written_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proton.runtime.phase_files._latest", [])
    with pytest.raises(UsageError, match=r"no profile yet; call proton\.finalize\(\) first, or na"):
        proton.show()


@pytest.mark.parametrize("height", [0, 199, "640", True, 1.5])
def test_a_height_without_meaning_is_refused(height: Any) -> None:
    with pytest.raises(UsageError, match="is too small; give 200 pixels or more"):
        proton.show("run.hatchet", height=height)


def test_a_missing_file_is_one_line() -> None:
    with pytest.raises(FormatError, match=r"^gone\.hatchet: no such file$"):
        proton.show("gone.hatchet")


def test_outside_a_notebook_the_browser_opens(
    opened: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proton.show("run.hatchet")
    [written] = tmp_path.glob("proton-run-*.html")
    assert opened == [written.as_uri()]
    assert "run.hatchet" in written.read_text()
    assert written.stat().st_mode & 0o077 == 0
    assert capsys.readouterr().out == f"proton: the page is {written}\n"


def test_a_terminal_of_ipython_is_no_notebook(
    displayed: list[dict[str, str]], opened: list[str]
) -> None:
    vars(sys.modules["IPython"])["get_ipython"] = lambda: SimpleNamespace()
    proton.show("run.hatchet")
    assert displayed == []
    assert len(opened) == 1


@pytest.mark.usefixtures("opened")
def test_without_a_browser_it_says_what_to_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notebook, "open_in_browser", lambda url: False)
    proton.show("run.hatchet")
    assert capsys.readouterr().out.endswith(".html; open it in a browser\n")
