"""The question whether the GPU can be sampled, put to another process."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from proton.backends.cupti import sampling_probe as probe
from tests.native.fake_cuda.driver import FakeDriver


def ask(driver: FakeDriver) -> probe.Verdict:
    paths = driver.environment
    return probe.ask(paths["TRITON_CUPTI_LIB_PATH"], paths["PROTON_CUDA_LIBRARY"], [])


def test_a_gpu_that_can_be_sampled_has_no_verdict(fake_driver: FakeDriver) -> None:
    assert ask(fake_driver) == probe.Verdict()
    assert fake_driver.counter("cuInit") == 0  # here


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("cuptiPCSamplingEnable=35", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("zero_reasons=1", "knows no stall reasons for this GPU"),
        ("is_mig=1", "CUPTI cannot sample a part of a GPU"),
        ("cuInit=100", "there is no CUDA device; see whether `nvidia-smi` shows a GPU"),
    ],
)
def test_a_refusal_comes_back_with_its_remedy(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, setting: str, text: str
) -> None:
    monkeypatch.setenv("FAKE_CUDA_SETTINGS", setting)
    verdict = ask(fake_driver)
    assert verdict.silence is None
    assert text in (verdict.refusal or "")


def test_a_library_that_cannot_be_opened_is_a_silence(tmp_path: Path) -> None:
    verdict = probe.ask(str(tmp_path / "libcupti.so"), str(tmp_path / "libcuda.so"), [])
    assert verdict.refusal is None
    assert "ended with status 1: " in (verdict.silence or "")
    assert "libcuda.so: cannot open shared object file" in (verdict.silence or "")


@pytest.mark.parametrize(
    ("executable", "text"),
    [("", "is no Python"), ("/opt/app", "is no Python"), ("/nowhere/python3", "No such file")],
)
def test_without_a_python_nobody_is_asked(
    monkeypatch: pytest.MonkeyPatch, executable: str, text: str
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    assert text in (probe.ask("libcupti", "libcuda", []).silence or "")


def test_a_process_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper = tmp_path / "python"
    sleeper.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(sleeper))
    monkeypatch.setattr(probe, "LIMIT_S", 0.5)
    begin = time.monotonic()
    verdict = probe.ask("libcupti", "libcuda", [])
    assert time.monotonic() - begin < 5
    assert "did not answer within" in (verdict.silence or "")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_the_other_process_is_not_profiled_and_loads_no_framework(
    fake_driver: FakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever PYTHONPATH would start: `proton` reaches the program's own children by it."""
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('started')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    count = "sum(name in sys.modules for name in ('torch', 'triton', 'numpy', 'site'))"
    code = probe._CODE.replace("answer(sys.argv[2:])", f"sys.exit(str({count}) + ' of these')")
    monkeypatch.setattr(probe, "_CODE", code)
    assert ask(fake_driver).silence == "the process for it ended with status 1: '0 of these'"
