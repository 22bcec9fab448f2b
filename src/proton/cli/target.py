"""Whether a target can be run at all, said before anything is started."""

from __future__ import annotations

import importlib.util
import os
import sys

from proton.cli.arguments import Target, TargetKind
from proton.errors import UsageError

_SUFFIXES = (".py", ".pyw")


def check_target(target: Target) -> None:
    """Refuse what Python could not run.

    Raises:
        UsageError: the file or module is missing or is no Python; the text says what to do.
    """
    try:
        os.getcwd()
    except OSError:
        raise UsageError(
            "the working directory does not exist any more; change to one that does"
        ) from None
    if target.kind is TargetKind.SCRIPT:
        _check_script(target.name)
    else:
        _check_module(target.name)


def _check_script(path: str) -> None:
    """Accept `*.py`, and any other file whose first line calls for Python."""
    if os.path.isdir(path):
        raise UsageError(
            f"{path}: is a directory, not a script; name a file in it, "
            "or run a package with: proton --module PACKAGE"
        )
    try:
        with open(path, "rb") as file:
            start = file.read(200)
    except FileNotFoundError:
        raise UsageError(_missing(path)) from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{path!r}: no file can have this name") from None
    if path.endswith(_SUFFIXES):
        return
    first_line = start.split(b"\n", 1)[0]
    if not (first_line.startswith(b"#!") and b"python" in first_line):
        raise UsageError(
            f"{path}: is not a Python file (its name does not end in .py and its first line does "
            "not start Python); only Python programs can be profiled"
        )


def _missing(path: str) -> str:
    """Why there is no such script, and what may have been meant."""
    if path.isidentifier() and importlib.util.find_spec(path) is not None:
        return f"{path}: no such file; to run the module of that name: proton --module {path}"
    if "/" not in path and not path.endswith(_SUFFIXES):
        return (
            f"{path}: no such file; a target is a script, 'pytest' or '--module MODULE' "
            f"(working directory: {os.getcwd()})"
        )
    return f"{path}: no such file (working directory: {os.getcwd()}); check the path"


def _check_module(name: str) -> None:
    """Look for the top package only: what lies below may need it imported, which is the run's."""
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(
            f"{name!r} is not a module name; write it as in: proton --module package.module "
            "(a file is run without --module)"
        )
    if top in sys.modules:
        return
    added = [] if sys.flags.safe_path else [os.getcwd()]
    sys.path[:0] = added
    try:
        found = importlib.util.find_spec(top)
    finally:
        del sys.path[: len(added)]
    if found is None:
        raise UsageError(no_module(name))


def no_module(name: str) -> str:
    """The text for a module that does not exist."""
    if name == "pytest":
        return f"pytest is not installed in {sys.executable}; install it: pip install pytest"
    return (
        f"no module named {name!r} (working directory: {os.getcwd()}, "
        f"Python: {sys.executable}); check its name and the environment"
    )
