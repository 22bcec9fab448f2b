"""Which backend fits this machine, for sessions that name none. Loads no driver."""

from __future__ import annotations

from dataclasses import dataclass

from proton.backends.common.knobs import Knobs
from proton.backends.cupti.driver import devices, why_no_gpu


@dataclass(frozen=True, slots=True)
class DefaultBackend:
    """A backend's name, and why it was taken."""

    name: str
    reason: str


def choose_backend(knobs: Knobs) -> DefaultBackend:
    """`cupti` where kernels can be on an NVIDIA GPU, else `interpreter`."""
    reason = why_no_gpu(knobs)
    if reason is not None:
        return DefaultBackend("interpreter", reason)
    if knobs.cuda_library is not None:
        return DefaultBackend("cupti", f"PROTON_CUDA_LIBRARY names a driver, {knobs.cuda_library}")
    return DefaultBackend("cupti", f"{', '.join(devices())} and the CUDA driver are there")
