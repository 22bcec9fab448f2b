"""Lists the product files whose functions run from `proton.start` to the written file.

    python -m tools.walk             # the Python half, in a second
    python -m tools.walk --native    # and the C++ half, from a build that counts calls (minutes)

The walk is a plain tree session of backend `cupti` on the fake driver: a scope, launches, a file.
What runs because a module is imported does not count. docs/internals/life-of-an-event.md names
these files; a test holds it to the Python half.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Runs in a process of its own, with the package's folder and the list's path as arguments.
_PROGRAM = """
import json, os, sys, threading
from tests.native.fake_cuda.driver import FakeDriver, build_driver
driver = FakeDriver(build_driver())
os.environ.update(driver.environment)
import proton
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
        found = Path(folder) / "files.json"
        environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-c", _PROGRAM, str(found)]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        return [f"src/proton/{name}" for name in json.loads(found.read_text())]


def native_files() -> list[str]:
    """Files of src/native that the walk visits; builds the extension with --coverage first."""
    build, package = ROOT / "build" / "walk", ROOT / "build" / "walk-package"
    configure = [
        *("cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DPROTON_LTO=OFF"),
        *(
            "-DPROTON_UNITY=OFF",
            "-DCMAKE_BUILD_TYPE=Debug",
            f"-DPython_EXECUTABLE={sys.executable}",
        ),
        *("-DCMAKE_CXX_FLAGS=--coverage", "-DCMAKE_C_FLAGS=--coverage"),
    ]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(build), "-j", "2"], check=True)
    shutil.copytree(ROOT / "src" / "proton", package / "proton", dirs_exist_ok=True)
    for module in build.glob("*.so"):
        shutil.copy(module, package / "proton" / module.name)
    for counts in build.rglob("*.gcda"):
        counts.unlink()
    python_files(package)
    visited: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for counts in build.rglob("*.gcda"):
            subprocess.run(
                ["gcov", "--json-format", str(counts)],
                cwd=folder,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        for report in Path(folder).glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                if any(function["execution_count"] for function in file["functions"]):
                    visited.add(os.path.realpath(build / file["file"]))
    native = ROOT / "src" / "native"
    return sorted(
        Path(path).relative_to(ROOT).as_posix()
        for path in visited
        if Path(path).is_relative_to(native)
    )


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
