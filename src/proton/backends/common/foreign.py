"""Backends of other packages: entry points of the group `proton.backends`, loaded when chosen."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from proton.errors import BackendUnavailable

GROUP = "proton.backends"


def foreign_backends() -> dict[str, list[EntryPoint]]:
    """Name (lower case) -> the entry points of that name, one a package; loads none of them."""
    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name.lower(), []).append(point)
    return found


def load_foreign(name: str, methods: Sequence[str]) -> type:
    """The class that another package has for a backend of this name; there must be one.

    Args:
        name: In lower case.
        methods: What the class must have.

    Raises:
        BackendUnavailable: it cannot be loaded, is no such class, or several packages have one.
    """
    points = foreign_backends()[name]
    if len({point.value for point in points}) > 1:
        packages = " and ".join(sorted(map(_package_of, points)))
        raise _broken(name, f"{packages} both have one", "uninstall all but one of them")
    point = points[0]
    where = f"{_package_of(point)} ({point.value})"
    remedy = f"update or uninstall {_package_of(point)}"
    try:
        kind = point.load()
    except Exception as error:  # a stranger's code may raise anything
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise _broken(name, f"{where} cannot be loaded: {text}", remedy) from error
    missing = [each for each in methods if not callable(getattr(kind, each, None))]
    if not isinstance(kind, type) or missing:
        lacks = f"it has no {', '.join(missing)}" if missing else "it is no class"
        raise _broken(name, f"{where} is no backend: {lacks}", remedy)
    return kind


def _broken(name: str, reason: str, remedy: str) -> BackendUnavailable:
    return BackendUnavailable(name, reason=" ".join(reason.split()), remedy=remedy)


def _package_of(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module
