"""Tests of what commands may replace, and of `-` as standard output."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from proton.cli.outputs import add_force, choose_output, name_of, write_output
from proton.cli.parser import Parser
from proton.errors import UsageError, WriteError
from proton.files.write import write_profile
from tests.support.profiles import profile_of


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str) -> str:
    write_profile(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]), name)
    return name


def test_a_file_of_another_kind_stays() -> None:
    Path("thesis.html").write_text("<!doctype html><title>my thesis</title>")
    with pytest.raises(
        UsageError, match=r"^thesis.html: exists and is not a page of proton; .*--force"
    ):
        choose_output("thesis.html", "page")
    with pytest.raises(UsageError, match=r"thesis.html: exists and is not a profile"):
        choose_output("thesis.html", "hatchet")
    assert choose_output("thesis.html", "page", is_forced=True) == "thesis.html"


def test_a_file_of_the_same_kind_and_an_empty_one_are_replaced() -> None:
    assert choose_output(write("old.hatchet"), "hatchet_msgpack") == "old.hatchet"
    Path("empty.csv").touch()
    assert choose_output("empty.csv", "csv") == "empty.csv"


def test_an_input_stays_also_by_another_name_and_forced() -> None:
    write("run.hatchet")
    write("set.part_0.hatchet")
    write("set.part_1.hatchet")
    Path("link.hatchet").symlink_to("run.hatchet")
    for path, source in [
        ("run.hatchet", "run"),
        ("link.hatchet", "run.hatchet"),
        ("set.part_1.hatchet", "set.part_0.hatchet"),
    ]:
        with pytest.raises(UsageError, match=f"^{path}: is one of the inputs"):
            choose_output(path, "hatchet", inputs=["gone.hatchet", source], is_forced=True)


def test_the_home_folder_is_expanded_and_a_missing_folder_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose_output("~/run.html", "page") == str(tmp_path / "run.html")
    with pytest.raises(WriteError, match=r"^none/run.html: cannot be written: there is no folder"):
        choose_output("none/run.html", "page")


def test_a_dash_is_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = choose_output("-", "csv", inputs=["-"])
    write_output(path, b"a,b\n\xff")
    assert capfdbinary.readouterr().out == b"a,b\n\xff"
    assert (name_of(path), name_of("x")) == ("standard output", "x")


def test_a_terminal_gets_text_only(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout", terminal)
    with pytest.raises(UsageError, match="the terminal cannot show this format"):
        write_output("-", b"\x92\x80\xff")
    write_output("-", "µ".encode() * 4000)
    assert terminal.buffer.tell() == 8000


def test_the_option_is_off_unless_given() -> None:
    parser = Parser(prog="proton x")
    add_force(parser)
    assert [parser.parse_args(words).force for words in ([], ["--force"])] == [False, True]
