"""`proton doctor`: what Proton finds on this machine, and what to do about each problem.

Looks without touching: neither Triton, torch nor CUDA is loaded. Software is checked here, the
machine in `doctor_machine` and NVIDIA's part of it in `doctor_cuda`.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata

from proton import _core
from proton.cli.parser import Parser
from proton.cli.run import VERSION

USAGE = ""
DESCRIPTION = """\
Checks this machine: versions, native core, backend, GPU, sampling, commands, environment. Each
problem comes with its remedy. Exit code 0: no problem; 1: at least one."""

EXAMPLES = """\
examples:
  proton doctor
  proton doctor && proton train.py"""
_TRITON = ((3, 6), (3, 10))  # the first supported, the first unsupported
_COMMANDS = {"proton": "proton", "proton-viewer": "proton.viewer"}


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a subject; with a remedy it is a problem."""

    subject: str
    text: str
    remedy: str = ""

    @property
    def is_problem(self) -> bool:
        """Whether the user has something to do."""
        return bool(self.remedy)

    def __str__(self) -> str:
        mark = "problem" if self.is_problem else "ok"
        line = f"{mark:<8} {self.subject:<22} {self.text}"
        return f"{line}\n{'':<31} remedy: {self.remedy}" if self.is_problem else line


def add_arguments(parser: Parser) -> None:
    """The words of the command: none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the report; 1 when there is a problem in it."""
    print(VERSION)
    findings = list(examine())
    for finding in findings:
        print(finding)
    problems = sum(finding.is_problem for finding in findings)
    print(f"{problems} problem{'s' * (problems != 1)} found" if problems else "no problem found")
    return int(problems > 0)


def examine() -> Iterator[Finding]:
    """Every finding, in the order of the report."""
    core = list(native_core())
    checks: list[Callable[[], Iterator[Finding]]] = [
        python,
        lambda: iter(core),
        packages,
        commands,
    ]
    if not any(finding.is_problem for finding in core):  # the rest asks the recording half
        from proton.cli import doctor_machine as machine

        checks += [machine.gpu, machine.backend, machine.environment, machine.folder]
    for check in checks:
        yield from check()


def python() -> Iterator[Finding]:
    """The interpreter."""
    text = f"{platform.python_version()}, {sys.executable}"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        yield Finding("python", f"{text}, built without the GIL", "use a build with the GIL")
    elif not (3, 11) <= sys.version_info[:2] <= (3, 13):
        yield Finding("python", f"{text} is not supported", "use Python 3.11, 3.12 or 3.13")
    else:
        yield Finding("python", text)


def native_core() -> Iterator[Finding]:
    """Our compiled module."""
    try:
        module = _core.load_or_fail()
    except ImportError as error:
        yield Finding(
            "native core",
            f"cannot be loaded: {error}",
            f"install proton-profiler for this Python: {sys.executable} -m pip install "
            "--force-reinstall proton-profiler (in a checkout: make build)",
        )
    else:
        yield Finding("native core", f"loads from {module.__spec__ and module.__spec__.origin}")


def packages() -> Iterator[Finding]:
    """Triton, numpy and torch, by what is installed; none is imported."""
    triton, numpy, torch = (version_of(name) for name in ("triton", "numpy", "torch"))
    if triton is None:
        yield Finding("triton", "not installed: scopes and metrics are recorded, no kernels")
    elif _TRITON[0] <= _major_minor(triton) < _TRITON[1]:
        yield Finding("triton", triton)
    else:
        yield Finding("triton", f"{triton} is not supported", "install Triton 3.6, 3.7, 3.8 or 3.9")
    if numpy is None and triton is not None:
        yield Finding(
            "numpy", "not installed: interpreted kernels need it", "run: pip install numpy"
        )
    else:
        yield Finding("numpy", numpy or "not installed")
    yield Finding("torch", torch or "not installed: not needed")


def version_of(package: str) -> str | None:
    """The installed version of a package, found without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _major_minor(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def commands() -> Iterator[Finding]:
    """Which `proton` and `proton-viewer` a shell would find, and whose they are."""
    for command, module in _COMMANDS.items():
        paths = find_commands(command)
        always = f"'python -m {module}' is always ours"
        if not paths:
            folder = sysconfig.get_path("scripts")
            own = find_commands(command, folder)
            text = f"not on PATH; {own[0]} is {owner_of(own[0])}" if own else "not on PATH"
            yield Finding(f"command {command}", text, f"add {folder} to PATH; {always}")
            continue
        path = paths[0]
        owner = owner_of(path)
        others = [f"{other} is {owner_of(other)}" for other in paths[1:]]
        text = "; ".join([f"{path} is {owner}", *others])
        if owner == "ours":
            yield Finding(f"command {command}", text)
        else:
            yield Finding(
                f"command {command}",
                text,
                f"{always}; to have the command, install proton-profiler after triton: "
                "pip install --force-reinstall --no-deps proton-profiler",
            )


def find_commands(command: str, search: str | None = None) -> list[str]:
    """Every executable of this name on PATH (or `search`), the one that a shell takes first."""
    paths: list[str] = []
    if search is None:
        search = os.environ.get("PATH", os.defpath)
    for folder in search.split(os.pathsep):
        path = os.path.join(folder or os.curdir, command)
        if os.path.isfile(path) and os.access(path, os.X_OK) and path not in paths:
            paths.append(path)
    return paths


def owner_of(path: str) -> str:
    """Whose command this is, by the module that its script imports."""
    try:
        with open(path, "rb") as file:
            text = file.read(4096)
    except OSError:
        return "unreadable"
    if b"proton.cli" in text:
        return "ours"
    return "Triton's" if b"triton.profiler" in text else "of someone else"
