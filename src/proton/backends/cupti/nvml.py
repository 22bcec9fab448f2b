"""What NVIDIA's management library says of the GPUs. Starts no CUDA: a fork stays possible."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

LIBRARY = "libnvidia-ml.so.1"
_VGPU_GUEST = 2  # of nvmlGpuVirtualizationMode_t: this machine has a part of a GPU


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
