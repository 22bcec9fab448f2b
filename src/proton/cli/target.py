"""What is profiled: whether it can be run at all, and running it as `__main__` of this process.

What the target sees (`sys.argv`, `sys.path`, `__main__`) and what the user sees of its end
(traceback, exit status) is what `python script.py` or `python -m module` gives. Nothing is put
back afterwards: threads and exit handlers of the target still live in its `__main__`.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from proton.errors import UsageError, did_you_mean

_SUFFIXES = (".py", ".pyw")
# runpy's own entry for `python -m`: the interpreter calls it by this name, and its frames belong
# to the tracebacks of modules.
_run_module_as_main: Callable[..., object] = vars(runpy)["_run_module_as_main"]
_RunpyError: type[Exception] = vars(runpy)["_Error"]


@dataclass(frozen=True, slots=True)
class Target:
    """A script's path or a module's name (pytest is one), and the arguments it gets."""

    name: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False

    def check(self) -> None:
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
        if not self.is_module:
            _check_script(self.name)
        else:
            _check_module(self.name)

    def run_as_main(self) -> str | None:
        """Run the target to its end; the reason when there was no such module to run.

        Whatever the target raises comes out, and is shown with the target's own frames only.
        """
        try:
            if not self.is_module:
                _enter_script(self)
                exec(_read_code(self.name), sys.modules["__main__"].__dict__)
            else:
                _enter_module(self)
                _run_module_as_main(self.name, alter_argv=True)
        except SystemExit as error:
            if isinstance(error.__context__, _RunpyError) and self.is_module:
                return _refusal(self.name, error.__context__)
            raise
        except BaseException as error:
            _hide_our_frames(error)
            raise
        return None


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
    from proton.cli.parser import COMMANDS

    if path in COMMANDS:
        return f"{path}: no such file; the command {path!r} is not written after '--'"
    if path.isidentifier() and importlib.util.find_spec(path) is not None:
        return f"{path}: no such file; to run the module of that name: proton --module {path}"
    if "/" not in path and not path.endswith(_SUFFIXES):
        return (
            f"{path}: no such file{did_you_mean(path, COMMANDS)}; a target is a script, 'pytest' "
            f"or '--module MODULE' (working directory: {os.getcwd()})"
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
        spec = importlib.util.find_spec(top)
    finally:
        del sys.path[: len(added)]
    if spec is None:
        raise UsageError(no_module(name))


def no_module(name: str) -> str:
    """The text for a module that does not exist."""
    if name == "pytest":
        return f"pytest is not installed in {sys.executable}; install it: pip install pytest"
    return (
        f"no module named {name!r} (working directory: {os.getcwd()}, "
        f"Python: {sys.executable}); check its name and the environment"
    )


def _enter_script(target: Target) -> None:
    path = absolute(target.name)
    sys.argv = [target.name, *target.arguments]
    _set_first_path(os.path.dirname(os.path.realpath(path)))
    main = _new_main(SourceFileLoader("__main__", path))
    main.__file__ = path
    main.__dict__["__cached__"] = None


def _enter_module(target: Target) -> None:
    sys.argv = ["-m", *target.arguments]  # runpy puts the module's path in once it knows it
    _set_first_path(os.getcwd())
    _new_main(BuiltinImporter)


def _new_main(loader: object) -> ModuleType:
    """A fresh `__main__`, with the names that Python gives it, in their order."""
    global _our_main
    _our_main = sys.modules["__main__"]
    main = ModuleType("__main__")
    main.__dict__["__loader__"] = loader
    main.__spec__ = None
    main.__annotations__ = {}
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


_our_main: ModuleType | None = None  # kept alive: the frames below the target's are its


def absolute(path: str) -> str:
    """The path as Python makes a script's path absolute: joined, not normalised."""
    return path if os.path.isabs(path) else f"{os.getcwd().rstrip('/')}/{path}"


def _set_first_path(folder: str) -> None:
    """Put the target's folder where Python put ours; with -P it put none."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _read_code(path: str) -> CodeType:
    path = absolute(path)
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _refusal(name: str, error: BaseException) -> str:
    text = str(error)
    if text.startswith("No module named") and "__main__" not in text:
        return no_module(name)
    return f"module {name!r} cannot be run: {text}"


def _hide_our_frames(error: BaseException) -> None:
    """Have the error shown from the target's first frame on, by the hook the target would have.

    The error itself goes on to the interpreter, which alone can end a process as an interrupt
    does; on the way it gathers our frames, so they are taken off when it is about to be shown.
    """
    show = sys.excepthook
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_globals is globals():
        traceback = traceback.tb_next

    def show_own_frames(
        kind: type[BaseException], value: BaseException, whole: TracebackType | None
    ) -> None:
        if value is error:
            whole = traceback
            value = value.with_traceback(traceback)
            sys.last_traceback = traceback
        show(kind, value, whole)

    sys.excepthook = show_own_frames
