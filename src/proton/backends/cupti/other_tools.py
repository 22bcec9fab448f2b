"""Who in this process may hold CUPTI, which serves one tool at a time. Looks, and loads nothing."""

from __future__ import annotations

import sys
from pathlib import Path

from proton import _torch
from proton.backends.cupti.driver import text_of_file
from proton.errors import BackendUnavailable

_MAPS = Path("/proc/self/maps")
# Libraries that tools put into the programs they watch.
_INJECTED = {
    "libToolsInjection": "Nsight Systems",
    "libcuda-injection": "Nsight Compute",
    "libInterceptorInjectionTarget": "Nsight",
    "libcuinj64": "nvprof",
    "libsanitizer-collection": "compute-sanitizer",
}


def suspects() -> list[str]:
    """The tools of this process that use CUPTI, as far as can be seen from here."""
    found = []
    if _torch.is_profiling():
        found.append("torch.profiler, which is recording")
    if "triton.profiler" in sys.modules and not _is_ours("triton.profiler"):
        found.append("triton.profiler, which the program has imported")
    maps = text_of_file(_MAPS)
    found += [tool for library, tool in _INJECTED.items() if library in maps]
    return found


def hint(error: BackendUnavailable) -> str:
    """Who it may be, as the end of a sentence, where CUPTI itself does not name the holder."""
    names = suspects()
    if not names or "holds CUPTI: " in str(error):
        return ""
    return f"; the holder may be {' or '.join(names)}"


def unrecorded() -> str:
    """Why CUPTI may have given no record of kernels that were launched, and what to do."""
    names = suspects()
    who = f", which may be {' or '.join(names)}," if names else ", as torch.profiler does,"
    return (
        "CUPTI gave no record of some kernels that were launched (unrecorded_launch): another tool "
        f"in this process{who} has taken its records or switched them off; run one tool at a time, "
        "or pause the session while the other one runs (proton.deactivate(flushing=True) before it "
        "starts, proton.activate() after it has stopped)"
    )


def _is_ours(module: str) -> bool:
    """Whether `triton.profiler` is an alias of proton, as under the command line."""
    return getattr(sys.modules[module], "__name__", "").partition(".")[0] == "proton"
