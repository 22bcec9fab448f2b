"""A pytest plugin: every public function of a room must run in tests/unit of that room.

Loaded with `-p tests.support.reached` by `make test-matrix` on Python 3.12 or later, whose
sys.monitoring tells of the first call of a function and of no other, so that it costs nothing.
Functions that run in processes of their own, or need what that environment lacks, are listed.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

UNIT = Path(__file__).parents[1] / "unit"
# Function -> why no test of its room calls it here.
UNREACHED: dict[str, str] = {}

_TOOL = 4  # of sys.monitoring; coverage and debuggers have others
_OUTPUT = "reached_functions"


def room_of(test: Path) -> str | None:
    """The room that a test file belongs to: a folder of tests/unit, or "" beside them."""
    if not test.is_relative_to(UNIT):
        return None
    parts = test.relative_to(UNIT).parts
    return parts[0] if len(parts) > 1 else ""


def public_functions(package: Path) -> Iterator[tuple[str, str]]:
    """Room and `path:name` of each function that other modules may call."""
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                if node.decorator_list and "jit" in ast.unparse(node.decorator_list[0]):
                    continue  # compiled, never called
                yield (
                    (name.parts[0] if len(name.parts) > 1 else ""),
                    f"{name.as_posix()}:{node.name}",
                )


class Reached:
    """Which functions of the package ran in tests of which room."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.by_room: dict[str, set[str]] = defaultdict(set)
        self._room: str | None = None
        self._prefix = f"{package}/"

    def start(self) -> None:
        """Begin to listen."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]  # from Python 3.12 on
        monitoring.use_tool_id(_TOOL, "proton reached")
        monitoring.register_callback(_TOOL, monitoring.events.PY_START, self._on_start)
        monitoring.set_events(_TOOL, monitoring.events.PY_START)
        self._monitoring = monitoring

    def enter(self, test: Path) -> None:
        """A test of that file begins."""
        if (room := room_of(test)) != self._room:
            self._room = room
            self._monitoring.restart_events()

    def _on_start(self, code: CodeType, _offset: int) -> object:
        if self._room is not None and code.co_filename.startswith(self._prefix):
            self.by_room[self._room].add(f"{code.co_filename[len(self._prefix) :]}:{code.co_name}")
        return self._monitoring.DISABLE

    def missing(self) -> list[str]:
        """Public functions that no test of their room called."""
        return [
            name
            for room, name in public_functions(self.package)
            if name not in self.by_room[room] and name not in UNREACHED
        ]


def pytest_configure(config: pytest.Config) -> None:
    """Listen in each process that runs tests."""
    spec = find_spec("proton")
    assert spec is not None
    assert spec.origin is not None
    config.stash[_KEY] = reached = Reached(Path(spec.origin).parent)
    reached.start()


_KEY = pytest.StashKey[Reached]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Calls from now on belong to the room of this test."""
    item.config.stash[_KEY].enter(item.path)


def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker saw."""
    for room, names in getattr(node, "workeroutput", {}).get(_OUTPUT, {}).items():
        node.config.stash[_KEY].by_room[room].update(names)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand on what this worker saw, or fail the run."""
    reached = session.config.stash[_KEY]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_OUTPUT] = {room: sorted(names) for room, names in reached.by_room.items()}
    elif missing := reached.missing():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("\nno test of their room calls these public functions:", *missing, sep="\n  ")
