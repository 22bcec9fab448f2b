"""ROCm libraries that come as Python wheels (TheRock's `rocm_sdk`), for AMD machines.

Only finds them and says where they are, by the environment variables that Triton and Proton read;
a variable that the user has set stands.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

# library -> (the variables that choose it; the first is the one we set)
_VARIABLES = {
    "amdhip64": ("TRITON_LIBHIP_PATH",),
    "hsa-runtime64": ("TRITON_HSA_RUNTIME_LIBRARY", "TRITON_HSA_RUNTIME_PATH"),
    "rocprofiler-sdk": ("TRITON_ROCPROFILER_SDK_LIBRARY", "TRITON_ROCPROFILER_SDK_LIB_PATH"),
    "roctracer64": ("TRITON_ROCTRACER_LIBRARY", "TRITON_ROCTRACER_LIB_PATH"),
    "roctx64": ("TRITON_ROCTX_LIBRARY", "TRITON_ROCTX_LIB_PATH"),
}
_NOT_LISTED = "hsa-runtime64"  # lies beside the HIP runtime; rocm_sdk does not know it


def find_therock_rocm_libraries() -> dict[str, str] | None:
    """Library name -> path, all from one installation; None where there is no complete one."""
    try:
        sdk = import_module("rocm_sdk")
        names = [name for name in _VARIABLES if name != _NOT_LISTED]
        paths = [Path(path) for path in sdk.find_libraries(*names)]
    except (ImportError, FileNotFoundError):
        return None
    found = {name: str(path) for name, path in zip(names, paths, strict=True)}
    runtime = Path(found["amdhip64"]).with_name("libhsa-runtime64.so.1")
    return {**found, _NOT_LISTED: str(runtime)} if runtime.exists() else None


def configure_runtime() -> dict[str, str] | None:
    """Point Triton and Proton at those libraries; what was found, or None."""
    libraries = find_therock_rocm_libraries()
    for name, variables in _VARIABLES.items():
        if libraries is not None and not any(variable in os.environ for variable in variables):
            os.environ[variables[0]] = libraries[name]
    return libraries
