"""Tests of `proton convert`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from proton.cli.parser import parse
from proton.errors import DataKindError, FormatError, UsageError, WriteError
from proton.files.detect import open_profile
from tests.support.profiles import trace_in, tree_in

KERNEL = {
    "frame": {"name": "add", "type": "function"},
    "metrics": {"time (ns)": 5, "count": 1, "device_id": "0", "device_type": "CPU"},
    "children": [],
}
ROOT = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [KERNEL]}

SPAN = {"ph": "X", "cat": "kernel", "name": "add", "pid": 0, "tid": 200000, "ts": 1.5, "dur": 2.0}


def run(words: list[str]) -> int:
    arguments = parse(["convert", *words])
    return int(arguments.run(arguments))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a tree and a trace in it."""
    (tmp_path / "tree.hatchet").write_text(json.dumps([ROOT, {}]))
    (tmp_path / "trace.chrome_trace").write_text(json.dumps({"traceEvents": [SPAN]}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_and_back_gives_the_same_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tree.hatchet", "there.hatchet_msgpack"]) == 0
    assert run(["there.hatchet_msgpack", "back.hatchet"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "proton: wrote there.hatchet_msgpack",
        "proton: wrote back.hatchet",
    ]
    assert tree_in(open_profile("back.hatchet")) == tree_in(open_profile("tree.hatchet"))


def test_traces_go_to_perfettos_format_and_back() -> None:
    assert run(["trace.chrome_trace", "there.pftrace"]) == 0
    assert run(["there.pftrace", "back.chrome_trace"]) == 0
    assert Path("there.pftrace").read_bytes().startswith(b"\n")
    again = trace_in(open_profile("back.chrome_trace"))
    assert again == trace_in(open_profile("trace.chrome_trace"))


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ([], UsageError, "convert needs two files and got 0"),
        (["a", "b", "c"], UsageError, "convert needs two files and got 3"),
        (["--all", "a"], UsageError, "convert: unknown option '--all'"),
        (["a", "b", "--metric"], UsageError, "--metric needs a value"),
        (["a", "b", "--output-format=svg"], UsageError, "unknown output format 'svg'"),
        (["a", "b.hatchet", "--metric", "x"], UsageError, "--metric has no meaning"),
        (
            ["tree.hatchet", "out.pftrace"],
            DataKindError,
            "is a tree, and format 'perfetto' holds a trace: record",
        ),
        (["tree.hatchet", "./tree.hatchet"], UsageError, "is one of the inputs"),
        (["tree.hatchet", "out.json"], UsageError, "end it in .hatchet, .hatchet_msgpack"),
        (["tree.hatchet", "out"], UsageError, "the suffix names no format"),
        (["none.hatchet", "out.hatchet"], FormatError, "none.hatchet"),
        (
            ["trace.chrome_trace", "out.hatchet"],
            DataKindError,
            "is a trace, and format 'hatchet' holds a tree;",
        ),
        (["tree.hatchet", "none/out.hatchet_msgpack"], WriteError, "none/out.hatchet_msgpack: "),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    words: list[str], kind: type[Exception], said: str, folder: Path
) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(kind, match=said):
        run(words)
    assert sorted(folder.iterdir()) == before


def test_stacks_of_a_trace_are_summed_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["trace.chrome_trace", "out.txt", "--output-format", "collapsed"]) == 0
    assert Path("out.txt").read_text() == "add 2000\n"
    said = capsys.readouterr().err.splitlines()
    assert "proton: trace.chrome_trace is a trace: its spans were summed by path" in said
    assert said[-1] == "proton: wrote out.txt"


def test_what_others_shall_not_see_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    frame = {"frame": {"name": "/home/me/a.py:3@f", "type": "function"}, "metrics": {}}
    root = {**ROOT, "children": [{**frame, "children": [KERNEL]}], "proton": {"host": "node-7"}}
    Path("frames.hatchet").write_text(json.dumps([root, {}]))
    assert run(["frames.hatchet", "out.hatchet", "--without", "host,path"]) == 0
    content = Path("out.hatchet").read_text()
    assert "a.py:3@f" in content
    assert "/home/me" not in content
    assert "node-7" not in content
    assert "left out on request: host, path" in capsys.readouterr().err
    with pytest.raises(UsageError, match="unknown thing to leave out: 'all'"):
        run(["frames.hatchet", "out.hatchet", "--without", "all"])


def test_a_metric_can_be_picked() -> None:
    assert run(["--metric=count", "tree.hatchet", "out.folded"]) == 0
    assert Path("out.folded").read_text() == "add 1\n"


def test_a_pipe_is_written_by_the_name_that_leads_to_it() -> None:
    reading, writing = os.pipe()
    try:
        assert run(["tree.hatchet", f"/dev/fd/{writing}", "--output-format", "hatchet"]) == 0
        assert json.loads(os.read(reading, 1 << 16))[0]["children"]
    finally:
        os.close(reading)
        os.close(writing)


def test_a_reader_that_has_seen_enough_is_no_failure() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with pytest.raises(BrokenPipeError):
            run(["tree.hatchet", f"/dev/fd/{writing}", "--output-format", "hatchet"])
    finally:
        os.close(writing)
