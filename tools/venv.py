"""Makes the project's virtual environments; the Makefile calls it, with the standard library only.

It never builds or installs proton itself: that is a step of the Makefile, so that it happens
again whenever a source file changes.
"""

from __future__ import annotations

import argparse
import json
import site
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from tools import progress

REQUIREMENTS = Path(__file__).resolve().parent / "requirements"
OLDEST_PYTHON = (3, 11)
TORCH = "2.13.0"
TORCH_PYTHON = (3, 11)  # the only Python for which we pin a CPU build of torch
# Import name -> distribution, of what a demo needs from the system where that has Triton and torch.
SYSTEM_MODULES = {
    "cmake": "cmake",
    "msgpack": "msgpack",
    "nanobind": "nanobind",
    "ninja": "ninja",
    "numpy": "numpy",
    "scikit_build_core": "scikit-build-core",
}
TRITON_RANGE = ((3, 6), (3, 10))  # from, below: as in pyproject.toml

PROBE = """
import importlib.metadata, importlib.util, json, shutil, sys
names = json.loads(sys.argv[1])
found = [n for n in names if importlib.util.find_spec(n) or shutil.which(n)]
try:
    triton = importlib.metadata.version("triton")
except importlib.metadata.PackageNotFoundError:
    triton = None
print(json.dumps({"found": found, "triton": triton}))
"""


def say(text: str) -> None:
    """Print one line of progress at once."""
    print(f"== {text}", flush=True)


def fail(text: str) -> int:
    """Print why the environment cannot be made; the exit status of a failure."""
    print(f"make: {text}", file=sys.stderr, flush=True)
    return 1


def probe(python: Path, modules: Sequence[str]) -> tuple[set[str], str | None]:
    """Which of `modules` the interpreter can find, and its Triton's version."""
    reply = subprocess.run(
        [python, "-c", PROBE, json.dumps(list(modules))], capture_output=True, text=True
    )
    if reply.returncode != 0:
        return set(), None
    answer = json.loads(reply.stdout)
    return set(answer["found"]), answer["triton"]


def is_supported_triton(version: str | None) -> bool:
    """Whether this Triton is one that proton supports."""
    if version is None:
        return False
    parts = version.split(".")
    try:
        major_minor = int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return False
    return TRITON_RANGE[0] <= major_minor < TRITON_RANGE[1]


def uses_system_packages() -> bool:
    """Whether the interpreter that runs this has torch and a Triton we support."""
    found, triton = probe(Path(sys.executable), ["torch", "triton"])
    return found == {"torch", "triton"} and is_supported_triton(triton)


def create(path: Path, *, system_packages: bool) -> bool:
    """Make the environment unless it is there; returns whether it sees the system's packages."""
    if (path / "bin" / "python").exists():
        settings = (path / "pyvenv.cfg").read_text()
        return "include-system-site-packages = true" in settings
    say(f"{path}: creating it from {sys.executable} (a few seconds)")
    options = [str(path)] + (["--system-site-packages"] if system_packages else [])
    made = subprocess.run([sys.executable, "-m", "venv", *options], capture_output=True, text=True)
    if made.returncode != 0 and not system_packages:
        raise SystemExit(
            f"make: {path} could not be created by {sys.executable}: "
            f"{(made.stderr or made.stdout).strip()}; install the venv module of that Python "
            "(python3-venv on Debian and Ubuntu)"
        )
    if made.returncode != 0:
        # No ensurepip: with the system's packages in sight, the system's pip serves as well.
        venv.create(path, system_site_packages=True, with_pip=False, clear=True)
    if system_packages and sys.prefix != sys.base_prefix:
        see_outer_environment(path)
    return system_packages


def see_outer_environment(path: Path) -> None:
    """Let the environment see the packages of the environment whose Python made it.

    `--system-site-packages` alone means those of the Python below both.
    """
    version = "python{}.{}".format(*sys.version_info[:2])
    lines = [f"import site; site.addsitedir({folder!r})\n" for folder in site.getsitepackages()]
    (path / "lib" / version / "site-packages" / "outer.pth").write_text("".join(lines))


def pip_install(path: Path, title: str, *arguments: str) -> int:
    """Run pip inside the environment, with one line of progress under the title."""
    command = [str(path / "bin" / "python"), "-m", "pip", "install"]
    return progress.run(title, [*command, "--disable-pip-version-check", *arguments])


def install_demo(path: Path, *, system_packages: bool) -> int:
    """Triton, numpy, the package's dependencies and the build tools."""
    if not system_packages:
        title = "installing Triton 3.6.0, numpy, build tools (a minute; longer with a cold cache)"
        return pip_install(path, title, "-r", str(REQUIREMENTS / "demo.txt"))
    found, triton = probe(path / "bin" / "python", list(SYSTEM_MODULES))
    missing = sorted(SYSTEM_MODULES[name] for name in SYSTEM_MODULES.keys() - found)
    say(f"using the system's torch and Triton {triton}; missing: {', '.join(missing) or 'nothing'}")
    return pip_install(path, "installing what is missing", *missing) if missing else 0


def install_torch(path: Path) -> None:
    """A CPU build of torch, or a loud word on why the tests marked `torch` will be skipped."""
    if "torch" in probe(path / "bin" / "python", ["torch"])[0]:
        return
    if sys.version_info[:2] != TORCH_PYTHON:
        wanted, running = (".".join(map(str, v)) for v in (TORCH_PYTHON, sys.version_info[:2]))
        say(f"TORCH TESTS WILL BE SKIPPED: they need Python {wanted}, this is {running}")
        return
    title = f"installing torch {TORCH} for the CPU (half a minute; longer with a cold cache)"
    needs = "installing what torch needs"
    if pip_install(path, title, "--no-deps", f"torch=={TORCH}+cpu") or pip_install(
        path, needs, "-r", str(REQUIREMENTS / "torch.txt")
    ):
        say(f"TORCH TESTS WILL BE SKIPPED: the package index has no CPU build of torch {TORCH}")


def install_test(path: Path) -> int:
    """Test runner, checkers and torch."""
    title = "installing the test tools (half a minute; longer with a cold cache)"
    if status := pip_install(path, title, "-r", str(REQUIREMENTS / "test.txt")):
        return status
    install_torch(path)
    return 0


def install_matrix(path: Path, triton: str) -> int:
    """One Triton with the test runner."""
    title = f"installing Triton {triton} and pytest (a minute; longer with a cold cache)"
    return pip_install(path, title, "-r", str(REQUIREMENTS / "matrix.txt"), f"triton=={triton}")


def main(argv: Sequence[str] | None = None) -> int:
    """Make or complete one environment."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("purpose", choices=("demo", "test", "matrix"))
    parser.add_argument("path", type=Path, help="folder of the environment")
    parser.add_argument("--triton", default="3.6.0", help="Triton of a `matrix` environment")
    arguments = parser.parse_args(argv)
    if sys.version_info[:2] < OLDEST_PYTHON:
        return fail(
            f"{sys.executable} is Python {sys.version.split()[0]}, proton needs 3.11 or newer; "
            "name another one: make PYTHON=/path/to/python3.11 ..."
        )
    if arguments.purpose == "matrix":
        create(arguments.path, system_packages=False)
        return install_matrix(arguments.path, arguments.triton)
    if arguments.purpose == "demo":
        system_packages = create(arguments.path, system_packages=uses_system_packages())
        return install_demo(arguments.path, system_packages=system_packages)
    return install_test(arguments.path)


if __name__ == "__main__":
    sys.exit(main())
