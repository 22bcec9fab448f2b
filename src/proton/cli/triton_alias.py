"""Makes `import triton.profiler` mean `proton`, so that unmodified scripts run under ours.

Used on the command line only. Triton itself is not imported by this: the alias answers when the
target asks for `triton.profiler` or anything below it, before or after it imported Triton.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_THEIRS = "triton.profiler"
_OURS = "proton"
# Names that are a module and, as attributes of the package, a class or function: importing the
# module must not put it in the place of the other.
_SHADOWED = ("scope", "state", "profile")


class _Alias(Loader):
    """Loads `triton.profiler.x` by handing out the module `proton.x`."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__  # the import system is about to put the alias's there
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
        if self._ours == _OURS:
            _alias_shadowed(module)


class TritonProfilerFinder(MetaPathFinder):
    """Finds `triton.profiler` and all below it in `proton`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that stands for our module of the same place, or None for other names.

        Raises:
            ModuleNotFoundError: we have no such module. None would let the import system look in
                our folder and load a second copy of a module under Triton's name.
        """
        if fullname != _THEIRS and not fullname.startswith(f"{_THEIRS}."):
            return None
        ours = _OURS + fullname[len(_THEIRS) :]
        if importlib.util.find_spec(ours) is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r} (under proton it stands for {ours!r}, which does "
                "not exist)",
                name=fullname,
            )
        return ModuleSpec(fullname, _Alias(ours), is_package=False)


def install() -> None:
    """Put the alias in front; a second call does nothing."""
    if any(isinstance(finder, TritonProfilerFinder) for finder in sys.meta_path):
        return
    _forget_modules()
    sys.meta_path.insert(0, TritonProfilerFinder())


def remove() -> None:
    """Take the alias away: the next `import triton.profiler` finds Triton's own."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, TritonProfilerFinder)]
    _forget_modules()


def _forget_modules() -> None:
    """Drop whatever now answers to Triton's names, modules and the attribute of `triton`."""
    for name in [n for n in sys.modules if n == _THEIRS or n.startswith(f"{_THEIRS}.")]:
        del sys.modules[name]
    triton = sys.modules.get("triton")
    if triton is not None and "profiler" in vars(triton):
        delattr(triton, "profiler")


def _alias_shadowed(package: ModuleType) -> None:
    for name in _SHADOWED:
        ours = f"{_OURS}.{name}"
        if importlib.util.find_spec(ours) is None:
            continue
        attribute = getattr(package, name, None)
        sys.modules[f"{_THEIRS}.{name}"] = importlib.import_module(ours)
        if attribute is not None:
            setattr(package, name, attribute)
