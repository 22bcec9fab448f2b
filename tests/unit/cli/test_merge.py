"""Tests of `proton merge`."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.cli.parser import parse
from proton.errors import ProtonError
from proton.files.detect import open_profile
from proton.files.write import write_profile
from tests.support.profiles import profile_of, tree_in

RANK = "ranks/run.rank"


def run(words: list[str]) -> int:
    arguments = parse(["merge", *words])
    return int(arguments.run(arguments))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the profiles of two ranks in a folder."""
    monkeypatch.chdir(tmp_path)
    Path("ranks").mkdir()
    for rank in range(2):
        profile = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5 + rank})])
        write_profile(profile, f"ranks/run.rank_{rank}.hatchet")
    return tmp_path


def test_a_folder_becomes_one_profile_and_does_so_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(2):
        assert run(["ranks", "-o", "ranks/all.hatchet"]) == 0
        assert capsys.readouterr().err == "proton: wrote ranks/all.hatchet: 2 ranks\n"
    tree = tree_in(open_profile("ranks/all.hatchet"))
    assert tree.own[1]["time (ns)"] == 11


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "merge needs the profiles to merge"),
        (["ranks"], "merge needs a place for the result"),
        (["ranks", "-o"], "-o needs a file"),
        (["ranks", "--all"], "unknown option '--all'"),
        (["ranks", "-o", "x.csv"], "x.csv: the suffix names no format; end it in .hatchet"),
        (["ranks/run.rank_0.hatchet", "-o", "x.hatchet"], "one profile alone"),
        (["nodir", "-o", "x.hatchet"], "nodir: no such file or folder"),
        ([f"{RANK}_0.hatchet", f"{RANK}_1.hatchet", f"--output={RANK}_1.hatchet"], "of the inputs"),
        (["ranks", "-o", f"{RANK}_1.hatchet"], "is a profile of this folder"),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    words: list[str], said: str, folder: Path
) -> None:
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    with pytest.raises(ProtonError, match=said):
        run(words)
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before
