"""What `proton doctor` says about the machine: GPU, backend, environment variables, folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from proton.cli.finding import Finding
from proton.errors import UsageError
from proton.runtime import options

_NVIDIA = Path("/proc/driver/nvidia")
_AMD = Path("/dev/kfd")
_LIBRARY_CACHE = Path("/etc/ld.so.cache")
_CUDA_LIBRARY = "libcuda.so.1"
# Sizes, switches and paths as `runtime.options` reads them.
_VARIABLES = (
    "TRITON_PROTON_DISABLE",
    "TRITON_ENABLE_NVTX",
    "TRITON_ENABLE_HW_TRACE",
    "TRITON_CUPTI_LIB_PATH",
    "TRITON_CUPTI_LIB_DIR",
    "TRITON_CUPTI_LIB_BLACKWELL_PATH",
    "TRITON_PROFILE_BUFFER_SIZE",
    "TRITON_PROFILE_METRIC_BUFFER_SIZE",
)


def gpu() -> Iterator[Finding]:
    """GPUs, by what the kernel shows of their drivers."""
    models = nvidia_models()
    for index, model in enumerate(models):
        yield Finding(f"gpu {index}", model)
    if models and not has_cuda_library():
        yield Finding(
            "cuda driver",
            f"a GPU is there, but no {_CUDA_LIBRARY}",
            "install the driver's user libraries; in a container: start it with --gpus all",
        )
    elif models:
        yield Finding("cuda driver", f"{_CUDA_LIBRARY} is there")
    if _AMD.exists():
        yield Finding("gpu", f"an AMD driver is loaded ({_AMD})")
    elif not models:
        yield Finding("gpu", "none found: kernels run through Triton's interpreter")


def nvidia_models() -> list[str]:
    """The names of the GPUs that the NVIDIA driver shows."""
    models = []
    for path in sorted(_NVIDIA.glob("gpus/*/information")):
        try:
            lines = path.read_text(errors="replace").splitlines()
        except OSError:
            continue
        named = (line.partition(":")[2].strip() for line in lines if line.startswith("Model:"))
        models.append(next(named, "NVIDIA GPU of unknown model"))
    return models


def has_cuda_library() -> bool:
    """Whether the loader would find the CUDA driver library; it is not loaded."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    if any(folder and os.path.exists(os.path.join(folder, _CUDA_LIBRARY)) for folder in folders):
        return True
    try:
        return _CUDA_LIBRARY.encode() in _LIBRARY_CACHE.read_bytes()
    except OSError:
        return False


def backend() -> Iterator[Finding]:
    """The backend that `start()` takes when told none, and why."""
    chosen = options.DEFAULT_BACKEND
    if nvidia_models() or _AMD.exists():
        reason = "this version has no GPU backend yet, so kernels are interpreted on the CPU"
    else:
        reason = "there is no GPU"
    yield Finding("default backend", f"{chosen}: {reason}")


def environment() -> Iterator[Finding]:
    """The variables that Proton understands, and whether their values can be read."""
    given = [f"{name}={os.environ[name]}" for name in _VARIABLES if name in os.environ]
    try:
        knobs = options.read_knobs()
    except UsageError as error:
        yield Finding("environment", str(error), "correct it or unset it")
        return
    if knobs.disable:
        yield Finding(
            "environment",
            f"profiling is switched off: {', '.join(given)}",
            "unset TRITON_PROTON_DISABLE",
        )
    elif given:
        yield Finding("environment", ", ".join(given))
    else:
        yield Finding("environment", f"none set of {', '.join(_VARIABLES)}")


def folder() -> Iterator[Finding]:
    """Whether profiles can be written where they go by default."""
    here = os.getcwd()
    try:
        with tempfile.TemporaryFile(dir=here):
            yield Finding("working directory", f"{here} can be written to")
    except OSError as error:
        yield Finding(
            "working directory",
            f"{here} cannot be written to: {error.strerror}",
            "change to another, or give a path: proton -n /path/to/name script.py",
        )
