"""What NVIDIA's management library says, told by a library that the test compiles."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from proton.backends.cupti.gpu_capability import Gpu, gpus
from tests.native.fake_cuda.driver import find_compiler

SOURCE = """
extern "C" {
static int inits = 0;
int nvmlInit_v2() { ++inits; return INIT; }
int nvmlShutdown() { return --inits; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 3; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (void*)(unsigned long)(index + 1);
  return index == 2 ? 15 : 0;
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  *major = device == (void*)1 ? 9 : 6; *minor = 1; return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* later) {
  *now = *later = 1; return device == (void*)1 ? 0 : 3;
}
int nvmlDeviceGetVirtualizationMode(void* device, int* mode) { *mode = 2; return 0; }
}
"""


def built(folder: Path, init: int) -> str:
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C++ compiler")
    (folder / "nvml.cpp").write_text(SOURCE)
    library = folder / f"libnvml{init}.so"
    options = ["-shared", "-fPIC", f"-DINIT={init}", "-o", str(library), str(folder / "nvml.cpp")]
    subprocess.run([compiler, *options], check=True, timeout=60)
    return str(library)


def test_every_gpu_that_answers_is_described(tmp_path: Path) -> None:
    assert gpus(built(tmp_path, 0)) == [
        Gpu((9, 1), is_divided=True, is_virtual=True),
        Gpu((6, 1), is_divided=False, is_virtual=True),
    ]


def test_a_library_that_refuses_says_nothing(tmp_path: Path) -> None:
    assert gpus(built(tmp_path, 9)) == []


def test_no_library_says_nothing() -> None:
    assert gpus("libthere_is_none.so.1") == []
