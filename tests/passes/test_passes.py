"""Runs the checks in the files beside this one: each says with which words to run proton-opt.

A `RUN:` line is what follows the file's name; `not` before it asks for a failure, whose message is
checked; `--check-prefix=NAME` picks the checks. Comments are no part of what is checked.
"""

import re
import shlex
from pathlib import Path

import pytest

from proton.cli.opt import main
from tests.support.filecheck import check, directives

FILES = sorted(
    path for path in Path(__file__).parent.iterdir() if path.suffix in (".ttgir", ".ttir", ".ll")
)
RUN = re.compile(r"\bRUN: *(not +)?proton-opt %s (.*)$", re.MULTILINE)
PREFIX = re.compile(r" *--check-prefix=(\w+)")


def _runs() -> list[tuple[Path, bool, str]]:
    return [
        (path, bool(found[1]), found[2])
        for path in FILES
        for found in RUN.finditer(path.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize(
    ("path", "must_fail", "words"), _runs(), ids=lambda value: getattr(value, "stem", None)
)
def test_a_pass_leaves_what_its_file_says(
    path: Path, must_fail: bool, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = PREFIX.search(words)
    prefix = found[1] if found else "CHECK"
    code = main([str(path), *shlex.split(PREFIX.sub("", words))])
    printed = capsys.readouterr()
    assert (code != 0) == must_fail, printed.err
    text = printed.err if must_fail else printed.out
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("//", ";")))
    check("\n".join(lines), directives(path.read_text(encoding="utf-8"), prefix))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_says_how_it_is_run(path: Path) -> None:
    assert RUN.search(path.read_text(encoding="utf-8")), f"{path.name} has no RUN line"
