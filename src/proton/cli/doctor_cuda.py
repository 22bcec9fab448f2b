"""What `proton doctor` says about NVIDIA GPUs: driver, every libcupti, permissions, holders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import driver, sampling_probe
from proton.backends.cupti.candidates import chosen_of, find_candidates
from proton.backends.cupti.gpu_capability import BLACKWELL, newest_capability, text_of
from proton.backends.cupti.sampling_setup import (
    INSTALL_PERF,
    find_obstacle,
    missing_perf_libraries,
    perf_libraries,
)
from proton.cli.doctor import Finding

_PROC = Path("/proc")
_HOST_ENGINE = "nv-hostengine"  # of DCGM, which keeps the hardware counters of a machine to itself
# Variables by which another tool gets itself into every CUDA program.
_INJECTIONS = {
    "CUDA_INJECTION64_PATH": "a CUDA tool such as Nsight",
    "NVTX_INJECTION64_PATH": "a tool that follows NVTX ranges",
    "KINETO_USE_DAEMON": "torch's profiler, on demand of a daemon",
}
_OURS = "libproton_nvtx.so"  # what `import proton` names to NVTX, if no other tool is there
_HW_TRACE = "cuptiActivityEnableHWTrace"
_SUBSCRIBE = "cuptiSubscribe"
_INSTALL_CUPTI = (
    "pip install nvidia-cuda-cupti (nvidia-cuda-cupti-cu12 for CUDA 12), "
    "or set TRITON_CUPTI_LIB_PATH to the folder that has it"
)


def driver_findings(knobs: Knobs) -> Iterator[Finding]:
    """The GPUs, the kernel driver and the driver's library."""
    models = driver.models() or [f"NVIDIA GPU ({path})" for path in driver.devices()]
    for index, model in enumerate(models):
        yield Finding(f"gpu {index}", model)
    if not models:
        return
    version = driver.version()
    newest = driver.newest_cuda(version)
    library = knobs.cuda_library or driver.find_library(knobs.library_folders)
    if library is None:
        yield Finding(
            "cuda driver",
            f"a GPU is there, but no {driver.CUDA_LIBRARY}",
            "install the driver's user libraries; in a container: start it with --gpus all",
        )
    elif newest is not None and newest < 12:
        yield Finding(
            "cuda driver",
            f"{version} is too old",
            f"install driver {driver.OLDEST_DRIVER} or later",
        )
    else:
        known = f"{version}, serves CUDA {newest} and older" if version else "of unknown version"
        yield Finding("cuda driver", f"{known}; {library}")


def libraries(knobs: Knobs) -> Iterator[Finding]:
    """Every libcupti, which one is taken and why."""
    candidates = find_candidates(knobs)
    for candidate in candidates:
        yield Finding("libcupti", str(candidate))
    if not driver.devices() and knobs.cuda_library is None:
        return  # nobody will open one here
    chosen = chosen_of(candidates)
    if chosen is not None and not _mentions(chosen.path, _SUBSCRIBE):
        yield Finding(
            "libcupti",
            f"{chosen.path} is not libcupti: it has no function {_SUBSCRIBE}",
            f"have {chosen.origin} name another, or unset it"
            if chosen.is_named
            else _INSTALL_CUPTI,
        )
    if chosen is None:
        seen = "none can be used" if candidates else "none found"
        named = next((candidate.origin for candidate in candidates if candidate.is_named), None)
        yield Finding(
            "libcupti",
            seen,
            f"have {named} name a folder with one, or unset it" if named else _INSTALL_CUPTI,
        )


def hw_trace(knobs: Knobs) -> Iterator[Finding]:
    """Whether kernels can be timed by the hardware's own events, where that is asked for."""
    if not knobs.enable_hw_trace:
        return
    capability = newest_capability(knobs)
    chosen = chosen_of(find_candidates(knobs))
    if capability is None or capability < BLACKWELL:
        here = "no GPU is known here" if capability is None else f"here is {text_of(capability)}"
        yield Finding(
            "hardware trace",
            f"TRITON_ENABLE_HW_TRACE has no effect: it needs a GPU of compute capability "
            f"{text_of(BLACKWELL)} or later, {here}",
            "unset TRITON_ENABLE_HW_TRACE",
        )
    elif chosen is not None and not _mentions(chosen.path, _HW_TRACE):
        yield Finding(
            "hardware trace",
            f"TRITON_ENABLE_HW_TRACE has no effect: {chosen.path} has no {_HW_TRACE}",
            "use CUPTI of CUDA 12.8 or later: pip install --upgrade nvidia-cuda-cupti",
        )
    else:
        yield Finding(
            "hardware trace",
            "kernels are timed by the hardware, in sessions that start before the program first "
            "uses the GPU",
        )


def _mentions(path: str, name: str) -> bool:
    """Whether a library exports a name, as far as its bytes tell; it is not loaded."""
    try:
        return name.encode() + b"\0" in Path(path).read_bytes()
    except OSError:
        return False


def sampling(knobs: Knobs) -> Iterator[Finding]:
    """Whether instructions can be sampled (mode `pcsampling`); timing needs nothing of this."""
    obstacle = find_obstacle(knobs)
    chosen = chosen_of(find_candidates(knobs))
    if obstacle is not None:
        text = f"kernels can be timed, but not sampled: {obstacle.reason}"
        yield Finding("sampling", text, obstacle.remedy)
    elif chosen is not None and (missing := missing_perf_libraries(chosen.path)):
        text = f"needs {' and '.join(missing)} beside {chosen.path}"
        yield Finding("sampling", text, INSTALL_PERF)
    elif chosen is not None and driver.devices():
        yield _ask_gpu(chosen.path, knobs)
    else:
        yield Finding("sampling", f"{_who_may_sample()}: mode 'pcsampling' can be used")


def _ask_gpu(libcupti: str, knobs: Knobs) -> Finding:
    """What the GPU itself says, in a process of its own."""
    libcuda = knobs.cuda_library or driver.find_library(knobs.library_folders)
    verdict = sampling_probe.ask(libcupti, libcuda or driver.CUDA_LIBRARY, perf_libraries(libcupti))
    if verdict.refusal is not None:
        reason, _, remedy = verdict.refusal.partition("; ")
        return Finding("sampling", f"kernels can be timed, but not sampled: {reason}", remedy)
    if verdict.silence is not None:
        text = f"{_who_may_sample()}; whether the GPU can is not known: {verdict.silence}"
        return Finding("sampling", text)
    return Finding("sampling", f"{_who_may_sample()}: mode 'pcsampling' can be used")


def _who_may_sample() -> str:
    is_restricted = driver.is_profiling_restricted()
    if is_restricted is None:
        return "the driver does not say who may sample"
    if is_restricted:
        return "only administrators may sample, and this process has their rights"
    return "every user may sample (RmProfilingAdminOnly: 0)"


def holders() -> Iterator[Finding]:
    """Tools that may hold CUPTI, which serves one tool a process, or the hardware counters."""
    injections = [
        (name, who)
        for name, who in _INJECTIONS.items()
        if os.environ.get(name) and not os.environ[name].endswith(_OURS)
    ]
    for name, who in injections:
        yield Finding(
            "cupti holder",
            f"{name}={os.environ[name]}: {who} gets into every CUDA program and may hold CUPTI",
            f"unset {name} to profile with proton alone",
        )
    for pid in _processes(_HOST_ENGINE):
        yield Finding(
            "cupti holder",
            f"process {pid} ({_HOST_ENGINE}) may hold the hardware counters; timing is not touched",
        )
    if not injections:
        yield Finding("cupti holder", "nobody that could be seen from here")


def _processes(name: str) -> list[int]:
    """The ids of the processes of this name that we may see."""
    pids = []
    for path in _PROC.glob("[0-9]*/comm"):
        try:
            if path.read_text(errors="replace").strip() == name:
                pids.append(int(path.parent.name))
        except OSError:  # it ended meanwhile
            continue
    return sorted(pids)
