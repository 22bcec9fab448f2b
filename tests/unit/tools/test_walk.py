"""The files that a plain session visits are those that the documentation lists."""

import re
from pathlib import Path

from tests.conftest import folder_of_proton
from tools import walk


def documented(language: str) -> list[str]:
    """Folder and name of the files that the page lists for one of the languages."""
    page = (walk.ROOT / "docs" / "internals" / "life-of-an-event.md").read_text()
    table = page.partition(f"files of {language}, under")[2].partition(" files of ")[0]
    files = []
    for folder, names in re.findall(r"^\| (.+?) \| (`.+) \|$", table, re.MULTILINE):
        room = folder.strip("`") if folder.startswith("`") else ""
        files += [f"{room}{name}" for name in re.findall(r"`([^`]+)`", names)]
    return sorted(files)


def test_the_files_of_a_plain_walk_are_those_that_the_documentation_lists() -> None:
    visited = walk.python_files(Path(folder_of_proton()))
    assert visited == [f"src/proton/{name}" for name in documented("Python")]


def test_native_files_of_the_walk_exist() -> None:
    native = walk.ROOT / "src" / "native"
    names = documented("C++")
    assert len(names) > 50
    assert [name for name in names if not list(native.glob(f"{name}.*"))] == []
