"""Builds wheels that people install with no compiler, into dist/, and tries each.

Usage: python -m tools.wheel [--python VERSION ...] [--jobs N] [--dist FOLDER]
One wheel for every system has the reading half alone: profiles of a server open on a laptop. One
for each Python named records too, on any Linux with glibc 2.28 or newer: zig's compiler, a package
like others, builds for that glibc and brings the C++ runtime. A Python that is not on the machine
is skipped aloud. These wheels are made one after the other in one build folder, so that the core,
which knows no Python, is compiled once.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tools import progress
from tools.elf import read_needs
from tools.matrix import find_python

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = Path(__file__).resolve().parent / "requirements" / "wheel.txt"
GLIBC = (2, 28)
PIP_OPTIONS = ("--disable-pip-version-check",)
# Libraries of every Linux with glibc; anything else would have to come with the wheel.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt|libutil|ld-linux.*)\.so\.\d+")
SOURCES = ("src", "CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE")
BUILT_HERE = ("*.so", "__pycache__")  # in a working tree, maybe for another Python
PAGE = "proton/render/assets/page.html"
# The symbol refers back more often than demanglers take that cannot be stopped; those of torch do.
TRY_RECORDING = """
import proton
from proton import _native
from proton.files.detect import open_profile
proton.start("tried")
with proton.scope("step"):
    pass
proton.finalize()
profile = open_profile("tried.hatchet")
assert profile.tree.frames[1].name == "step", profile
symbol = "_Z3addI1aIiE" + "S1_" * 20 + "EvT_"
text = "void add<" + ", ".join(["a<int>"] * 21) + " >(a<int>)"
assert _native.demangle(symbol) == text, _native.demangle(symbol)
"""


def copy_sources(folder: Path) -> Path:
    """A copy of what a package is made of, without what was built in place."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns(*BUILT_HERE)
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def wheel_command(python: str, source: Path, folder: Path, *settings: str) -> list[str]:
    """What builds a wheel of `source` into `folder`."""
    command = [python, "-m", "pip", "wheel", *PIP_OPTIONS, "--verbose"]
    command += ["--no-build-isolation", "--no-deps", "--wheel-dir", str(folder)]
    return [*command, *(word for each in settings for word in ("-C", each)), str(source)]


def build_pure(python: str, source: Path, folder: Path) -> Path | None:
    """The wheel of the reading half; None where the build failed."""
    command = wheel_command(python, source, folder, "wheel.cmake=false")
    if progress.run("building the wheel that reads profiles (seconds)", command) != 0:
        return None
    return next(folder.glob("*-py3-none-any.whl"))


class NativeBuild:
    """Builds the wheels that record. Its tools, none of which is compiled, serve every Python."""

    def __init__(self, source: Path, folder: Path, jobs: int) -> None:
        self._source, self._folder, self._jobs = source, folder, jobs
        self._tools = folder / "tools"

    def prepare(self) -> bool:
        """Get the compiler and what drives it; whether that worked, else it was said why."""
        stamp, wanted = self._tools / "requirements.txt", REQUIREMENTS.read_text()
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(self._tools, ignore_errors=True)
            pip = [sys.executable, "-m", "pip", "install", *PIP_OPTIONS, "--target"]
            title = "installing zig's compiler and the build tools (a minute)"
            if progress.run(title, [*pip, str(self._tools), "-r", str(REQUIREMENTS)]) != 0:
                return False
            stamp.write_text(wanted)
        target = f"{platform.machine()}-linux-gnu." + ".".join(map(str, GLIBC))
        zig = self._tools / "ziglang" / "zig"
        for name in ("cc", "c++", "ar", "ranlib"):
            options = f" -target {target}" if name in ("cc", "c++") else ""
            program = self._tools / f"zig-{name}"
            program.write_text(f'#!/bin/sh\nexec "{zig}" {name}{options} "$@"\n')
            program.chmod(0o755)
        return self._take_demangler()

    def build(self, python: Path, version: str, dist: Path) -> Path | None:
        """The wheel for that Python; None where it could not be built."""
        build = self._folder / "build"
        # What was found of the last Python goes; the objects of the core stay.
        (build / "CMakeCache.txt").unlink(missing_ok=True)
        place = self._folder / "built"
        shutil.rmtree(place, ignore_errors=True)
        settings = [
            f"build-dir={build}",
            f"cmake.define.CMAKE_AR={self._tools / 'zig-ar'}",
            f"cmake.define.CMAKE_RANLIB={self._tools / 'zig-ranlib'}",
            f"cmake.define.PROTON_DEMANGLER={self._tools / 'libdemangler.a'}",
            "cmake.define.PROTON_LTO=OFF",
            # Python's headers define what the C++ runtime's have defined before them.
            "cmake.define.CMAKE_CXX_FLAGS=-Wno-macro-redefined",
        ]
        title = f"building the wheel for Python {version} (minutes at first)"
        command = wheel_command(str(python), self._source, place, *settings)
        if progress.run(title, [*self._environment(), *command]) != 0:
            return None
        built = next(place.glob("*.whl"))
        tag = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{platform.machine()}"
        retag = [str(python), "-m", "wheel", "tags", "--platform-tag", tag, "--remove", str(built)]
        if progress.run(f"naming it for {tag}", [*self._environment(), *retag]) != 0:
            return None
        built = next(place.glob("*.whl"))
        return Path(shutil.move(built, dist / built.name))

    def _environment(self) -> list[str]:
        path = f"{self._tools / 'bin'}{os.pathsep}{os.environ['PATH']}"
        compilers = [f"CC={self._tools / 'zig-cc'}", f"CXX={self._tools / 'zig-c++'}"]
        found = [f"PYTHONPATH={self._tools}", f"PATH={path}"]
        return ["env", *compilers, *found, f"CMAKE_BUILD_PARALLEL_LEVEL={self._jobs}"]

    def _take_demangler(self) -> bool:
        """GCC's demangler alone, which zig's runtime has none like: see base/demangler.cmake."""
        archive = self._tools / "libdemangler.a"
        archive.unlink(missing_ok=True)
        try:
            where = ["g++", "-print-file-name=libsupc++.a"]
            library = subprocess.run(where, capture_output=True, text=True, check=True).stdout
            for command in (
                ["ar", "x", library.strip(), "cp-demangle.o"],
                ["ar", "rcs", str(archive), "cp-demangle.o"],
            ):
                subprocess.run(command, cwd=self._tools, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"make: no demangler for the wheels: {error}; install g++", file=sys.stderr)
            return False
        return True


def complaints(wheel: Path) -> list[str]:
    """What keeps a wheel from running on a Linux with that glibc and no more."""
    found = []
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as place:
        names = archive.namelist()
        if PAGE not in names:
            found.append("has no page: build it first, with make web")
        for name in names:
            if name.endswith(".so"):
                library = Path(archive.extract(name, place))
                found += [f"{name} {text}" for text in library_complaints(library)]
    return found


def library_complaints(path: Path) -> list[str]:
    """The same of one library."""
    needs = read_needs(path)
    found = [f"needs {name}" for name in needs.libraries if not SYSTEM_LIBRARIES.fullmatch(name)]
    for library, version in needs.versions:
        name, _, numbers = version.partition("_")
        parts = tuple(int(part) for part in numbers.split(".") if part.isdigit())
        if name == "GLIBC" and parts > GLIBC:
            found.append(f"needs {version} of {library}")
    return found


def try_wheel(wheel: Path, python: Path) -> bool:
    """Install the wheel into a fresh environment and use it; whether all of it worked."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([str(python), "-m", "venv", place], check=True)
        programs = Path(place, "bin")
        tried = str(programs / "python")
        profile = str(ROOT / "tests" / "data" / "proton_trace.pftrace")
        pip = [tried, "-m", "pip", "install", "-q", *PIP_OPTIONS, "--only-binary=:all:"]
        commands = [
            [*pip, str(wheel)],
            [str(programs / "proton-viewer"), profile],
            [str(programs / "proton"), "report", profile, "-o", "page.html"],
        ]
        if not wheel.name.endswith("-none-any.whl"):
            commands += [
                [tried, "-c", TRY_RECORDING],
                [str(programs / "proton"), "report", "tried.hatchet"],
            ]
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        clean["PATH"] = str(programs)  # no compiler
        for command in commands:
            done = subprocess.run(command, cwd=place, env=clean, capture_output=True, text=True)
            if done.returncode != 0:
                words = " ".join(command)
                print(f"make: {wheel.name}: {words}\n{done.stderr}", file=sys.stderr)
                return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Build and try the wheels; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", nargs="*", default=[], help="versions to record with")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where they go")
    arguments = parser.parse_args(argv)
    arguments.dist.mkdir(parents=True, exist_ok=True)
    here, folder = Path(sys.executable), ROOT / "build" / "wheel"
    source = copy_sources(folder / "source")
    wheels = [("the wheel that reads", build_pure(str(here), source, arguments.dist), here)]
    pythons = {version: find_python(version) for version in arguments.python}
    native = NativeBuild(source, folder, arguments.jobs)
    is_ready = any(pythons.values()) and native.prepare()
    for version, python in pythons.items():
        if python is None:
            print(f"== Python {version}: SKIPPED, there is none on this machine", flush=True)
        else:
            built = native.build(python, version, arguments.dist) if is_ready else None
            wheels.append((f"the wheel for Python {version}", built, python))
    is_good = True
    for title, wheel, python in wheels:
        faults = ["could not be built"] if wheel is None else complaints(wheel)
        for text in faults:
            print(f"make: {title}: {text}", file=sys.stderr)
        if wheel is None or faults or not try_wheel(wheel, python):
            is_good = False
        else:
            print(f"{wheel}  {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
