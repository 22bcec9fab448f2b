"""Sessions of the native core in tests: made, fed with kernels, and read back from their bytes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from proton._native import Session

MakeSession = Callable[..., Session]
DEVICE: dict[str, Any] = {"device_type": "CPU", "device_id": 0}


def root_of(session: Session, phase: int = 0) -> dict[str, Any]:
    """The root node as it is written."""
    root: dict[str, Any] = json.loads(session.serialize("hatchet", phase, {}))[0]
    return root


def tree_of(session: Session, phase: int = 0) -> dict[str, dict[str, Any]]:
    """Path -> metrics, for every node but the root."""
    found: dict[str, dict[str, Any]] = {}
    pending = [("", child) for child in root_of(session, phase)["children"]]
    while pending:
        above, node = pending.pop(0)
        path = above + node["frame"]["name"]
        assert path not in found
        found[path] = node["metrics"]
        pending += [(path + "/", child) for child in node["children"]]
    return found


def launch(session: Session, name: str = "kernel", time_ns: int = 10, **metrics: Any) -> None:
    """Report one kernel from the calling thread."""
    session.on_kernel(name, 100, 100 + time_ns, metrics=metrics or None, **DEVICE)


def run_thread(function: Callable[[], None]) -> None:
    """Run `function` in a thread of its own and raise what it raised."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
