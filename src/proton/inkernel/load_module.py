"""Passes and tools of one's own, out of a module that somebody names on a command line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from proton.errors import UsageError
from proton.inkernel.modes.mode_table import MODES
from proton.inkernel.passes import register_pass, registered_passes


def load_passes(name: str) -> tuple[str, ...]:
    """Import a module and make the passes in it known; their names, and those of its tools.

    Args:
        name: `package.module`, also below the current folder, or the path of a `.py` file.

    Raises:
        UsageError: it cannot be imported, or has none; or one of them is wrong.
    """
    before = {*registered_passes(), *MODES}
    module = _import(name)
    own = [kind for kind in vars(module).values() if _is_pass(kind, module.__name__)]
    found = [register_pass(kind) for kind in own]
    found += [each for each in (*registered_passes(), *MODES) if each not in {*before, *found}]
    if not found:
        raise UsageError(
            f"{name}: has no pass; a pass is a frozen dataclass with name, level and apply(module)"
        )
    return tuple(found)


def _is_pass(kind: object, module: str) -> bool:
    is_own = isinstance(kind, type) and kind.__module__ == module
    return is_own and all(hasattr(kind, each) for each in ("name", "level", "apply"))


def _import(name: str) -> ModuleType:
    try:
        if name.endswith(".py"):
            return _import_file(Path(name))
        if "" not in sys.path:
            sys.path.insert(0, "")  # a command has its own folder there
        return importlib.import_module(name)
    except UsageError:
        raise
    except Exception as error:  # a stranger's code may raise anything
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise UsageError(f"{name}: cannot be imported: {text}") from error


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"proton_loaded_{path.stem}", path)
    assert spec is not None  # the name ends with .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # as for a script: it may import its neighbours
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
