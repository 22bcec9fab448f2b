"""Long runs of backend "cupti" on the fake driver: phases that flush themselves, many sessions."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

import proton
from proton.runtime.sessions import open_sessions
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def thread_count() -> int:
    return len(os.listdir("/proc/self/task"))


def count_in(content: Any) -> int:
    pending, count = [content[0]], 0
    while pending:
        node = pending.pop()
        count += node["metrics"].get("count", 0)
        pending += node["children"]
    return count


def test_a_phase_becomes_complete_by_itself_and_nothing_waits(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    assert session is not None
    for _ in range(100):
        fake_driver.launch("k")
    before = fake_driver.counter("cuCtxSynchronize")
    proton.data.advance_phase(session)
    fake_driver.launch("next")
    wait_for(lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete")
    assert fake_driver.counter("cuCtxSynchronize") == before
    content = proton.data.get(session, 0)
    assert content is not None
    assert count_in(content) == 100
    assert not proton.data.is_phase_complete(session, 1)
    proton.finalize(session)


def test_a_phase_with_work_under_way_is_not_complete(fake_driver: FakeDriver) -> None:
    fake_driver.option("hold", 1)
    session = proton.start("run", backend="cupti")
    assert session is not None
    fake_driver.launch("k")
    proton.data.advance_phase(session)
    flushes = fake_driver.counter("cuptiActivityFlushAll")

    def has_flushed_again() -> bool:
        assert not proton.data.is_phase_complete(session, 0)
        return fake_driver.counter("cuptiActivityFlushAll") >= flushes + 2

    wait_for(has_flushed_again, "CUPTI to be asked for records twice")
    assert not proton.data.is_phase_complete(session, 0)
    fake_driver.calls.fake_complete()
    wait_for(lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete")
    content = proton.data.get(session, 0)
    assert content is not None
    assert count_in(content) == 1
    fake_driver.option("hold", 0)
    proton.finalize(session)


def test_launches_that_were_captured_are_not_waited_for(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    assert session is not None
    stream = fake_driver.stream()
    fake_driver.calls.fake_capture_begin(stream)
    for _ in range(3):
        fake_driver.launch("captured", 4, stream)
    executable = fake_driver.instantiate(fake_driver.calls.fake_capture_end(stream))
    for _ in range(4):
        fake_driver.replay(executable)
    proton.data.advance_phase(session)
    wait_for(lambda: proton.data.is_phase_complete(session, 0), "the phase to be complete", 10)
    content = proton.data.get(session, 0)
    assert content is not None
    assert count_in(content) == 12
    proton.finalize(session)


def test_periodic_flushing_writes_each_phase_once_its_records_have_come(
    fake_driver: FakeDriver, tmp_cwd: Path
) -> None:
    session = proton.start("run", backend="cupti", mode="periodic_flushing:format=hatchet_msgpack")
    assert session is not None
    (recording,) = open_sessions()
    for phase in range(5):
        for _ in range(50 + phase):
            fake_driver.launch("k")
        proton.data.advance_phase(session)
    parts = [tmp_cwd / f"run.part_{phase}.hatchet_msgpack" for phase in range(5)]
    wait_for(lambda: all(part.exists() for part in parts), "the files of five phases")
    wait_for(lambda: recording.left_phases() == [], "the phases to be dropped")
    written = [msgpack.loads(part.read_bytes(), strict_map_key=False) for part in parts]
    assert [count_in(each) for each in written] == [50, 51, 52, 53, 54]
    assert [devices["CUDA"]["0"]["name"] for _, devices in written] == ["Fake GPU"] * 5
    inodes = [part.stat().st_ino for part in parts]
    fake_driver.launch("last")
    proton.finalize(session)
    assert [part.stat().st_ino for part in parts] == inodes
    assert sorted(os.listdir()) == [*(part.name for part in parts), "run.part_5.hatchet_msgpack"]


def test_periodic_flushing_keeps_memory_flat(fake_driver: FakeDriver, tmp_cwd: Path) -> None:
    session = proton.start("run", backend="cupti", mode="periodic_flushing", data="trace")
    assert session is not None
    (recording,) = open_sessions()
    function = fake_driver.function("k", 5)

    def phases(count: int) -> None:
        for _ in range(count):
            fake_driver.calls.fake_launch_many(function, 2000, None)
            proton.data.advance_phase(session)
            wait_for(lambda: recording.left_phases() == [], "the phase to be written")
        for part in tmp_cwd.glob("run.part_*"):
            part.unlink()

    phases(10)
    before = resident_bytes()
    phases(20)  # 40 000 kernels and launches: 6 MB if they stayed
    assert resident_bytes() - before < 4 << 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proton.runtime.sessions.say_notices", lambda notices: None)
        proton.finalize(session)


def test_a_thousand_sessions_leave_neither_memory_nor_threads(fake_driver: FakeDriver) -> None:
    def cycle(count: int) -> None:
        for number in range(count):
            session = proton.start(
                "run",
                backend="cupti",
                context="python" if number % 3 == 0 else "shadow",
                data="trace" if number % 5 == 0 else "tree",
            )
            with proton.scope("s"):
                for _ in range(5):
                    fake_driver.launch("k", 7)
            proton.finalize(session)

    cycle(100)
    before, threads = resident_bytes(), thread_count()
    cycle(1000)
    assert resident_bytes() - before < 4 << 20
    # the system lists a thread for a moment after its last step
    wait_for(lambda: thread_count() <= threads, "the thread of the last session to be gone")
    assert count_in(json.loads(Path("run.hatchet").read_bytes())) == 5
    assert fake_driver.counter("is_subscribed") == 0


FORK_SCRIPT = """
    import os, sys
    sys.path.insert(0, sys.argv[1])
    from pathlib import Path
    from tests.native.fake_cuda.driver import FakeDriver
    import proton
    from proton.errors import BackendUnavailable

    driver = FakeDriver(Path(sys.argv[2]))
    session = proton.start("run", backend="cupti")
    with proton.scope("parent"):
        driver.launch("k", 3)
        for _ in range(3):
            if (child := os.fork()) == 0:
                with proton.scope("child"):
                    pass
                proton.finalize()  # of nothing
                try:
                    proton.start("child", backend="cupti")
                except BackendUnavailable as error:
                    assert "spawn" in str(error), error
                else:
                    os._exit(1)
                proton.start("own{pid}", backend="interpreter")
                with proton.scope("s"):
                    pass
                proton.finalize()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        driver.launch("k", 3)
    proton.finalize(session)
    assert driver.violations == [], driver.violations
"""


def test_children_of_a_process_with_cupti_inherit_nothing_broken(
    fake_driver: FakeDriver,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
    tmp_cwd: Path,
) -> None:
    root = Path(__file__).parents[2]
    done = run_python(FORK_SCRIPT, str(root), str(fake_driver.folder), env=fake_driver.environment)
    assert done.returncode == 0, done.stderr
    assert count_in(json.loads((tmp_cwd / "run.hatchet").read_bytes())) == 2
    assert len(list(tmp_cwd.glob("own*.hatchet"))) == 3


@pytest.mark.torch
def test_workers_of_a_data_loader_work_beside_a_session(run_python: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = run_python(
        """
        import torch, proton
        from proton.runtime import autosave
        autosave.FIRST_SAVE_S = 0.01
        session = proton.start("run", backend="interpreter")
        loader = torch.utils.data.DataLoader(list(range(32)), batch_size=4, num_workers=2)
        for _ in range(2):
            for batch in loader:
                with proton.scope("batch", {"rows": len(batch)}):
                    pass
        proton.finalize(session)
        """,
        env={"PROTON_JOURNAL_INTERVAL": "0.01"},
    )
    assert done.returncode == 0, done.stderr
    (root, _) = json.loads((tmp_path / "run.hatchet").read_text())
    assert root["children"][0]["metrics"]["rows"] == 64
    assert len(list(tmp_path.glob("*.hatchet"))) == 1
    assert list(tmp_path.glob("*.partial")) == []
