"""The files that a plain session visits are those that the documentation lists."""

import re
from pathlib import Path

from tests.conftest import folder_of_proton
from tools import walk


def documented() -> list[str]:
    page = (walk.ROOT / "docs" / "internals" / "life-of-an-event.md").read_text()
    table = page.partition("files of Python, under `src/proton`")[2].partition("files of C++")[0]
    files = []
    for folder, names in re.findall(r"^\| (.+?) \| (`.+) \|$", table, re.MULTILINE):
        room = folder.strip("`") if folder.startswith("`") else ""
        files += [f"src/proton/{room}{name}" for name in re.findall(r"`([^`]+)`", names)]
    return sorted(files)


def test_the_files_of_a_plain_walk_are_those_that_the_documentation_lists() -> None:
    assert walk.python_files(Path(folder_of_proton())) == documented()
