"""Whether this machine lets a program sample instructions, and what to do where it does not.

Looks at what the kernel and NVIDIA's management library say; CUPTI is not opened for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from proton.backends.cupti import driver, nvml
from proton.backends.knobs import Knobs

OLDEST_CAPABILITY = (7, 0)
GRANT = (
    "put 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/nvidia.conf "
    "and reboot, or run as root (a container needs --cap-add=SYS_ADMIN)"
)


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
    obstacles = [_of_gpu(gpu) for gpu in nvml.gpus()]
    # one that can be sampled is enough: which GPU the program will use is not known yet
    return obstacles[0] if obstacles and all(obstacles) else None


def _of_gpu(gpu: nvml.Gpu) -> Obstacle | None:
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
