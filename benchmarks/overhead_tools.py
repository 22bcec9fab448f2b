"""The profilers that `overhead.py` compares, each behind the same three calls."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scope_cost import load_empty

BUFFER_KNOB = "TRITON_PROFILE_BUFFER_SIZE"


class Tool:
    """No profiler. `scope` is the class of its scopes; None where it has none."""

    scope: Any = None

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="overhead_")

    def start(self, *, is_graph_level: bool = False) -> None:
        """Record from now on."""

    def stop(self) -> None:
        """Record no more, and write what there is to write."""

    def file_bytes(self) -> int:
        """The size of what was written last."""
        paths = [path for path in Path(self.folder).iterdir() if path.is_file()]
        return sum(path.stat().st_size for path in paths)


class EmptyScopesTool(Tool):
    """No profiler, and an empty `with` where others have scopes."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = load_empty()


class FloorTool(Tool):
    """The least: our own program on CUPTI, and nothing above it; `extras` as in `Floor`."""

    def __init__(self, library: str, *, has_scopes: bool = False, **extras: Any) -> None:
        from floor.floor import Floor

        super().__init__()
        self._floor = Floor(library, libcupti(), **extras)
        self.scope = load_empty() if has_scopes else None

    def start(self, *, is_graph_level: bool = False) -> None:
        self._floor.start(is_graph_level=is_graph_level)

    def stop(self) -> None:
        self._floor.stop()


class ProtonTool(Tool):
    """Proton."""

    def __init__(
        self, output_format: str = "", *, buffer_bytes: int | None = None, **options: Any
    ) -> None:
        import proton

        super().__init__()
        self._proton, self._options, self._format = proton, options, output_format
        self._buffer_bytes = buffer_bytes
        self.scope = proton.scope

    def start(self, *, is_graph_level: bool = False) -> None:
        name = os.path.join(self.folder, "profile")
        mode = "graphs=graph" if is_graph_level else None
        if self._buffer_bytes is not None:
            os.environ[BUFFER_KNOB] = str(self._buffer_bytes)
        try:
            self._proton.start(name, backend="cupti", mode=mode, **self._options)
        finally:
            os.environ.pop(BUFFER_KNOB, None)

    def stop(self) -> None:
        self._proton.finalize(output_format=self._format)


class ScopesTool(Tool):
    """Proton's scopes without CUPTI: in no session, or in one that no backend serves."""

    def __init__(self, *, has_session: bool = False) -> None:
        import proton
        from proton import _native

        super().__init__()
        self._make = _native.Session if has_session else None
        self._session: Any = None
        self.scope = proton.scope

    def start(self, *, is_graph_level: bool = False) -> None:
        if self._make is not None:
            self._session = self._make(0, context="shadow", data="tree")
            self._session.activate()

    def stop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class TritonTool(Tool):
    """The profiler inside Triton."""

    def __init__(self, **options: Any) -> None:
        import triton.profiler

        super().__init__()
        self._proton, self._options = triton.profiler, options
        self.scope = triton.profiler.scope

    def start(self, *, is_graph_level: bool = False) -> None:
        self._proton.start(os.path.join(self.folder, "profile"), **self._options)

    def stop(self) -> None:
        self._proton.finalize()


class TorchTool(Tool):
    """torch.profiler with host and device activities, as people use it; the trace is exported."""

    def __init__(self) -> None:
        import torch.profiler as profiler

        super().__init__()
        self._profiler = profiler
        self.scope = profiler.record_function
        self.exports = False

    def start(self, *, is_graph_level: bool = False) -> None:
        kinds = self._profiler.ProfilerActivity
        self._running = self._profiler.profile(activities=[kinds.CPU, kinds.CUDA])
        self._running.__enter__()

    def stop(self) -> None:
        self._running.__exit__(None, None, None)
        if self.exports:
            self._running.export_chrome_trace(os.path.join(self.folder, "trace.json"))
        self._running = None


def libcupti() -> str:
    """The libcupti that Proton takes here: the floor uses the same one."""
    from proton.backends.cupti.candidates import chosen_of, find_candidates
    from proton.runtime.environment import read_knobs

    chosen = chosen_of(find_candidates(read_knobs()))
    if chosen is None:
        raise RuntimeError("no libcupti found; see `proton doctor`")
    return chosen.path


def make_tools(floor_library: str) -> dict[str, Callable[[], Tool]]:
    """Name -> how it is made, in a process that has not touched CUDA."""
    return {
        "none": Tool,
        "floor": lambda: FloorTool(floor_library),
        "floor copies": lambda: FloorTool(floor_library, copies=True),
        "floor clock": lambda: FloorTool(floor_library, host_clock=True),
        "floor 4M": lambda: FloorTool(floor_library, buffer_bytes=4 << 20),
        "floor zeroed": lambda: FloorTool(floor_library, zeroed=True),
        "floor 4M zeroed": lambda: FloorTool(floor_library, buffer_bytes=4 << 20, zeroed=True),
        "floor peers": lambda: FloorTool(floor_library, peers=True),
        "floor resources": lambda: FloorTool(floor_library, resources=True),
        "floor, empty with": lambda: FloorTool(floor_library, has_scopes=True),
        "empty with": EmptyScopesTool,
        "scopes": ScopesTool,
        "scopes in a session": lambda: ScopesTool(has_session=True),
        "proton": ProtonTool,
        "proton 1M": lambda: ProtonTool(buffer_bytes=1 << 20),
        "proton python": lambda: ProtonTool(context="python"),
        "proton trace": lambda: ProtonTool("perfetto", data="trace"),
        "triton": TritonTool,
        "triton python": lambda: TritonTool(context="python"),
        "triton trace": lambda: TritonTool(data="trace"),
        "torch": TorchTool,
    }
