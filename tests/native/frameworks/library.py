"""Builds the observer of torch as a library (module.cpp), and calls it from Python.

Contexts are those of the host in host.h: `observer.path(context)` reads one as text.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.native.fake_cuda.driver import find_compiler

FOLDER = Path(__file__).parent
NATIVE = FOLDER.parents[2] / "src" / "native"
CACHE = FOLDER.parents[2] / "build" / "torch_observer"
OFF, BLAME, OPS = range(3)


def build_module() -> Path:
    """The library, built once per change of its sources.

    Raises:
        FileNotFoundError: there is no C++ compiler.
    """
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (c++, g++ or clang++, or name one in CXX)")
    room = NATIVE / "frameworks" / "torch"
    sources = [
        FOLDER / "module.cpp",
        NATIVE / "base" / "tick_clock.cpp",
        *sorted(room.glob("*.cpp")),
    ]
    headers = [FOLDER / "host.h", *sorted(room.glob("*.h")), *sorted((NATIVE / "base").glob("*.h"))]
    content = b"".join(path.read_bytes() for path in [*sources, *headers])
    library = CACHE / f"observer_{hashlib.sha256(content).hexdigest()[:16]}.so"
    if not library.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{id(content)}.partial")
        command = [compiler, "-std=c++20", "-O3", "-fPIC", "-shared", "-pthread", f"-I{NATIVE}"]
        command += ["-fvisibility=hidden", f"-I{FOLDER}"]
        subprocess.run([*command, *map(str, sources), "-o", str(partial)], check=True, timeout=300)
        partial.replace(library)
    return library


class Sum(NamedTuple):
    """Calls of an operator in one context."""

    path: str
    kind: str
    calls: int
    time_ns: int


class Counts(NamedTuple):
    """What the observer counts of backward passes."""

    backward_nodes: int
    backward_launches: int
    backward_by_neighbour: int
    unknown_forward: int


class Observer:
    """The observer in this process, attached to the torch that is loaded."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._library = library = ctypes.PyDLL(str(build_module()))
        for name in ("open_torch", "attach", "path"):
            getattr(library, name).restype = ctypes.c_char_p
        for name in ("thread_id", "take_sums", "add_empty"):
            getattr(library, name).restype = ctypes.c_uint64
        for name in ("context", "here"):
            getattr(library, name).restype = ctypes.c_uint32
        path = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
        self._check(library.open_torch(str(path).encode()))
        self.places = self._calibrate()

    @staticmethod
    def _check(error: bytes | None) -> None:
        if error is not None:
            raise RuntimeError(error.decode())

    def _calibrate(self) -> tuple[int, int]:
        torch, library = self._torch, self._library
        one, two = torch.ones((), requires_grad=True), torch.ones(())
        library.watch_numbers()
        for _ in range(16):
            one * two
            one + two
        library.stop_watching()
        made: list[tuple[int, Any]] = []
        for _ in range(3):
            thread = threading.Thread(
                target=lambda: made.append((int(library.thread_id()), one * two))
            )
            thread.start()
            thread.join()
        for thread_id, product in made:
            node = product.grad_fn
            library.watch_node(ctypes.c_uint64(thread_id), ctypes.c_uint64(node._sequence_nr()))
            node(two)
            library.stop_watching()
        number, forward_thread = ctypes.c_uint64(), ctypes.c_uint64()
        self._check(library.attach(ctypes.byref(number), ctypes.byref(forward_thread)))
        return number.value, forward_thread.value

    def set_tier(self, tier: int) -> None:
        """Observe nothing, backward nodes, or operators too."""
        self._library.set_tier(tier)

    def clear(self) -> None:
        """Forget sums, numbers and counts."""
        self._library.clear()

    def reset_after_fork(self) -> None:
        """As a forked child does."""
        self._library.reset_after_fork()

    def context(self) -> str:
        """The path where a launch of this thread belongs; `?`: nowhere."""
        return self.path(self._library.context())

    def note_launch(self) -> None:
        """A launch of this thread, where it is now."""
        self._library.note_launch(ctypes.c_uint32(self._library.here()))

    def path(self, context: int) -> str:
        """A context as text."""
        return bytes(self._library.path(ctypes.c_uint32(context))).decode()

    @contextmanager
    def frame(self, name: str) -> Iterator[None]:
        """A frame of the program on this thread."""
        self._library.enter(ord("p"), name.encode())
        try:
            yield
        finally:
            self._library.leave()

    def take_sums(self) -> list[Sum]:
        """What was added up since the last call."""
        sums = []
        for at in range(self._library.take_sums()):
            context, calls, time_ns = ctypes.c_uint32(), ctypes.c_uint64(), ctypes.c_int64()
            references = (ctypes.byref(value) for value in (context, calls, time_ns))
            self._library.read_sum(ctypes.c_size_t(at), *references)
            kind = chr(self._library.kind(context))
            sums.append(Sum(self.path(context.value), kind, calls.value, time_ns.value))
        return sorted(sums)

    def counts(self) -> Counts:
        """Of backward passes, since the last `clear`."""
        values = (ctypes.c_uint64 * 4)()
        self._library.counts(values)
        return Counts(*values)

    def add_empty(self, scope: int) -> int:
        """Register an observer that does nothing, switched off; its handle."""
        return int(self._library.add_empty(scope))

    def switch_empty(self, handle: int, *, is_on: bool) -> None:
        """Switch it."""
        self._library.switch_empty(ctypes.c_uint64(handle), int(is_on))
