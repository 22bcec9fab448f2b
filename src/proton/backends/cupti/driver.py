"""What the kernel and the file system say about the NVIDIA driver. Loads no library of it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from proton.backends.common.knobs import Knobs

CUDA_LIBRARY = "libcuda.so.1"
OLDEST_DRIVER = 525  # the first of CUDA 12
_CUDA_13_DRIVER = 580

_PROC = Path("/proc/driver/nvidia")
_DEV = Path("/dev")
_SELF = Path("/proc/self")
_CAPABILITIES = 1 << 21 | 1 << 38  # CAP_SYS_ADMIN, CAP_PERFMON
_LIBRARY_CACHE = Path("/etc/ld.so.cache")
# The loader's own folders, those of container tool kits, and that of Windows' Linux.
_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",
)


def text_of_file(path: Path) -> str:
    """What the kernel says in a file; empty where there is none, or it is not for us."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def version() -> str | None:
    """The kernel driver's version, `"580.95.05"`; None where no driver is loaded or it hides it."""
    text = text_of_file(_PROC / "version")
    found = re.search(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return found[1] if found else None


def newest_cuda(driver: str | None) -> int | None:
    """The newest major version of CUDA that a driver serves; None where it is not known."""
    if driver is None:
        return None
    major = int(driver.partition(".")[0])
    return 13 if major >= _CUDA_13_DRIVER else 12 if major >= OLDEST_DRIVER else 11


def devices() -> list[str]:
    """The GPUs' device files; `/dev/dxg` stands for those of Windows' Linux."""
    numbered = [path for path in _DEV.glob("nvidia[0-9]*") if path.name[6:].isdigit()]
    found = sorted(numbered, key=lambda path: int(path.name[6:]))
    return [str(path) for path in found] or [str(p) for p in (_DEV / "dxg",) if p.exists()]


def models() -> list[str]:
    """The names of the GPUs, as far as the driver shows them."""
    names = []
    for path in sorted(_PROC.glob("gpus/*/information")):
        if not (lines := text_of_file(path).splitlines()):
            continue
        named = (line.partition(":")[2].strip() for line in lines if line.startswith("Model:"))
        names.append(next(named, "NVIDIA GPU of unknown model"))
    return names


def find_library(folders: Sequence[str] = ()) -> str | None:
    """Where the loader would find the CUDA driver library, `folders` first; it is not loaded."""
    for folder in (*folders, *_LIBRARY_FOLDERS):
        path = os.path.join(folder, CUDA_LIBRARY)
        if folder and os.path.exists(path):
            return path
    for path in cached_libraries(CUDA_LIBRARY):
        if os.path.exists(path):
            return path
    return None


def cached_libraries(prefix: str) -> list[str]:
    """The paths in the loader's cache of libraries whose names start so."""
    try:
        content = _LIBRARY_CACHE.read_bytes()
    except OSError:
        return []
    found = re.findall(rb"/[^\0]*/" + re.escape(prefix.encode()) + rb"[^\0/]*(?=\0)", content)
    return list(dict.fromkeys(os.fsdecode(path) for path in found))


def is_profiling_restricted() -> bool | None:
    """Whether only administrators may read hardware counters; None where the driver does not say.

    Kernel timing needs no permission; sampling does.
    """
    text = text_of_file(_PROC / "params")
    found = re.search(r"^RmProfilingAdminOnly:\s*(\d+)", text, re.MULTILINE)
    return found[1] != "0" if found else None


def is_privileged() -> bool:
    """Whether this process may sample where only administrators may.

    Root of a container often may not: capabilities count, and only those of the machine itself.
    """
    status = text_of_file(_SELF / "status")
    users = text_of_file(_SELF / "uid_map").split()
    if not (status and users):
        return os.geteuid() == 0
    found = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    is_own_machine = users[:2] == ["0", "0"] and users[2:3] == ["4294967295"]
    return found is not None and is_own_machine and bool(int(found[1], 16) & _CAPABILITIES)


def why_no_gpu(knobs: Knobs) -> str | None:
    """Why kernels of this process cannot be on an NVIDIA GPU; None: they can."""
    if knobs.interprets:
        return "TRITON_INTERPRET is set, so kernels are interpreted"
    if knobs.cuda_library is not None:
        return None
    if knobs.hides_devices:
        return "CUDA_VISIBLE_DEVICES hides every GPU"
    if not devices():
        return "there is no NVIDIA GPU"
    if find_library(knobs.library_folders) is None:
        return f"a GPU is there, but no {CUDA_LIBRARY}"
    return None
