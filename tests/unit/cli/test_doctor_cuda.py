"""Tests of the doctor's findings about NVIDIA GPUs, on made-up machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.backends.common.knobs import Knobs
from proton.backends.cupti import candidates, driver
from proton.backends.cupti import gpu_capability as nvml
from proton.backends.cupti import sampling_probe as probe
from proton.backends.cupti.sampling_setup import PERF_LIBRARIES
from proton.cli import doctor_cuda


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing of NVIDIA's, whose files lie in a folder."""
    monkeypatch.setattr(driver, "_PROC", tmp_path / "nvidia")
    monkeypatch.setattr(driver, "_DEV", tmp_path / "dev")
    monkeypatch.setattr(driver, "_LIBRARY_CACHE", tmp_path / "ld.so.cache")
    monkeypatch.setattr(driver, "_LIBRARY_FOLDERS", (str(tmp_path / "lib"),))
    monkeypatch.setattr(candidates, "_MAPS", tmp_path / "maps")
    monkeypatch.setattr(candidates, "_TOOLKITS", tmp_path / "local")
    monkeypatch.setattr(candidates, "_package_folder", lambda name: None)
    monkeypatch.setattr(candidates, "_wheel_folders", lambda: iter(()))
    monkeypatch.setattr(doctor_cuda, "_PROC", tmp_path / "processes")
    monkeypatch.setattr(nvml, "gpus", lambda: [])
    for name in doctor_cuda._INJECTIONS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def add_gpu(machine: Path, version: str = "580.95.05") -> None:
    put(machine / "nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ:  1\n")
    put(machine / "nvidia/version", f"NVRM version: NVIDIA UNIX Kernel Module  {version}  x\n")
    put(machine / "dev/nvidia0", "")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nothing_is_said_of_a_driver_that_is_not_there() -> None:
    assert list(doctor_cuda.driver_findings(Knobs())) == []
    assert list(doctor_cuda.libraries(Knobs())) == []


def test_gpu_and_driver_are_named(machine: Path) -> None:
    add_gpu(machine)
    put(machine / "lib/libcuda.so.1", "")
    gpu, found = doctor_cuda.driver_findings(Knobs())
    assert (gpu.subject, gpu.text) == ("gpu 0", "NVIDIA H200")
    assert found.text == f"580.95.05, serves CUDA 13 and older; {machine}/lib/libcuda.so.1"


def test_a_gpu_without_the_drivers_library_is_a_problem(machine: Path) -> None:
    add_gpu(machine)
    *_, found = doctor_cuda.driver_findings(Knobs())
    assert "no libcuda.so.1" in found.text
    assert "--gpus all" in found.remedy


def test_a_driver_that_is_too_old_is_a_problem(machine: Path) -> None:
    add_gpu(machine, "470.82.1")
    put(machine / "lib/libcuda.so.1", "")
    *_, found = doctor_cuda.driver_findings(Knobs())
    assert (found.text, found.remedy) == ("470.82.1 is too old", "install driver 525 or later")


def test_every_libcupti_is_listed_with_its_verdict(machine: Path) -> None:
    add_gpu(machine)
    for folder in ("cuda", "cuda-12.8"):
        put(machine / f"local/{folder}/lib64/libcupti.so.12", f"{folder}\0cuptiSubscribe\0")
    first, second = doctor_cuda.libraries(Knobs())
    assert "chosen" in first.text
    assert "not needed" in second.text


def test_a_gpu_without_libcupti_is_a_problem(machine: Path) -> None:
    add_gpu(machine)
    (found,) = doctor_cuda.libraries(Knobs())
    assert found.text == "none found"
    assert "pip install nvidia-cuda-cupti" in found.remedy


def test_a_knob_that_names_nothing_is_a_problem(machine: Path) -> None:
    add_gpu(machine)
    *_, found = doctor_cuda.libraries(Knobs(cupti_lib_dir=str(machine)))
    assert found.text == "none can be used"
    assert found.remedy == "have TRITON_CUPTI_LIB_PATH name a folder with one, or unset it"


@pytest.mark.parametrize("is_named", [True, False])
def test_a_chosen_file_that_is_no_libcupti_is_a_problem(machine: Path, is_named: bool) -> None:
    add_gpu(machine)
    path = machine / "local/cuda/lib64/libcupti.so.12"
    put(path, "an error page of some server")
    _, found = doctor_cuda.libraries(Knobs(cupti_lib_dir=str(path.parent) if is_named else None))
    assert found.text == f"{path} is not libcupti: it has no function cuptiSubscribe"
    remedy = "have TRITON_CUPTI_LIB_PATH name another" if is_named else "pip install nvidia-cuda"
    assert found.remedy.startswith(remedy)


def test_hardware_trace_is_spoken_of_only_where_it_is_asked_for() -> None:
    assert list(doctor_cuda.hw_trace(Knobs())) == []


@pytest.mark.parametrize(
    ("capability", "content", "text", "remedy"),
    [
        (90, b"", "needs a GPU of compute capability 10.0 or later, here is 9.0", "unset TRITON_"),
        (None, b"", "no GPU is known here", "unset TRITON_ENABLE_HW_TRACE"),
        (100, b"\0cuptiActivityEnable\0", "has no cuptiActivityEnableHWTrace", "CUDA 12.8"),
        (100, b"\0cuptiActivityEnableHWTrace\0", "are timed by the hardware", ""),
    ],
)
def test_hardware_trace_is_judged_by_gpu_and_library(
    machine: Path,
    capability: int | None,
    content: bytes,
    text: str,
    remedy: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor_cuda, "newest_capability", lambda knobs: capability)
    (machine / "libcupti.so.13").write_bytes(content)
    knobs = Knobs(enable_hw_trace=True, cupti_lib_dir=str(machine))
    (found,) = doctor_cuda.hw_trace(knobs)
    assert text in found.text
    assert remedy in found.remedy
    assert found.is_problem == bool(remedy)


@pytest.mark.parametrize(
    ("restricted", "is_privileged", "is_problem"),
    [(0, False, False), (1, True, False), (1, False, True)],
)
def test_sampling_is_a_question_of_permission(
    machine: Path,
    restricted: int,
    is_privileged: bool,
    is_problem: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put(machine / "nvidia/params", f"RmProfilingAdminOnly: {restricted}\n")
    monkeypatch.setattr(driver, "is_privileged", lambda: is_privileged)
    (found,) = doctor_cuda.sampling(Knobs())
    assert found.is_problem is is_problem
    assert ("NVreg_RestrictProfilingToAdminUsers=0" in found.remedy) is is_problem
    assert ("mode 'pcsampling' can be used" in found.text) is not is_problem


def test_a_libcupti_without_its_helpers_cannot_sample(machine: Path) -> None:
    add_gpu(machine)
    put(machine / "local/cuda/lib64/libcupti.so.13", "")
    (found,) = doctor_cuda.sampling(Knobs())
    assert "needs libnvperf_target.so and libnvperf_host.so beside" in found.text
    assert "pip install nvidia-cuda-cupti" in found.remedy


@pytest.mark.parametrize(
    ("verdict", "text", "remedy"),
    [
        (probe.Verdict(), "mode 'pcsampling' can be used", ""),
        (probe.Verdict(refusal="it is busy; end it"), "not sampled: it is busy", "end it"),
        (probe.Verdict(silence="it hangs"), "whether the GPU can is not known: it hangs", ""),
    ],
)
def test_the_gpu_itself_is_asked_whether_it_can_be_sampled(
    machine: Path, monkeypatch: pytest.MonkeyPatch, verdict: probe.Verdict, text: str, remedy: str
) -> None:
    add_gpu(machine)
    put(machine / "lib/libcuda.so.1", "")
    libraries = [machine / "local/cuda/lib64" / name for name in PERF_LIBRARIES]
    for path in (machine / "local/cuda/lib64/libcupti.so.13", *libraries):
        put(path, "")
    asked: list[object] = []

    def ask(*given: object) -> probe.Verdict:
        asked.append(given)
        return verdict

    monkeypatch.setattr(probe, "ask", ask)
    (found,) = doctor_cuda.sampling(Knobs())
    assert text in found.text
    assert found.remedy == remedy
    libcupti, libcuda = machine / "local/cuda/lib64/libcupti.so.13", machine / "lib/libcuda.so.1"
    assert asked == [(str(libcupti), str(libcuda), list(map(str, libraries)))]


def test_a_tool_that_gets_into_every_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_INJECTION64_PATH", "/opt/tool.so")
    (found,) = doctor_cuda.holders()
    assert "CUDA_INJECTION64_PATH=/opt/tool.so" in found.text
    assert found.remedy == "unset CUDA_INJECTION64_PATH to profile with proton alone"


def test_the_library_that_proton_names_to_nvtx_is_no_other_tool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/some/proton/libproton_nvtx.so")
    (found,) = doctor_cuda.holders()
    assert found.text == "nobody that could be seen from here"


def test_a_running_host_engine_is_named(machine: Path) -> None:
    put(machine / "processes/77/comm", "nv-hostengine\n")
    put(machine / "processes/78/comm", "bash\n")
    engine, nobody = doctor_cuda.holders()
    assert "process 77" in engine.text
    assert nobody.text == "nobody that could be seen from here"
