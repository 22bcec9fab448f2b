"""How new the GPUs are, asked before any libcupti is opened.

NVML tells without initialising CUDA, which a process could not fork after. The CUDA driver itself
is asked where there is no NVML, and where the user names a driver library.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress

from proton.backends.cupti import driver, nvml
from proton.backends.knobs import Knobs

BLACKWELL = 100  # compute capability 10.0

_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


def newest_capability(knobs: Knobs) -> int | None:
    """The highest compute capability of the machine's GPUs, 90 for 9.0; None: nobody could tell."""
    if knobs.cuda_library is not None:
        return max(_ask_driver(knobs.cuda_library), default=None)
    library = driver.find_library(knobs.library_folders)
    if library is None:
        return None
    beside = os.path.join(os.path.dirname(library), nvml.LIBRARY)
    for path in (beside, nvml.LIBRARY):
        if found := [gpu.capability for gpu in nvml.gpus(path) if gpu.capability is not None]:
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
