"""Switches of `triton.knobs.proton` and the environment, as backends get them.

Reads nothing itself: `runtime/environment.py` fills them in.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knobs:
    """Switches from `triton.knobs.proton` or the environment; sizes in bytes.

    Attributes:
        enable_hw_trace: kernels are to be timed by the hardware's own events (Blackwell).
        cupti_lib_dir: a folder with a libcupti, or the file itself; wins over what we would take.
        cupti_lib_blackwell_dir: wins over both on GPUs of compute capability 10.0 or later.
        profile_buffer_size: 0: as the backend likes; also profile_metric_buffer_size.
        data_flush_timing: tell on stderr how long flushes and the writing of files take.
        graph_launch_timing: tell on stderr how long each launch of a CUDA graph took.
        cuda_library: the CUDA driver library to open instead of `libcuda.so.1`.
        cuda_home: where the CUDA toolkit is installed.
        library_folders: where the loader looks first (`LD_LIBRARY_PATH`).
        hides_devices: the program is to see no GPU (`CUDA_VISIBLE_DEVICES` is empty or -1).
        interprets: kernels are to be interpreted (`TRITON_INTERPRET`).
    """

    disable: bool = False
    enable_nvtx: bool = True
    enable_hw_trace: bool = False
    cupti_lib_dir: str | None = None
    cupti_lib_blackwell_dir: str | None = None
    profile_buffer_size: int = 0
    profile_metric_buffer_size: int = 0
    data_flush_timing: bool = False
    graph_launch_timing: bool = False
    cuda_library: str | None = None
    cuda_home: str | None = None
    library_folders: tuple[str, ...] = ()
    hides_devices: bool = False
    interprets: bool = False
