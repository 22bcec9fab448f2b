"""Bad input gets one clear line, whichever command meets it; pages say theirs in tests/web."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton.cli import main
from proton.cli.viewer import main as view

DATA = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree, a trace, and an empty folder; the page counts as built."""
    from proton.render.page.html import PLACE

    shutil.copy(DATA / "gpt.hatchet", "tree.hatchet")
    shutil.copy(DATA / "proton_trace.chrome_trace", "trace.chrome_trace")
    Path("empty").mkdir()
    for module in ("proton.render.page.html", "proton.render.server.site"):
        monkeypatch.setattr(f"{module}.template", lambda: f"<p>{PLACE}</p>")
    return tmp_cwd


def line_of(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 1) -> str:
    """The one line that a command says before it fails."""
    before = sorted(map(str, Path().rglob("*")))
    assert (view(words[1:]) if words[0] == "proton-viewer" else main(words)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    assert sorted(map(str, Path().rglob("*"))) == before  # nothing half done is left
    return shown.err.strip()


@pytest.mark.parametrize("target", ["out.chrome_trace", "out.pftrace"])
def test_a_tree_where_a_trace_is_needed(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(["convert", "tree.hatchet", target], capsys, 2)
    assert line.startswith("proton: tree.hatchet: is a tree, and format ")
    assert "holds a trace: record one with data='trace'; choose one of 'hatchet'" in line


def test_a_trace_where_a_tree_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(["convert", "trace.chrome_trace", "out.hatchet"], capsys, 2)
    assert "is a trace, and format 'hatchet' holds a tree; choose one of 'chrome_trace'" in line


@pytest.mark.parametrize(
    ("sources", "code", "said"),
    [
        (["a.rank_0.hatchet", "b.rank_0.hatchet"], 2, "b.rank_0.hatchet: rank 0, but so is a.ran"),
        (["a.rank_0.hatchet", "tree.hatchet"], 2, "tree.hatchet: does not say its rank, but a.ra"),
        (["a.rank_0.hatchet", "t.rank_1.chrome_trace"], 1, "a trace, but a.rank_0.hatchet is a t"),
        (["a.rank_0.hatchet", "a.rank_0.hatchet"], 2, "is named twice; a rank can be merged once"),
        (["a.rank_0.hatchet"], 2, "one profile alone; merge needs two or more"),
    ],
)
def test_ranks_that_do_not_match(
    sources: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.rank_0.hatchet", "b.rank_0.hatchet"):
        shutil.copy("tree.hatchet", name)
    shutil.copy("trace.chrome_trace", "t.rank_1.chrome_trace")
    assert said in line_of(["merge", *sources, "-o", "out.hatchet"], capsys, code)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["merge", "empty", "-o", "x.hatchet"], "empty: no profile in this folder; they end in"),
        (["serve", "empty"], "empty: no profile in this folder; they end in .hatchet, "),
        (["report", "empty"], "empty: a directory, not a profile"),
        (["convert", "empty", "x.hatchet"], "empty: a directory, not a profile"),
        (["proton-viewer", "empty"], "empty: a directory, not a profile"),
    ],
)
def test_an_empty_folder(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in line_of(words, capsys)


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield int(taken.getsockname()[1])


def test_a_busy_port(busy_port: int, capsys: pytest.CaptureFixture[str]) -> None:
    line = line_of(["serve", "tree.hatchet", "--port", str(busy_port)], capsys)
    assert line == (
        f"proton: port {busy_port} is busy on 127.0.0.1; choose another with --port N, or "
        "--port 0 for any that is free"
    )


COMMANDS = {
    "report": ["report", "{}", "-o", "x.html"],
    "convert": ["convert", "{}", "x.csv"],
    "viewer": ["proton-viewer", "{}"],
    "merge": ["merge", "tree.hatchet", "{}", "-o", "x.hatchet"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("gpt.hatchet", 0.5),
        ("gpt.hatchet", 0.0),
        ("gpt.hatchet_msgpack", 0.9),
        ("proton_trace.chrome_trace", 0.3),
        ("proton_trace.pftrace", 0.7),
    ],
)
def test_a_file_that_is_still_growing_or_was_cut(
    command: str, name: str, kept: float, capsys: pytest.CaptureFixture[str]
) -> None:
    content = (DATA / name).read_bytes()
    Path(name).write_bytes(content[: int(len(content) * kept)])
    words = [word.format(name) for word in COMMANDS[command]]
    fresh = line_of(words, capsys)
    assert f": {name}: " in fresh
    assert "it is still being written: look again when it is whole" in fresh
    os.utime(name, (1, 1))
    assert "it was cut: copy or record it again" in line_of(words, capsys)


def test_a_page_that_was_not_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from proton.errors import PageNotBuilt

    def missing() -> str:
        raise PageNotBuilt("this installation has no page; build it with: make web")

    for module in ("proton.render.page.html", "proton.render.server.site"):
        monkeypatch.setattr(f"{module}.template", missing)
    for command in ("report", "serve"):
        assert "build it with: make web" in line_of([command, "tree.hatchet"], capsys)
