"""Lists the product files whose functions run from `proton.start` to the written file.

    python -m tools.walk             # the Python half, in a second
    python -m tools.walk --native    # and the C++ half, from a build that counts calls (minutes)

The walk is a plain tree session of backend `cupti` on the fake driver: a scope, launches, a file.
What runs because a module is imported does not count. docs/internals/life-of-an-event.md names
these files; a test holds it to the Python half. A header counts as a file of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Runs in a process of its own, with the list's path as argument; "imports" ends it before the walk.
_PROGRAM = """
import json, os, sys, threading
from tests.native.fake_cuda.driver import FakeDriver, build_driver
driver = FakeDriver(build_driver())
os.environ.update(driver.environment)
import proton, proton._native
if sys.argv[1] == "imports":
    sys.exit()
from proton.runtime import autosave
autosave.FIRST_SAVE_S = 600  # a plain walk is over before anything is saved on the way
package = os.path.dirname(proton.__file__) + os.sep
files = set()
def note(frame, event, argument):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(package) and not is_import(frame):
        files.add(name[len(package):])
def is_import(frame):
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(package):
            return True
        frame = frame.f_back
    return False
threading.setprofile(note)
sys.setprofile(note)
session = proton.start("walk", backend="cupti")
for step in range(3):
    with proton.scope("step"):
        driver.launch("gemm", 100)
proton.finalize(session)
sys.setprofile(None)
threading.setprofile(None)
with open(sys.argv[1], "w") as file:
    json.dump(sorted(files), file)
"""


def python_files(source: Path = ROOT / "src") -> list[str]:
    """Files of src/proton that the walk visits, as paths from the root."""
    with tempfile.TemporaryDirectory() as folder:
        visited = Path(folder) / "files.json"
        _run(source, str(visited))
        return [f"src/proton/{name}" for name in json.loads(visited.read_text())]


def _run(source: Path, argument: str) -> None:
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", _PROGRAM, argument]
        subprocess.run(command, cwd=folder, env=environment, check=True)


def native_files() -> list[str]:
    """Files of src/native that the walk visits; builds the extension with --coverage first."""
    build, package = ROOT / "build" / "walk", ROOT / "build" / "walk-package"
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    configure = [
        *("cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"),
        *("-DPROTON_LTO=OFF", "-DPROTON_UNITY=OFF", f"-DPython_EXECUTABLE={sys.executable}"),
        *("-DCMAKE_CXX_FLAGS=--coverage", "-DCMAKE_C_FLAGS=--coverage"),
        f"-Dnanobind_DIR={nanobind.strip()}",
    ]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(build), "-j", "2"], check=True)
    shutil.rmtree(package, ignore_errors=True)
    built = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "proton", package / "proton", ignore=built)
    for module in build.glob("*.so"):
        shutil.copy(module, package / "proton" / module.name)
    imports = _calls(build, package, "imports")
    calls = _calls(build, package, os.devnull)
    visited = {path for (path, name), count in calls.items() if count > imports[path, name]}
    native = ROOT / "src" / "native"
    return sorted(f"src/native/{path.relative_to(native).as_posix()}" for path in visited)


def _calls(build: Path, package: Path, argument: str) -> Counter[tuple[Path, str]]:
    """How often each function of src/native ran in the program, imports included."""
    for counts in build.rglob("*.gcda"):
        counts.unlink()
    _run(package, argument)
    calls: Counter[tuple[Path, str]] = Counter()
    native = ROOT / "src" / "native"
    for counts in build.rglob("*.gcda"):
        command = ["gcov", "--json-format", "--stdout", str(counts)]
        report = json.loads(subprocess.check_output(command))
        for file in report["files"]:
            path = Path(os.path.realpath(build / file["file"]))
            if path.is_relative_to(native):
                for function in file["functions"]:
                    calls[path, function["name"]] += function["execution_count"]
    return calls


def main(argv: Sequence[str] | None = None) -> int:
    """Print the files, one a line, and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--native", action="store_true", help="also the C++ half; builds it")
    arguments = parser.parse_args(argv)
    files = python_files() + (native_files() if arguments.native else [])
    print(*files, f"{len(files)} files", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
