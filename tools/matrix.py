"""Runs the tests marked `matrix` with other Tritons, and a wider set with other Pythons.

Each row has an environment of its own, kept between runs. A Python that is not on the machine is
skipped aloud. The last thing printed is pytest's own summary, or the rows that failed and how.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import progress

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_TRITON = "3.6.0"
EVERY_GPU_FREE_TEST = "not gpu and not long and not torch and not web"
KEPT_LINES = 60  # of a row that failed; a log's reader may see its end alone


@dataclass(frozen=True)
class Row:
    """One combination: an interpreter, a Triton, and which tests it must pass."""

    title: str
    python: Path
    triton: str
    marker: str
    options: tuple[str, ...] = ()  # of pytest

    @property
    def folder(self) -> Path:
        """The environment's folder."""
        return ROOT / f".venv-{self.title.lower().replace(' ', '-')}"


def find_python(version: str) -> Path | None:
    """An interpreter of that minor version on the PATH or among pyenv's; None if there is none."""
    candidates = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += [str(p) for p in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for candidate in filter(None, candidates):
        probe = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        reply = subprocess.run(probe, capture_output=True, text=True)  # a shim may refuse
        if reply.returncode == 0 and reply.stdout.strip() == version:
            return Path(candidate)
    return None


def plan(tritons: Sequence[str], pythons: Sequence[str]) -> tuple[list[Row], list[str]]:
    """The rows to run, and the Python versions that are not on this machine."""
    rows, missing = [], []
    for version in pythons:
        if (python := find_python(version)) is None:
            missing.append(version)
        else:
            title, rule = f"Python {version}", ("-p", "tests.support.reached")
            rows.append(Row(title, python, DEFAULT_TRITON, EVERY_GPU_FREE_TEST, rule))
    here = Path(sys.executable)
    rows += [Row(f"Triton {triton}", here, triton, "matrix and not torch") for triton in tritons]
    return rows, missing


def build_wheel(python: str, folder: Path) -> Path | None:
    """A wheel of the tree as it is, built by an environment that has the build tools."""
    for old in folder.glob("*.whl"):
        old.unlink()
    pip = [python, "-m", "pip", "wheel", "--disable-pip-version-check", "--verbose"]
    options = ["--no-build-isolation", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    if progress.run("building proton (a minute at first, seconds later)", [*pip, *options]) != 0:
        return None
    return next(folder.glob("*.whl"))


def run_aloud(command: Sequence[str]) -> tuple[int, list[str]]:
    """The exit status of a command whose output is shown, and the last lines that matter."""
    kept: deque[str] = deque(maxlen=KEPT_LINES)
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if not line.startswith(("SKIPPED", ".")):
                kept.append(line.rstrip())
    return process.returncode, list(kept)


class Matrix:
    """Runs rows. One wheel serves all rows of one interpreter."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._wheels: dict[Path, Path | None] = {}
        self.said: dict[str, list[str]] = {}  # by title: the end of what failed tests printed

    def run(self, row: Row) -> bool:
        """Make the environment, install the wheel, run the tests; whether they passed."""
        print(f"== {row.title}", flush=True)
        python = str(row.folder / "bin" / "python")
        set_up = ["-m", "tools.venv", "matrix", str(row.folder), "--triton", row.triton]
        if subprocess.run([str(row.python), *set_up], cwd=ROOT).returncode != 0:
            return False
        if row.python not in self._wheels:
            is_ours = row.python == Path(sys.executable)  # it has built before: nearly done
            builder = sys.executable if is_ours else python
            folder = ROOT / "build" / "wheels" / row.folder.name.lstrip(".")
            self._wheels[row.python] = build_wheel(builder, folder)
        wheel = self._wheels[row.python]
        if wheel is None:
            return False
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        test = ["-m", "pytest", "-q", "-n", str(self._jobs), "--dist", "loadfile"]
        commands = [
            [python, *install, "--force-reinstall", str(wheel)],
            [python, *test, *row.options, "-m", row.marker, "tests"],
        ]
        for command in commands:
            status, self.said[row.title] = run_aloud(command)
            if status != 0:
                return False
        return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run every row; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triton", nargs="*", default=[], help="Triton versions")
    parser.add_argument("--python", nargs="*", default=[], help="Python versions")
    parser.add_argument("--jobs", type=int, default=2, help="test processes at a time")
    arguments = parser.parse_args(argv)
    rows, missing = plan(arguments.triton, arguments.python)
    for version in missing:
        print(f"== Python {version}: SKIPPED, there is none on this machine", flush=True)
    matrix = Matrix(arguments.jobs)
    failed = [row.title for row in rows if not matrix.run(row)]
    for title in failed:
        print(f"== {title} failed:", *matrix.said.get(title, ()), sep="\n", flush=True)
    if failed:
        print(f"make: failed with {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
