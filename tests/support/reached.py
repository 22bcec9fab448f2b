"""A pytest plugin: every public function of a room must run in the unit tests of that room.

A room is a folder of src/proton. What stands beside the rooms (the doors to Triton and torch, the
public API) may be reached from any unit test. `tools.matrix` loads the plugin with
`-p tests.support.reached` on Python 3.12 or later, whose sys.monitoring reports the first call of a
function and no other, so that it costs little. UNREACHED lists the exceptions.
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
_TORCH = "needs torch, which these environments do not have"
_HATCHET = "needs hatchet, which these environments do not have"
_PROCESS = "runs in a process of its own, which the tests start"
_CHILD = "runs in a forked child"
_IMPORT = "runs when its module is imported"
# Function -> why no test of its room calls it here.
UNREACHED: dict[str, str] = {
    "_torch.py:is_imported": _TORCH,
    "_torch.py:version": _TORCH,
    "_torch.py:is_on_cuda": _TORCH,
    "_torch.py:elements": _TORCH,
    "_torch.py:open_observer": _TORCH,
    "_torch.py:module_call": _TORCH,
    "_torch.py:current_stream": _TORCH,
    "_torch.py:zeroed_buffer": _TORCH,
    "_torch.py:synchronize": _TORCH,
    "_torch.py:bytes_of": _TORCH,
    "_triton/__init__.py:cache_folder": "tests/integration/test_cupti_sampling.py calls it",
    "_triton/__init__.py:end_on_parse_error": _PROCESS,
    "_triton/compiler.py:finish": _PROCESS,
    "backends/cupti/sampling_probe.py:answer": _PROCESS,
    "backends/instrumentation/calibration_kernel.py:known_regions": "a kernel",
    "backends/instrumentation/calibration_kernel.py:work": "a function of kernels",
    "cli/children.py:follow_children": _PROCESS,
    "cli/children.py:leave_children_alone": _PROCESS,
    "cli/children.py:start_child": _PROCESS,
    "inkernel/compiler/instrument.py:forget_locks": _CHILD,
    "inkernel/compiler/subprocess_compile.py:try_file": _PROCESS,
    "inkernel/dsl.py:builtin": _IMPORT,
    "runtime/background.py:follow_forks": _IMPORT,
    "runtime/command_line.py:call_at_signal": _PROCESS,
    "runtime/tensor_metrics.py:read_device": _TORCH,
    "viewer.py:apply_diff_profile": _HATCHET,
    "viewer.py:derive_metrics": _HATCHET,
    "viewer.py:filter_frames": _HATCHET,
    "viewer.py:format_frames": _HATCHET,
    "viewer.py:get_min_time_bytes": _HATCHET,
    "viewer.py:get_min_time_flops": _HATCHET,
    "viewer.py:get_raw_metrics": _HATCHET,
    "viewer.py:match_available_metrics": _HATCHET,
    "viewer.py:parse": _HATCHET,
    "viewer.py:print_tree": _HATCHET,
    "viewer.py:read": _HATCHET,
    "viewer.py:remove_frames": _HATCHET,
    "viewer.py:show_metrics": _HATCHET,
}

_TOOL = 4  # of sys.monitoring; coverage and debuggers have others
_OUTPUT = "reached_functions"
_ANY = "*"  # the room of all tests, those outside tests/unit too


def room_of(parts: tuple[str, ...]) -> str:
    """The room that a path in the package or in tests/unit belongs to, "" for none."""
    return parts[0] if len(parts) > 1 and not parts[0].startswith("_") else ""


def public_functions(package: Path) -> Iterator[tuple[str, str]]:
    """Room and `path:name` of each function that other modules may call.

    What `functools.cache` remembers runs once in a process, in whichever test comes first: it is of
    no room.
    """
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                if "jit" in decorators:
                    continue  # compiled, never called
                room = _ANY if "cache" in decorators else room_of(name.parts)
                yield room, f"{name.as_posix()}:{node.name}"


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
        is_unit = test.is_relative_to(UNIT)
        room = room_of(test.relative_to(UNIT).parts) if is_unit else None
        if room != self._room:
            self._room = room
            self._monitoring.restart_events()

    def _on_start(self, code: CodeType, _offset: int) -> object:
        if code.co_filename.startswith(self._prefix):
            name = f"{code.co_filename[len(self._prefix) :]}:{code.co_name}"
            self.by_room[_ANY].add(name)
            if self._room is not None:
                self.by_room[self._room].add(name)
        return self._monitoring.DISABLE

    def missing(self) -> list[str]:
        """Public functions that no test of their room called, and wrong entries of the list."""
        in_units = (names for room, names in self.by_room.items() if room != _ANY)
        anywhere = set().union(*in_units)
        functions = dict.fromkeys(UNREACHED, "is listed, but there is no such function")
        for room, name in public_functions(self.package):
            is_reached = name in (self.by_room[room] if room else anywhere)
            functions[name] = "" if is_reached or name in UNREACHED else "is called by no test"
        return [f"{name} {problem}" for name, problem in functions.items() if problem]


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


@pytest.hookimpl(optionalhook=True)  # of xdist
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
        print("\npublic functions and the unit tests of their room:", *missing, sep="\n  ")
