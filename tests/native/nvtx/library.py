"""Builds the module that uses NVTX (module.cpp), and calls it from Python.

`Nvtx(copy, holds_lock=...)` is one such module: ctypes either keeps the GIL during a call, as
bindings of Python packages do, or gives it up, as libraries do that call NVTX from C++.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.native.fake_cuda.driver import find_compiler

SOURCE = Path(__file__).parent / "module.cpp"
NATIVE = SOURCE.parents[3] / "src" / "native"
CACHE = SOURCE.parents[3] / "build" / "nvtx_module"


def build_module() -> Path:
    """The module's library, built once per change of its source.

    Raises:
        FileNotFoundError: there is no C++ compiler.
    """
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (c++, g++ or clang++, or name one in CXX)")
    content = SOURCE.read_bytes() + (NATIVE / "nvtx" / "abi.h").read_bytes()
    library = CACHE / f"nvtx_module_{hashlib.sha256(content).hexdigest()[:16]}.so"
    if not library.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{id(content)}.partial")
        command = [compiler, "-std=c++20", "-O2", "-fPIC", "-shared", "-pthread", f"-I{NATIVE}"]
        subprocess.run([*command, str(SOURCE), "-o", str(partial)], check=True, timeout=100)
        partial.replace(library)
    return library


class Attributes(ctypes.Structure):
    """`nvtxEventAttributes_t` with an ASCII message and a whole number for a payload."""

    _fields_ = (
        ("version", ctypes.c_uint16),
        ("size", ctypes.c_uint16),
        ("category", ctypes.c_uint32),
        ("color_type", ctypes.c_int32),
        ("color", ctypes.c_uint32),
        ("payload_type", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("payload", ctypes.c_int64),
        ("message_type", ctypes.c_int32),
        ("message", ctypes.c_char_p),
    )


class Nvtx:
    """One module that uses NVTX; a copy of the file in `folder` is a module of its own."""

    def __init__(self, folder: Path, *, holds_lock: bool) -> None:
        path = folder / f"module_{holds_lock}.so"
        shutil.copy(build_module(), path)
        kind = ctypes.PyDLL if holds_lock else ctypes.CDLL
        self._library = kind(str(path))
        for name in ("nvtxDomainCreateA", "nvtxDomainRegisterStringA"):
            getattr(self._library, name).restype = ctypes.c_void_p
        for name in ("nvtxRangeStartA", "nvtxDomainRangeStartEx"):
            getattr(self._library, name).restype = ctypes.c_uint64

    def push(self, name: str) -> int:
        """Begin a range of the default domain; its level."""
        return int(self._library.nvtxRangePushA(name.encode()))

    def pop(self) -> int:
        """End it."""
        return int(self._library.nvtxRangePop())

    def push_ex(self, name: str, *, domain: int = 0, payload: int = 0, category: int = 0) -> int:
        """Begin a range with attributes."""
        event = Attributes(3, ctypes.sizeof(Attributes), category)
        event.payload_type, event.payload = 2, payload
        event.message_type, event.message = 1, name.encode()
        call = self._library.nvtxDomainRangePushEx
        return int(call(ctypes.c_void_p(domain), ctypes.byref(event)))

    def domain_pop(self, domain: int) -> int:
        """End a range of a domain."""
        return int(self._library.nvtxDomainRangePop(ctypes.c_void_p(domain)))

    def domain(self, name: str) -> int:
        """The handle of a domain."""
        return int(self._library.nvtxDomainCreateA(name.encode()))

    def name_category(self, number: int, name: str) -> None:
        """Name a category of the default domain."""
        self._library.nvtxNameCategoryA(number, name.encode())

    def start(self, name: str) -> int:
        """Begin a range that any thread may end."""
        return int(self._library.nvtxRangeStartA(name.encode()))

    def end(self, started: int) -> None:
        """End it."""
        self._library.nvtxRangeEnd(ctypes.c_uint64(started))

    def mark(self, name: str) -> None:
        """Mark a moment."""
        self._library.nvtxMarkA(name.encode())
