"""Runs a target as `__main__` of this process, as the interpreter itself would.

What the target sees (`sys.argv`, `sys.path`, `__main__`) and what the user sees of its end
(traceback, exit status) is what `python script.py` or `python -m module` gives. Nothing is put
back afterwards: threads and exit handlers of the target still live in its `__main__`.
"""

from __future__ import annotations

import builtins
import io
import os
import runpy
import sys
from importlib.machinery import BuiltinImporter, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from proton.cli.arguments import Target, TargetKind
from proton.cli.target import no_module

# runpy's own entry for `python -m`: the interpreter calls it by this name, and its frames belong
# to the tracebacks of modules.
_run_module_as_main: Any = vars(runpy)["_run_module_as_main"]
_RunpyError: type[Exception] = vars(runpy)["_Error"]


def run_as_main(target: Target) -> str | None:
    """Run the target to its end; the reason when there was no such module to run.

    Whatever the target raises comes out, and is shown with the target's own frames only.
    """
    try:
        if target.kind is TargetKind.SCRIPT:
            _enter_script(target)
            exec(_read_code(target.name), sys.modules["__main__"].__dict__)
        else:
            _enter_module(target)
            _run_module_as_main(target.name, alter_argv=True)
    except SystemExit as error:
        if isinstance(error.__context__, _RunpyError) and target.kind is TargetKind.MODULE:
            return _refusal(target.name, error.__context__)
        raise
    except BaseException as error:
        _hide_our_frames(error)
        raise
    return None


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


def _new_main(loader: Any) -> ModuleType:
    """A fresh `__main__`, with the names that Python gives it, in their order."""
    global _our_main
    _our_main = sys.modules["__main__"]
    main = ModuleType("__main__")
    main.__loader__ = loader
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

    def show_own_frames(kind: type[BaseException], value: BaseException, whole: Any) -> None:
        if value is error:
            whole = traceback
            value = value.with_traceback(traceback)
            sys.last_traceback = traceback
        show(kind, value, whole)

    sys.excepthook = show_own_frames
