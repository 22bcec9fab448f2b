"""Commands write through pipes and links: none is replaced by a plain file."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from proton.cli import main
from proton.errors import PageNotBuilt
from proton.files.journal.format import DATA as JOURNAL_DATA
from proton.files.journal.format import pack_chunk, pack_facts
from proton.render.page.html import template

DATA = Path(__file__).parents[2] / "data"
PROFILE = "gpt.hatchet"

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def has_page() -> bool:
    try:
        template()
    except PageNotBuilt:
        return False
    return True


@pytest.fixture
def inputs(tmp_cwd: object) -> None:
    """Two ranks, and the journal of a process that is gone."""
    for name in (PROFILE, "a.rank_0.hatchet", "a.rank_1.hatchet"):
        shutil.copy(DATA / PROFILE, name)
    facts = {"pid": 4_000_000, "host": os.uname().nodename, "data": "tree", "phase": 0}
    content = (DATA / "gpt.hatchet_msgpack").read_bytes()
    Path("run.partial").write_bytes(pack_facts(facts) + pack_chunk(JOURNAL_DATA, content))


COMMANDS = [
    pytest.param(["convert", PROFILE, "out.hatchet"], "out.hatchet", id="convert"),
    pytest.param(["convert", PROFILE, "out.csv"], "out.csv", id="export"),
    pytest.param(
        ["merge", "a.rank_0.hatchet", "a.rank_1.hatchet", "-o", "out.hatchet"],
        "out.hatchet",
        id="merge",
    ),
    pytest.param(
        ["recover", "run.partial", "-o", "out.hatchet", "--keep"], "out.hatchet", id="recover"
    ),
    pytest.param(
        ["report", PROFILE, "-o", "out.html"],
        "out.html",
        id="report",
        marks=pytest.mark.skipif(not has_page(), reason="the page is not built"),
    ),
]


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("words", "output"), COMMANDS)
def test_a_pipe_is_written_to_and_stays_a_pipe(words: list[str], output: str) -> None:
    os.mkfifo(output)
    with ThreadPoolExecutor() as pool:
        received = pool.submit(Path(output).read_bytes)
        assert main(words) == 0
        assert received.result()
    assert Path(output).is_fifo()


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("words", "output"), COMMANDS)
def test_a_dash_is_standard_output(
    words: list[str], output: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    formats = ["--output-format", Path(output).suffix[1:]] if words[0] == "convert" else []
    assert main([*("-" if word == output else word for word in words), *formats]) == 0
    received, said = capfdbinary.readouterr()
    assert b"wrote standard output" in said
    assert main(words) == 0
    assert received == Path(output).read_bytes()


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("words", "output"), COMMANDS)
def test_a_file_of_another_kind_is_replaced_by_force_alone(
    words: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(output).write_text("my thesis, 3 years of work")
    assert main(words) == 2
    assert f"{output}: exists and is not a" in capsys.readouterr().err
    assert Path(output).read_text() == "my thesis, 3 years of work"
    assert main([*words, "--force"]) == 0
    assert main(words) == 0  # now it is of its kind


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("words", "output"), COMMANDS)
def test_a_link_stays_a_link(words: list[str], output: str) -> None:
    Path("elsewhere").mkdir()
    Path(output).symlink_to("elsewhere/file")
    assert main(words) == 0
    assert Path(output).is_symlink()
    assert Path("elsewhere/file").stat().st_size > 0


def into_pipe(words: list[str]) -> bytes:
    """What a command writes to `pipe`, whose name tells no format."""
    if not os.path.exists("pipe"):
        os.mkfifo("pipe")
    with ThreadPoolExecutor() as pool:
        received = pool.submit(Path("pipe").read_bytes)
        status = main([*words, "-o", "pipe"])
        with suppress(OSError):  # nobody reads: all was written. Else the reader would wait on
            os.close(os.open("pipe", os.O_WRONLY | os.O_NONBLOCK))
        assert status == 0
        return received.result()


@pytest.mark.usefixtures("inputs")
def test_a_journal_stays_where_its_profile_went_into_no_file(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert into_pipe(["recover", "run.partial"])
    assert "kept run.partial: pipe is no file that stays" in capfd.readouterr().err
    assert Path("run.partial").exists()
    assert main(["recover", "run.partial", "-o", "whole.hatchet"]) == 0
    assert not Path("run.partial").exists()


@pytest.mark.usefixtures("inputs")
def test_ranks_are_merged_into_a_pipe_whose_name_tells_no_format() -> None:
    ranks = ["a.rank_0.hatchet", "a.rank_1.hatchet"]
    assert into_pipe(["merge", *ranks])
    assert main(["merge", *ranks, "-o", "all"]) == 2


@pytest.mark.usefixtures("inputs")
@pytest.mark.skipif(not has_page(), reason="the page is not built")
def test_nobody_is_sent_to_a_browser_with_a_page_that_is_in_no_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert into_pipe(["report", PROFILE])
    assert "browser" not in capsys.readouterr().err
    assert main(["report", PROFILE, "-o", "page.html"]) == 0
    assert "browser" in capsys.readouterr().err
