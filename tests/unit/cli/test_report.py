"""`proton report`: its words, where the page goes, and what it says when there is no page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proton.cli import main, report
from proton.cli.parser import parse
from proton.cli.report import page_path
from proton.errors import UsageError
from proton.render.page import html
from tests.support.pages import data_of, unpack

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page as short as can be."""
    monkeypatch.setattr(html, "template", lambda: f"<p>{html.PLACE}</p>")


def path_of(words: list[str]) -> str:
    arguments = parse(["report", *words])
    return page_path(arguments.files, arguments.output)


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (["run.hatchet"], "run.html"),
        (["a/run.chrome_trace"], "a/run.html"),
        (["run"], "run.html"),
        (["run.v2"], "run.v2.html"),
        (["a.hatchet", "b.hatchet", "-o", "x.html"], "x.html"),
        (["--output=y", "a.hatchet"], "y"),
        (["--", "-a.hatchet"], "-a.html"),
    ],
)
def test_words_say_where_the_page_goes(words: list[str], output: str) -> None:
    assert path_of(words) == output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "needs a profile"),
        (["-o"], "needs a file"),
        (["--x", "a.hatchet"], "unknown option"),
        (["a.hatchet", "-o", "b.hatchet"], "named like a profile"),
    ],
)
def test_words_that_make_no_sense_say_why(words: list[str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        path_of(words)


@pytest.mark.usefixtures("built")
def test_a_profile_is_not_replaced_by_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "run"
    source.write_bytes((DATA / "gpt.hatchet").read_bytes())
    assert main(["report", str(source), "-o", str(source), "--force"]) == 2
    assert "run: is one of the inputs" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", ["sampled.hatchet", "sampled.chrome_trace", "in_kernel.hatchet"])
def test_a_page_can_go_without_hosts_paths_and_sources(name: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["report", str(DATA / name), "-o", str(page)]
    secrets = ["tl.program_id", "/triton/", "sampled/", str(DATA), "node-7"]

    def held() -> list[str]:
        text = json.dumps(unpack(data_of(page.read_text()))[0])
        return [secret for secret in secrets if secret in text]

    assert main(words) == 0
    assert held()
    assert main([*words, "--without", "host,path,source"]) == 0
    assert held() == []


@pytest.mark.usefixtures("built")
def test_several_profiles_go_into_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "both.html"
    names = ["gpt.hatchet", "gpt.hatchet_msgpack", "activity.chrome_trace"]
    assert main(["report", *(str(DATA / name) for name in names), "-o", str(page)]) == 0
    head, _ = unpack(data_of(page.read_text()))
    assert [Path(each["source"]).name for each in head["profiles"]] == names
    assert f"wrote {page} (" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
def test_a_set_of_phases_is_one_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "train.html"
    assert main(["report", str(DATA / "train.hatchet"), "-o", str(page)]) == 0
    head, _ = unpack(data_of(page.read_text()))
    assert head["profiles"][0]["summary"]["phases"] == 3
    assert "parts are missing" in capsys.readouterr().err


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("name", ["empty.chrome_trace", "no_such.hatchet", "README.md"])
def test_a_file_that_shows_nothing_is_one_line_and_no_page(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(DATA / name), "-o", str(page)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("proton: ")
    assert said.count("\n") == 1
    assert not page.exists()


def test_without_a_built_page_one_line_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(html, "files", lambda package: tmp_path)
    page = tmp_path / "page.html"
    assert main(["report", str(DATA / "gpt.hatchet"), "-o", str(page)]) == 1
    said = capsys.readouterr().err
    assert "make web (needs Node 20)" in said
    assert said.count("\n") == 1


def test_help_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: proton report FILE...")


@pytest.mark.usefixtures("built")
def test_the_command_says_what_it_does_while_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    @contextmanager
    def noted(text: str) -> Iterator[Callable[[str], None]]:
        said.append(text)
        yield said.append

    monkeypatch.setattr(report, "busy", noted)
    source, page = str(DATA / "proton_trace.pftrace"), tmp_path / "page.html"
    assert main(["report", source, "-o", str(page)]) == 0
    assert said[0] == f"reading {source}"
    assert said[2] == f"adding up 8 spans of {source}"
    assert said[3] == f"laying out 8 spans of {source}"
    assert [text.split()[0] for text in said[4:]] == ["packing", "compressing", "writing"]
