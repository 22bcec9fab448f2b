"""Asks a process of its own whether the GPU can be sampled, which only a CUDA context can tell.

Made in the program's own process, a context would break programs that fork before they use CUDA,
and cost them memory. Both sides are here: `ask` in the program, `answer` in the other process.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

LIMIT_S = 10.0
_KILL_LIMIT_S = 1.0  # a process that hangs in the driver may outlive even that
_CODE = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from proton.backends.cupti.sampling_probe import answer; answer(sys.argv[2:])"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of the question; with neither, the GPU can be sampled.

    Attributes:
        refusal: why it cannot be, and what to do.
        silence: why there is no answer.
    """

    refusal: str | None = None
    silence: str | None = None


def ask(libcupti: str, libcuda: str, helpers: Sequence[str]) -> Verdict:
    """Whether device 0 can be sampled with these libraries; takes `LIMIT_S` at most."""
    if "python" not in os.path.basename(sys.executable or "").lower():
        return Verdict(silence=f"{sys.executable!r} is no Python that could be started for it")
    # without site packages and PYTHONPATH nothing there starts a profiler or imports anything
    command = [sys.executable, "-I", "-S", "-c", _CODE, _package_root()]
    try:
        process = subprocess.Popen(
            [*command, libcupti, libcuda, *helpers],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        return Verdict(silence=f"no process could be started for it: {error}")
    try:
        answer, complaint = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_KILL_LIMIT_S)
        return Verdict(silence=f"the driver did not answer within {LIMIT_S:.0f} s")
    return _read(answer, complaint, process.returncode)


def answer(libraries: Sequence[str]) -> None:
    """In the other process: open libcupti, libcuda and the helpers, and print the answer."""
    from proton import _native

    libcupti, libcuda, *helpers = libraries
    for path in helpers:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    _native.Cupti.load(libcupti, libcuda)
    line = json.dumps({"refusal": _native.Cupti.probe_sampling()})
    os.write(1, f"\n{line}\n".encode())
    os._exit(0)  # the driver's own end would take longer than the question


def _read(answer: bytes, complaint: bytes, status: int) -> Verdict:
    lines = answer.decode(errors="replace").split("\n")
    try:
        refusal = json.loads(lines[-2])["refusal"]
    except (IndexError, ValueError, TypeError, KeyError):
        last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
        return Verdict(silence=f"the process for it ended with status {status}: {last!r}")
    return Verdict(refusal=refusal)


def _package_root() -> str:
    """The folder to import this package from."""
    return os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
