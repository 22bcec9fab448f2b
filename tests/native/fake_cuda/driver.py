"""Builds the fake driver, once per change of its sources, and calls it from Python.

`build_driver` needs a C++ compiler; `FakeDriver` is the control side of `fake_cuda.h`.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCES = Path(__file__).parent
CACHE = SOURCES.parents[2] / "build" / "fake_cuda"
# version of CUDA -> what cuptiGetVersion says
VERSIONS = {"12.6": 24, "12.8": 26, "13.0": 130001, "13.4": 130401}
DEFAULT_VERSION = "13.0"
_FLAGS = ("-std=c++20", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-pthread")


def find_compiler() -> str | None:
    """The C++ compiler's path; None where there is none."""
    names = (os.environ.get("CXX"), "c++", "g++", "clang++")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def build_driver(version: str = DEFAULT_VERSION) -> Path:
    """A folder with the fake `libcupti.so.*` and `libcuda.so.1`: one library under both names.

    Raises:
        FileNotFoundError: there is no C++ compiler.
        subprocess.CalledProcessError: it does not compile; the text is on stderr.
    """
    compiler = find_compiler()
    if compiler is None:
        raise FileNotFoundError("no C++ compiler (c++, g++ or clang++, or name one in CXX)")
    sources = sorted(SOURCES.glob("*.cpp"))
    content = b"".join(path.read_bytes() for path in (*sources, *sorted(SOURCES.glob("*.h"))))
    key = hashlib.sha256(content + repr((compiler, _FLAGS)).encode()).hexdigest()[:16]
    folder = CACHE / key / version
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _build(compiler, version, folder)
    return folder


def _build(compiler: str, version: str, folder: Path) -> None:
    common = [SOURCES / f"{name}.cpp" for name in _COMMON]
    if VERSIONS[version] >= 26:
        common.append(SOURCES / "cupti_12_8_api.cpp")
    if VERSIONS[version] >= 130000:
        common.append(SOURCES / "cupti_13_api.cpp")
    objects = folder.parent / "objects"
    objects.mkdir(exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda source: _compile(compiler, source, objects), common))
    partial = folder.with_name(f"{version}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    define = f"-DFAKE_CUPTI_VERSION={VERSIONS[version]}"
    made.append(_compile(compiler, SOURCES / "version.cpp", partial, [define]))
    library = partial / "libfake_cuda.so"
    _run([compiler, "-shared", "-pthread", "-o", str(library), *map(str, made)])
    major = version.partition(".")[0]
    for name in (f"libcupti.so.{major}", "libcuda.so.1"):
        (partial / name).symlink_to(library.name)
    partial.rename(folder)


_COMMON = (
    "buffers",
    "callbacks",
    "control",
    "cubins",
    "cuda_api",
    "cupti_api",
    "events",
    "graphs",
    "memory",
    "modules",
    "null_profiler",
    "sampling",
    "work",
)


def _compile(compiler: str, source: Path, folder: Path, more: Sequence[str] = ()) -> Path:
    target = folder / f"{source.stem}.o"
    if not target.exists():
        _run([compiler, *_FLAGS, *more, "-c", str(source), "-o", str(target)])
    return target


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, timeout=300)


Handle = ctypes.c_void_p
_NAME, _U64, _INT, _I64 = ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int, ctypes.c_int64
# function -> result, arguments
_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "fake_function": (Handle, [_NAME, _U64]),
    "fake_function_resources": (None, [Handle, _INT, _INT, _INT]),
    "fake_launch": (ctypes.c_uint32, [_NAME, _U64, Handle]),
    "fake_launch_many": (ctypes.c_uint32, [Handle, _U64, Handle]),
    "fake_memcpy": (ctypes.c_uint32, [_INT, _U64, _U64, Handle]),
    "fake_memset": (ctypes.c_uint32, [_INT, _U64, _U64, Handle]),
    "fake_memcpy_peer": (ctypes.c_uint32, [_INT, _INT, _U64, _U64, Handle]),
    "fake_unified_memory": (None, [_INT, _U64, _U64, _INT, _INT]),
    "fake_function_records": (None, [Handle, _NAME, _U64]),
    "fake_launch_recording": (ctypes.c_uint32, [Handle, Handle, Handle]),
    "fake_stream_create": (Handle, []),
    "fake_context_create": (Handle, [_INT]),
    "fake_context_destroy": (_INT, [Handle]),
    "fake_device_reset": (_INT, [_INT]),
    "fake_graph_create": (Handle, []),
    "fake_graph_add_kernel": (Handle, [Handle, Handle]),
    "fake_graph_add_memcpy": (Handle, [Handle, _INT, _U64, _U64]),
    "fake_graph_add_memset": (Handle, [Handle, _U64, _U64]),
    "fake_graph_add_child": (Handle, [Handle, Handle]),
    "fake_graph_add_conditional": (Handle, [Handle, _INT, ctypes.POINTER(Handle)]),
    "fake_graph_clone": (Handle, [Handle]),
    "fake_graph_destroy": (None, [Handle]),
    "fake_graph_instantiate": (Handle, [Handle]),
    "fake_graph_launch": (ctypes.c_uint32, [Handle, Handle]),
    "fake_graph_launch_on_device": (None, [Handle, Handle]),
    "fake_graph_exec_update": (_INT, [Handle, Handle]),
    "fake_graph_exec_destroy": (None, [Handle]),
    "fake_capture_begin": (None, [Handle]),
    "fake_capture_join": (None, [Handle, Handle]),
    "fake_capture_end": (Handle, [Handle]),
    "fake_graph_id": (ctypes.c_uint32, [Handle]),
    "fake_sample": (_INT, [_NAME, _U64, _NAME, ctypes.c_uint32, ctypes.c_uint32]),
    "fake_module_load": (Handle, [_NAME, _U64]),
    "fake_module_function": (Handle, [Handle, _NAME, _U64]),
    "fake_module_unload": (None, [Handle]),
    "fake_cubin_crc": (_U64, [_NAME, _U64]),
    "fake_sampled_contexts": (_I64, [_INT]),
    "fake_sampling_period": (ctypes.c_uint32, [Handle]),
    "fake_set_option": (_INT, [_NAME, _I64]),
    "fake_set_failure": (_INT, [_NAME, _INT, _I64, _I64]),
    "fake_set_holder": (None, [_NAME]),
    "fake_null_profiler": (_INT, [_INT]),
    "fake_complete": (None, []),
    "fake_set_correlation": (None, [ctypes.c_uint32]),
    "fake_work": (None, []),
    "fake_counter": (_I64, [_NAME]),
    "fake_violations": (_NAME, []),
    "fake_clear": (None, []),
}


class FakeDriver:
    """The fake driver in this process. Streams, functions and graphs are plain addresses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = str(folder / "libfake_cuda.so")
        self.calls = ctypes.CDLL(self.library)
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(self.calls, name)
            function.restype, function.argtypes = result, arguments

    @property
    def environment(self) -> dict[str, str]:
        """What makes Proton open this driver."""
        cupti = next(self.folder.glob("libcupti.so.*"))
        return {
            "TRITON_CUPTI_LIB_PATH": str(cupti),
            "PROTON_CUDA_LIBRARY": str(self.folder / "libcuda.so.1"),
        }

    def launch(self, name: str, time_ns: int = 1000, stream: int | None = None) -> int:
        """Launch a kernel on the calling thread; its correlation id, 0 if it was refused."""
        return int(self.calls.fake_launch(name.encode(), time_ns, stream))

    def function(self, name: str, time_ns: int = 1000) -> int:
        """A kernel to put into graphs."""
        return int(self.calls.fake_function(name.encode(), time_ns))

    def memcpy(self, kind: int, size_bytes: int, time_ns: int = 1000) -> int:
        """Copy: 1 from host to device, 2 back, 8 on the device."""
        return int(self.calls.fake_memcpy(kind, size_bytes, time_ns, None))

    def memset(self, size_bytes: int, time_ns: int = 1000) -> int:
        """Set memory."""
        return int(self.calls.fake_memset(0, size_bytes, time_ns, None))

    def sample(self, kernel: str, pc: int, reason: str, samples: int = 1, latency: int = 0) -> None:
        """Let every launch of a kernel add samples to one of its instructions."""
        given = kernel.encode(), pc, reason.encode(), samples, latency
        assert self.calls.fake_sample(*given) == 0, (reason, latency)

    def load_module(self, cubin: bytes) -> int:
        """Load a module in the calling thread's context."""
        return int(self.calls.fake_module_load(cubin, len(cubin)))

    def module_function(self, module: int, name: str, time_ns: int = 1000) -> int:
        """A kernel of a module; launch it with `launch_function`."""
        return int(self.calls.fake_module_function(module, name.encode(), time_ns))

    def launch_function(self, function: int, count: int = 1, stream: int | None = None) -> None:
        """Launch a kernel so many times."""
        assert self.calls.fake_launch_many(function, count, stream) != 0

    def launch_recording(
        self, function: int, records: bytes, buffer: int, stream: int | None = None
    ) -> None:
        """Launch a kernel that writes `records` to its buffer, whenever it runs."""
        self.calls.fake_function_records(function, records, len(records))
        assert self.calls.fake_launch_recording(function, buffer, stream) != 0

    def unload_module(self, module: int) -> None:
        """Unload a module."""
        self.calls.fake_module_unload(module)

    def stream(self) -> int:
        """A new stream in the calling thread's context."""
        return int(self.calls.fake_stream_create())

    def instantiate(self, graph: int) -> int:
        """An executable of a graph."""
        return int(self.calls.fake_graph_instantiate(graph))

    def graph_name(self, executable: int) -> str:
        """How profiles name an executable graph as a whole."""
        return f"<graph {self.calls.fake_graph_id(executable)}>"

    def replay(self, executable: int, stream: int | None = None) -> None:
        """Launch a graph."""
        assert self.calls.fake_graph_launch(executable, stream) != 0

    def option(self, name: str, value: int) -> None:
        """Set one of fake_cuda.h's options."""
        assert self.calls.fake_set_option(name.encode(), value) == 0, name

    def fail(self, function: str, code: int, *, skip: int = 0, times: int = -1) -> None:
        """Make a driver function fail."""
        assert self.calls.fake_set_failure(function.encode(), code, skip, times) == 0, function

    def hold(self, tool: str | None) -> None:
        """Let another tool hold CUPTI, or let go."""
        self.calls.fake_set_holder(None if tool is None else tool.encode())

    def clear(self) -> None:
        """Forget what the last test set and counted."""
        self.calls.fake_clear()

    def counter(self, name: str) -> int:
        """One of fake_cuda.h's counters, or how often a function was called."""
        value = int(self.calls.fake_counter(name.encode()))
        assert value >= 0, name
        return value

    @property
    def violations(self) -> list[str]:
        """Rules of CUPTI that were broken."""
        text: bytes = self.calls.fake_violations()
        return text.decode().splitlines()
