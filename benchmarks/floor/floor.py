"""Builds `floor.cpp` and drives it: the least that tracing kernels with CUPTI can cost."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parents[1] / "src" / "native"


def build() -> str:
    """Compile it into a temporary folder; the library's path."""
    library = os.path.join(tempfile.mkdtemp(prefix="floor_"), "libfloor.so")
    command = ["g++", "-std=c++20", "-O2", "-fPIC", "-shared", f"-I{NATIVE}"]
    subprocess.run([*command, str(HERE / "floor.cpp"), "-o", library, "-ldl"], check=True)
    return library


class Floor:
    """One use of the library, with tables and buffers of its own; `stop` tells what was seen.

    It holds CUPTI from `start` to `stop`, so that others may have it meanwhile. `copies`,
    `host_clock`, `zeroed`, `resources` and `peers` ask more of CUPTI than the floor needs, as
    profilers do. The host clock stays for the rest of the process.
    """

    def __init__(
        self,
        library: str,
        cupti: str,
        *,
        buffer_bytes: int = 1 << 20,
        copies: bool = False,
        host_clock: bool = False,
        zeroed: bool = False,
        resources: bool = False,
        peers: bool = False,
    ) -> None:
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as own:
            shutil.copyfile(library, own.name)
        self._library = ctypes.CDLL(own.name)
        os.unlink(own.name)
        self._extras = 2 * copies + 4 * host_clock + 8 * zeroed + 16 * resources + 32 * peers
        size = ctypes.c_uint64(buffer_bytes)
        self._check("floor_open", self._library.floor_open(cupti.encode(), size))

    def start(self, *, is_graph_level: bool = False) -> None:
        """Trace from now on."""
        self._check("floor_start", self._library.floor_start(self._extras + is_graph_level))

    def stop(self) -> dict[str, int]:
        """Trace no more."""
        counts = (ctypes.c_uint64 * 3)()
        self._check("floor_stop", self._library.floor_stop(counts))
        return dict(zip(("kernels", "graphs", "unmatched"), counts, strict=True))

    def _check(self, call: str, result: int) -> None:
        if result != 0:
            raise RuntimeError(f"{call} failed with {result}")
