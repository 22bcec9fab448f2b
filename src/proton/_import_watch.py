"""Tells when the program imports a module, without importing it.

A meta path finder that lets every other finder do the work.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importlib.abc loads inspect and more


class ImportWatch:
    """Callbacks to run once `name` has been imported. Sits in sys.meta_path only while waiting."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._callbacks: list[Callable[[], None]] = []
        self._is_looking = False

    def add(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Wait for the import; the returned function stops waiting."""
        self._callbacks.append(callback)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

        def cancel() -> None:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
            if not self._callbacks:
                self._leave()

        return cancel

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec that the other finders find, with a loader that reports to us."""
        if fullname != self._name or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _ReportingLoader(spec.loader, self._on_imported)
        return spec

    def _on_imported(self) -> None:
        self._leave()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def _leave(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


class _ReportingLoader(Loader):
    """Loads by another loader, then hands the module back to it and reports."""

    def __init__(self, loader: Loader, on_imported: Callable[[], None]) -> None:
        self._loader = loader
        self._on_imported = on_imported

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._on_imported()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
