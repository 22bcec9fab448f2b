"""What the GPUs are, asked before any libcupti is opened: how new, divided or virtual.

NVIDIA's management library (NVML) tells without initialising CUDA, which a process could not fork
after. The CUDA driver itself is asked where there is no NVML, and where the user names a driver.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver

LIBRARY = "libnvidia-ml.so.1"
_VGPU_GUEST = 2  # of nvmlGpuVirtualizationMode_t: this machine has a part of a GPU
BLACKWELL = 100  # compute capability 10.0
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU; what the library did not say is None or False."""

    capability: tuple[int, int] | None = None
    is_divided: bool = False  # into MIG instances
    is_virtual: bool = False  # a vGPU


def gpus(library: str = LIBRARY) -> list[Gpu]:
    """Every GPU of the machine; none where the library is not there or does not answer."""
    try:
        nvml = ctypes.CDLL(library)
        with _opened(nvml):
            count = ctypes.c_uint()
            if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
                return []
            found = (_gpu(nvml, index) for index in range(count.value))
            return [gpu for gpu in found if gpu is not None]
    except (OSError, AttributeError):  # AttributeError: a function that is missing
        return []


@contextmanager
def _opened(nvml: ctypes.CDLL) -> Iterator[None]:
    if error := nvml.nvmlInit_v2():
        raise OSError(f"nvmlInit_v2 failed with error {error}")
    try:
        yield
    finally:
        nvml.nvmlShutdown()


def _gpu(nvml: ctypes.CDLL, index: int) -> Gpu | None:
    handle = ctypes.c_void_p()
    if nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle)):
        return None
    capability = _pair(nvml.nvmlDeviceGetCudaComputeCapability, handle)
    divided = _pair(nvml.nvmlDeviceGetMigMode, handle)
    mode = ctypes.c_int()
    is_told = not nvml.nvmlDeviceGetVirtualizationMode(handle, ctypes.byref(mode))
    return Gpu(
        capability,
        is_divided=divided is not None and divided[0] == 1,
        is_virtual=is_told and mode.value == _VGPU_GUEST,
    )


def _pair(function: ctypes._NamedFuncPointer, handle: ctypes.c_void_p) -> tuple[int, int] | None:
    first, second = ctypes.c_int(), ctypes.c_int()
    if function(handle, ctypes.byref(first), ctypes.byref(second)):
        return None
    return first.value, second.value


def newest_capability(knobs: Knobs) -> int | None:
    """The highest compute capability of the machine's GPUs, 90 for 9.0; None: nobody could tell."""
    if knobs.cuda_library is not None:
        return max(_ask_driver(knobs.cuda_library), default=None)
    library = driver.find_library(knobs.library_folders)
    if library is None:
        return None
    beside = os.path.join(os.path.dirname(library), LIBRARY)
    for path in (beside, LIBRARY):
        if found := [gpu.capability for gpu in gpus(path) if gpu.capability is not None]:
            major, minor = max(found)
            return major * 10 + minor
    return max(_ask_driver(library), default=None)


def text_of(capability: int) -> str:
    """`"9.0"` for 90."""
    return f"{capability // 10}.{capability % 10}"


def _ask_driver(path: str) -> Iterator[int]:
    """The capabilities that the CUDA driver knows; makes no context."""
    with suppress(OSError, AttributeError):
        cuda = ctypes.CDLL(path)
        count = ctypes.c_int()
        if cuda.cuInit(0) != 0 or cuda.cuDeviceGetCount(ctypes.byref(count)) != 0:
            return
        for device in range(count.value):  # a device's handle is its number
            major, minor = ctypes.c_int(), ctypes.c_int()
            if cuda.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, device) != 0:
                continue
            if cuda.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, device) == 0:
                yield major.value * 10 + minor.value
