"""How the tests of the command line start processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Ended:
    """A process that has ended; what `proton` itself said is taken out of its stderr."""

    def __init__(self, process: subprocess.CompletedProcess[bytes]) -> None:
        lines = process.stderr.decode(errors="replace").splitlines(keepends=True)
        self.code = process.returncode
        self.out = process.stdout.decode(errors="replace")
        self.err = "".join(line for line in lines if not line.startswith("proton: "))
        self.said = [line.rstrip("\n") for line in lines if line.startswith("proton: ")]

    def same(self) -> tuple[int, str, str]:
        """What has to be equal with and without the profiler."""
        return self.code, self.out, self.err


class Runner:
    """Runs programs in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.environment.pop("PYTEST_CURRENT_TEST", None)
        if path := self.environment.get("PYTHONPATH"):  # it may be given as seen from here
            folders = (os.path.abspath(folder) for folder in path.split(os.pathsep))
            self.environment["PYTHONPATH"] = os.pathsep.join(folders)

    def write(self, name: str, text: str) -> Path:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def python(self, *words: str, stdin: str = "", **environment: str) -> Ended:
        """Run `python words...`."""
        process = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.environment | environment,
            input=stdin.encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ended(process)

    def proton(self, *words: str, stdin: str = "", **environment: str) -> Ended:
        """Run `proton words...` in its spelling that is always ours."""
        return self.python("-m", "proton", *words, stdin=stdin, **environment)

    def profiles(self) -> list[str]:
        """The names of the profiles in the folder."""
        return sorted(path.name for path in self.folder.glob("*.hatchet"))

    def paths(self, name: str = "proton.hatchet") -> list[tuple[str, ...]]:
        """Every calling path that a profile holds."""
        return list(walk(json.loads((self.folder / name).read_text())[0]))


def walk(node: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths below a node of a hatchet file."""
    for child in node["children"]:
        path = (*above, child["frame"]["name"])
        yield path
        yield from walk(child, path)


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner in an empty folder."""
    return Runner(tmp_path)
