"""What `proton doctor` says about software: Python, our native core, packages, commands."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata

from proton.cli.finding import Finding

_TRITON = ((3, 6), (3, 10))  # the first supported, the first unsupported
_COMMANDS = {"proton": "proton", "proton-viewer": "proton.viewer"}


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
        module = importlib.import_module("proton._native")
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
        found = find_commands(command)
        always = f"'python -m {module}' is always ours"
        if not found:
            folder = sysconfig.get_path("scripts")
            own = find_commands(command, folder)
            text = f"not on PATH; {own[0]} is {owner_of(own[0])}" if own else "not on PATH"
            yield Finding(f"command {command}", text, f"add {folder} to PATH; {always}")
            continue
        path = found[0]
        owner = owner_of(path)
        others = [f"{other} is {owner_of(other)}" for other in found[1:]]
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
    found: list[str] = []
    if search is None:
        search = os.environ.get("PATH", os.defpath)
    for folder in search.split(os.pathsep):
        path = os.path.join(folder or os.curdir, command)
        if os.path.isfile(path) and os.access(path, os.X_OK) and path not in found:
            found.append(path)
    return found


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
