"""The profilers that `in_kernel.py` compares, each behind the same calls."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from overhead_tools import Tool, TritonTool

MODES = {
    "scope": "default",
    "records": "default:buffer_size=16384",  # of a CTA of 8 warps: room for 256 records each
    "cta": "cta",
    "memory": "memory",
}


class Recording(Tool):
    """Proton's instrumentation; knows what the last profile says of a kernel."""

    def __init__(self, mode: str) -> None:
        import proton

        super().__init__()
        self._proton, self._mode = proton, mode
        self._name = os.path.join(self.folder, "profile")

    def start(self, *, is_graph_level: bool = False) -> None:
        self._proton.start(self._name, backend="instrumentation", mode=self._mode)

    def stop(self) -> None:
        self._proton.finalize()

    def entries(self, kernel: str) -> list[dict[str, Any]]:
        """What the last profile says of a kernel.

        Raises:
            RuntimeError: the kernel was not recorded at all, which would flatter the figures.
        """
        header = json.loads(Path(f"{self._name}.hatchet").read_text())[0]["proton"]
        entries = [each for each in header.get("in_kernel", []) if each["kernel"] == kernel]
        if not any(
            each["launches"] and (each["recorded_warps"] or each["heat"]) for each in entries
        ):
            raise RuntimeError(
                f"{kernel} was not recorded in mode {self._mode!r}: {header.get('warnings')}"
            )
        return entries


class KnownTool(TritonTool):
    """triton.profiler's instrumentation, with scopes in Triton's own language switched on."""

    def __init__(self) -> None:
        import triton.profiler.language as language

        super().__init__(backend="instrumentation")
        language.enable_semantic("triton")


def make_tool(name: str) -> Tool:
    """A tool by name; `none` is no profiler."""
    if name == "triton":
        return KnownTool()
    return Recording(MODES[name]) if name in MODES else Tool()
