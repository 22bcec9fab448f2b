"""Tests of `proton serve`; the server itself is tested in tests/unit/render."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton.cli import main, serve
from proton.cli.parser import parse
from proton.errors import UsageError
from proton.files.write import write_profile
from proton.render.page.html import PLACE
from proton.render.server import browser
from tests.conftest import folder_of_proton
from tests.support.profiles import profile_of


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a profile, on a machine without a screen."""
    write_profile(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})]), "run.hatchet")
    monkeypatch.setattr(browser, "has_browser", lambda: False)
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    return tmp_cwd


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is built, whether it is or not."""
    from proton.render.server import site

    monkeypatch.setattr(site, "template", lambda: f"<p>{PLACE}</p>")


def test_words_are_read() -> None:
    arguments = parse(["serve", "a", "--port", "0", "b", "--no-open"])
    assert (arguments.files, arguments.port, arguments.no_open) == (["a", "b"], "0", True)
    assert parse(["serve", "a", "--no-token"]).no_token
    arguments = parse(["serve", "a", "--port=9000"])
    assert (arguments.files, arguments.port, arguments.no_open) == (["a"], "9000", False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "serve needs a profile or a folder; as in: proton serve run.hatchet"),
        (["a", "--port"], "--port needs a number"),
        (["a", "--port", "x"], "'x' is not a port; give a number from 0 to 65535"),
        (["a", "--port=65536"], "'65536' is not a port"),
        (["a", "--port=-1"], "'-1' is not a port"),
        (["a", "--host", "0.0.0.0"], "unknown option '--host'; see: proton serve --help"),
        (["a", "--no-open=1"], "unknown option '--no-open'"),
    ],
)
def test_words_without_meaning_are_refused(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        arguments = parse(["serve", *words])
        arguments.run(arguments)


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    told = capsys.readouterr().out
    assert "examples:\n  proton serve run.hatchet" in told
    assert max(map(len, told.splitlines())) <= 100


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gone.hatchet"], "proton: gone.hatchet: no such file\n"),
        (["empty"], "proton: empty: no profile in this folder; they end in .hatchet, "),
        (["x.hatchet"], "proton: x.hatchet: not a profile: "),
    ],
)
def test_what_cannot_be_served_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    Path("x.hatchet").write_text("hello")
    assert main(["serve", *words]) == 1
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert told.count("\n") == 1


@pytest.mark.usefixtures("page")
def test_a_busy_port_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "run.hatchet", "--port", str(port)]) == 1
    told = capsys.readouterr().err
    assert told.startswith(f"proton: port {port} is busy on 127.0.0.1; choose another with --port")
    assert told.count("\n") == 1


def test_without_a_browser_it_says_how_to_get_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "open the address in a browser on this machine" in serve._how_to_reach(8710)
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    assert "run: ssh -L 8710:127.0.0.1:8710 " in serve._how_to_reach(8710)


_PROGRAM = """
from proton.render.server import site
site.template = lambda: "<p>" + site.PLACE + "</p>"
from proton.cli import main
raise SystemExit(main(["serve", "run.hatchet", "--port", "0", "--no-open"]))
"""


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    """`proton serve run.hatchet`, as a process."""
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        env={**os.environ, "PYTHONPATH": folder_of_proton()},
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        limit = threading.Timer(60, started.kill)
        limit.start()
        yield started
        limit.cancel()
        started.kill()


def test_it_serves_until_interrupted_and_then_ends_well(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    told = process.stderr.readline()
    assert told.startswith("proton: serving run.hatchet at http://127.0.0.1:")
    url = told.split(" at ")[1].split()[0]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(url.partition("?")[0], timeout=20)
    with urllib.request.urlopen(url, timeout=20) as answer:
        assert b'data-live="data"' in answer.read()
    with urllib.request.urlopen(url.replace("/?", "/changes?"), timeout=20) as stream:
        assert stream.readline().startswith(b"data: ")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert process.stderr.read() == "\n"
