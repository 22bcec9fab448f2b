"""Makes a process ready to sample instructions, or says why it cannot.

`find_obstacle` looks at what the kernel and NVIDIA's management library say, without CUPTI; then
NVIDIA's helper libraries are opened, CUPTI says its word, and `sampling_probe` asks the GPU. The
native hub then samples.
"""

from __future__ import annotations

import ctypes
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from proton import _native
from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver, gpu_capability, sampling_probe
from proton.backends.cupti.candidates import chosen_of, find_candidates
from proton.backends.cupti.hub import find_driver, open_hub
from proton.backends.cupti.other_tools import hint
from proton.backends.cupti.sampling_mode import PCSampling
from proton.errors import BackendUnavailable

OLDEST_CAPABILITY = (7, 0)
GRANT = (
    "put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia.conf "
    "and reboot, or run as root (a container needs --cap-add=SYS_ADMIN)"
)
# CUPTI opens the first by its bare name, and the second is the first one's need: those beside it
# must be there before, or it finds none, or those of another version.
PERF_LIBRARIES = ("libnvperf_target.so", "libnvperf_host.so")
INSTALL_PERF = "pip install nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12), which has both"
OR_TIMING = "or give fallback=timing to have kernels timed all the same"
_log = logging.getLogger("proton")
_passed: set[tuple[str, str]] = set()  # libraries with which the GPU was found to be sampled


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why nothing can be sampled, and the remedy."""

    reason: str
    remedy: str


def find_obstacle(knobs: Knobs) -> Obstacle | None:
    """What keeps this process from sampling, as far as can be seen before CUPTI is asked."""
    if knobs.cuda_library is not None:
        return None  # not the driver that the kernel speaks of
    if driver.is_profiling_restricted() and not driver.is_privileged():
        return Obstacle(
            "the driver lets only administrators sample (RmProfilingAdminOnly: 1)", GRANT
        )
    obstacles = [_of_gpu(gpu) for gpu in gpu_capability.gpus()]
    # one that can be sampled is enough: which GPU the program will use is not known yet
    return obstacles[0] if obstacles and all(obstacles) else None


def _of_gpu(gpu: gpu_capability.Gpu) -> Obstacle | None:
    if gpu.capability is not None and gpu.capability < OLDEST_CAPABILITY:
        major, minor = gpu.capability
        return Obstacle(
            f"the GPU's compute capability is {major}.{minor}, and sampling needs 7.0 or later",
            "use a GPU of 2017 (Volta) or later",
        )
    if gpu.is_divided:
        return Obstacle(
            "the GPU is divided into MIG instances, which CUPTI cannot sample",
            "use a whole GPU, or end MIG as root: nvidia-smi -mig 0",
        )
    if gpu.is_virtual:
        return Obstacle(
            "the GPU is a vGPU, which CUPTI cannot sample unless its host allows it",
            "use a whole GPU, or have the host's administrator give this machine one",
        )
    return None


def prepare_sampling(
    sampling: PCSampling, knobs: Knobs, say: Callable[[str], None]
) -> BackendUnavailable | None:
    """Open the hub so that it can sample; returns why it cannot, where timing is to do instead.

    `say` is told where that could not be found out.

    Raises:
        BackendUnavailable: the hub cannot be opened, or nothing can be sampled and the mode does
            not say `fallback=timing`; with the remedy.
    """
    obstacle = find_obstacle(knobs)
    helpers = [] if obstacle is not None else load_perf_libraries(knobs)
    open_hub(knobs)
    if obstacle is None:
        reason = _native.Cupti.check_sampling()
        # contexts that are there speak for themselves, when the session is activated
        if reason is None and not _native.Cupti.has_contexts():
            reason = _ask_gpu(knobs, helpers, say)
        if reason is not None:
            obstacle = Obstacle(reason, _missing_libraries(knobs))
    if obstacle is None:
        return None
    error = refused(sampling, obstacle)
    if "holds CUPTI" in obstacle.reason and (who := hint(error)):
        error.add_note(who.removeprefix("; "))
    if sampling.fallback is None:
        raise error
    return error


def refused(sampling: PCSampling, why: Obstacle | BackendUnavailable) -> BackendUnavailable:
    """The error for a mode that cannot be, with the remedy and what else could be done."""
    if isinstance(why, BackendUnavailable):
        why = Obstacle(str(why).removeprefix("backend 'cupti' is unavailable: "), "")
    return BackendUnavailable(
        "cupti",
        reason=f"mode {sampling.name!r} cannot sample here: {why.reason}",
        remedy=", ".join(filter(None, (why.remedy, OR_TIMING))),
    )


def native_options(sampling: PCSampling) -> dict[str, int]:
    """What the hub needs to know of a mode."""
    return {
        "period_exponent": sampling.period_exponent,
        "buffer_bytes": sampling.buffer_bytes,
        "drain_ns": sampling.drain_ns,
        "window_ns": sampling.window_ns,
        "every_ns": sampling.every_ns,
    }


def session_options(sampling: PCSampling) -> dict[str, Any]:
    """What a session needs to know of a mode."""
    include = sampling.include
    return {
        "period_cycles": 1 << sampling.period_exponent,
        "window_ns": sampling.window_ns,
        "every_ns": sampling.every_ns,
        "include": None if include is None else re.compile(include).search,
    }


def perf_libraries(libcupti: str) -> list[str]:
    """The paths of NVIDIA's helper libraries that lie beside a libcupti."""
    folders = {os.path.dirname(libcupti), os.path.dirname(os.path.realpath(libcupti))}
    found = (_find(folders, name) for name in PERF_LIBRARIES)
    return [path for path in found if path is not None]


def missing_perf_libraries(libcupti: str) -> list[str]:
    """Those of NVIDIA's helper libraries that do not lie beside a libcupti."""
    there = {os.path.basename(path) for path in perf_libraries(libcupti)}
    return [name for name in PERF_LIBRARIES if name not in there]


def load_perf_libraries(knobs: Knobs) -> list[str]:
    """Open those beside the libcupti that is or will be opened; the paths of them."""
    chosen = chosen_of(find_candidates(knobs))
    loaded = []
    for path in [] if chosen is None else perf_libraries(chosen.path):
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            _log.warning("%s cannot be opened, which sampling needs: %s", path, error)
        else:
            loaded.append(path)
    return loaded


def _ask_gpu(knobs: Knobs, helpers: list[str], say: Callable[[str], None]) -> str | None:
    """Why the GPU cannot be sampled; asked once, unless it refuses."""
    chosen = chosen_of(find_candidates(knobs))
    if chosen is None:
        return None  # opened by somebody before us, and gone since
    libraries = chosen.path, knobs.cuda_library or find_driver(knobs)
    if libraries in _passed:
        return None
    verdict = sampling_probe.ask(*libraries, helpers)
    if verdict.silence is not None:
        say(
            f"whether this GPU can be sampled was not found out before the start: "
            f"{verdict.silence}; a CUDA context that refuses is told of when it is made"
        )
    elif verdict.refusal is None:
        _passed.add(libraries)
    return verdict.refusal


def _find(folders: set[str], name: str) -> str | None:
    paths = (os.path.join(folder, name) for folder in folders)
    return next((path for path in paths if os.path.exists(path)), None)


def _missing_libraries(knobs: Knobs) -> str:
    """The remedy that CUPTI itself cannot know; empty where its helper libraries are there."""
    chosen = chosen_of(find_candidates(knobs))
    if chosen is not None and (missing := missing_perf_libraries(chosen.path)):
        return f"{' and '.join(missing)} should lie beside {chosen.path}: {INSTALL_PERF}"
    return ""
