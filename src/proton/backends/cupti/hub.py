"""Opens libcupti and the CUDA driver through the native core, once a process, and says why not."""

from __future__ import annotations

from proton import _native
from proton.backends.cupti import driver
from proton.backends.cupti.candidates import Candidate, chosen_of, find_candidates
from proton.backends.knobs import Knobs
from proton.errors import BackendUnavailable

HELD_BY_ANOTHER = 39  # CUPTI's number for a second subscriber

_INTERPRET = "backend='interpreter' (--backend interpreter) runs Triton kernels on the CPU"


def open_hub(knobs: Knobs) -> None:
    """Load the libraries; nothing to do where that was done.

    Raises:
        BackendUnavailable: there is no driver, it is too old, or no libcupti suits it.
    """
    library = knobs.cuda_library or find_driver(knobs)
    if _native.Cupti.is_loaded():
        return
    candidates = find_candidates(knobs)
    chosen = chosen_of(candidates)
    if chosen is None:
        raise _no_libcupti(candidates, knobs)
    try:
        _native.Cupti.load(chosen.path, library)
    except BackendUnavailable as error:
        error.add_note(f"libcupti: {chosen}")
        raise


def find_driver(knobs: Knobs, backend: str = "cupti") -> str:
    """The CUDA driver's library to open, for the backend that errors are to name.

    Raises:
        BackendUnavailable: there is none, or the driver is too old.
    """
    version = driver.version()
    library = driver.find_library(knobs.library_folders)
    if not driver.devices() and library is None:
        raise BackendUnavailable(
            backend,
            reason="this machine has no NVIDIA driver",
            remedy=f"install it, in a container start with --gpus all; {_INTERPRET}",
        )
    if (newest := driver.newest_cuda(version)) is not None and newest < 12:
        raise BackendUnavailable(
            backend,
            reason=f"the NVIDIA driver {version} is too old",
            remedy=f"install driver {driver.OLDEST_DRIVER} or later; {_INTERPRET}",
        )
    return library or driver.CUDA_LIBRARY


def is_held(error: BackendUnavailable) -> bool:
    """Whether another tool holds CUPTI, which serves one tool a process."""
    return getattr(error, "code", None) == HELD_BY_ANOTHER


def _no_libcupti(candidates: list[Candidate], knobs: Knobs) -> BackendUnavailable:
    named = next((each for each in candidates if each.is_named), None)
    if named is not None:
        value = knobs.cupti_lib_dir if named.is_for_all else knobs.cupti_lib_blackwell_dir
        reason = (
            f"{named.origin}={value!r} holds no libcupti that can be used "
            f"({named.path}: {named.verdict})"
        )
        remedy = "name a folder that has one, or unset it; `proton doctor` lists those there are"
    elif candidates:
        reason = "no libcupti suits the driver: " + "; ".join(map(str, candidates))
        remedy = "install one of the driver's CUDA version: pip install nvidia-cuda-cupti-cu12"
    else:
        reason = "no libcupti was found"
        remedy = "pip install nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12)"
    return BackendUnavailable("cupti", reason=reason, remedy=remedy)
