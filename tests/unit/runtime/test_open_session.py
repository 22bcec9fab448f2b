"""One session's life: nothing is left running, whatever fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import WriteError
from proton.files.read import read_profile
from proton.model.schema import to_object
from proton.runtime import phase_files, sessions
from tests.support.in_kernel import KERNEL


@pytest.fixture(autouse=True)
def gpu(fake_gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_cwd))
    return fake_gpu


def test_a_session_whose_profile_was_rescued_is_closed(gpu: Any, tmp_cwd: Path) -> None:
    proton.start("missing/run")
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    with pytest.raises(WriteError, match="it was written to"):
        proton.finalize()
    assert sessions.open_sessions() == []
    assert gpu.sinks == []


def test_a_session_whose_profile_is_nowhere_stays_open_and_can_be_written_later(
    gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch, profile_of: Any
) -> None:
    session = proton.start("missing/run")
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    with monkeypatch.context() as patch:
        patch.setattr(phase_files, "_fallbacks", lambda path: iter(()))
        with pytest.raises(WriteError, match="make room and finalize the session again"):
            proton.finalize()
    (tmp_cwd / "missing").mkdir()
    proton.finalize(session)
    assert profile_of("missing/run.hatchet").paths() == ["k"]


def test_one_session_that_cannot_be_written_does_not_cost_the_others(
    gpu: Any, tmp_cwd: Path
) -> None:
    for name in ("missing/a", "good", "missing/b"):
        proton.start(name)
    (tmp_cwd / "missing").rmdir()
    gpu.launch("k")
    with pytest.raises(WriteError, match=r"missing/a\.hatchet") as caught:
        proton.finalize()
    assert (tmp_cwd / "good.hatchet").exists()
    assert "missing/b.hatchet" in caught.value.__notes__[0]


def test_all_phases_are_tried_when_one_cannot_be_written(gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run")
    for _ in range(2):
        gpu.launch("k")
        proton.data.advance_phase(session)
    gpu.launch("k")
    (tmp_cwd / "run.part_1.hatchet").mkdir()
    with pytest.raises(WriteError, match=r"run\.part_1\.hatchet: cannot write"):
        proton.finalize()
    assert (tmp_cwd / "run.part_0.hatchet").is_file()
    assert (tmp_cwd / "run.part_2.hatchet").is_file()


def test_every_phase_that_went_elsewhere_is_named(gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run")
    gpu.launch("k")
    proton.data.advance_phase(session)
    gpu.launch("k")
    for phase in range(2):
        (tmp_cwd / f"run.part_{phase}.hatchet").mkdir()
    with pytest.raises(WriteError, match=r"run\.part_0\.pid_\d+\.hatchet' instead") as caught:
        proton.finalize()
    assert "run.part_1.pid_" in caught.value.__notes__[0]


def test_a_phase_that_went_elsewhere_in_mid_run_is_named_at_the_latest_with_the_failure(
    gpu: Any, tmp_cwd: Path
) -> None:
    session = proton.start("run", mode="periodic_flushing")
    gpu.launch("k")
    for phase in range(2):
        (tmp_cwd / f"run.part_{phase}.hatchet").mkdir()
    (recording,) = sessions.open_sessions()
    recording.advance_phase()  # by a thread of ours: nobody is there to be told
    gpu.launch("k")
    with pytest.raises(WriteError, match=r"run\.part_1\.pid_") as caught:
        proton.finalize(session)
    assert "run.part_0.pid_" in caught.value.__notes__[0]


def test_a_backend_that_fails_to_flush_does_not_cost_the_profile(
    gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, limit_s: float) -> None:
        raise RuntimeError("lost the device")

    monkeypatch.setattr(gpu, "flush", fail)
    proton.start("run")
    gpu.launch("k")
    with pytest.raises(RuntimeError, match="lost the device"):
        proton.finalize()
    assert (tmp_cwd / "run.hatchet").exists()
    assert gpu.sinks == []


def test_a_hook_of_the_users_comes_and_goes_with_the_session(gpu: Any) -> None:
    from proton.hooks import HookManager, LaunchHook

    session = proton.start("run", hook="triton")
    assert HookManager.active_hooks == [LaunchHook()]
    proton.deactivate(session)
    assert HookManager.active_hooks == []
    proton.activate(session)
    assert HookManager.active_hooks == [LaunchHook()]
    gpu.launch("k")
    proton.finalize()
    assert dict(HookManager.session_hooks) == {}


def test_what_kernels_recorded_about_themselves_is_in_the_file_of_its_phase(
    gpu: Any, tmp_cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[int] = []
    monkeypatch.setattr(gpu, "drop_phase", lambda _, phase: dropped.append(phase), raising=False)
    monkeypatch.setattr(
        gpu,
        "recorded_kernels",
        lambda _, phase: [replace(KERNEL, launches=phase)] if phase else [],
        raising=False,
    )
    session = proton.start("run")
    assert session is not None
    for _ in range(3):
        gpu.launch("k")
        proton.data.advance_phase(session)
    proton.data.clear(session, phase=2)
    gpu.launch("k")
    found = proton.data.get(session, phase=1)
    assert found is not None
    assert found[0]["proton"]["in_kernel"] == [to_object(replace(KERNEL, launches=1))]
    proton.finalize(session)
    parts = {
        phase: read_profile((tmp_cwd / f"run.part_{phase}.hatchet").read_bytes(), "f")
        for phase in (0, 1, 3)
    }
    assert {phase: len(part.in_kernel) for phase, part in parts.items()} == {0: 0, 1: 1, 3: 1}
    assert parts[3].in_kernel[0].launches == 3
    assert dropped == [2]
