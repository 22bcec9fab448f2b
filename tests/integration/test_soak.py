"""Long runs: nothing grows, nothing breaks. Run by `make test-long`."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native
from proton.errors import ProtonError

pytestmark = [pytest.mark.long, pytest.mark.timeout(600), pytest.mark.usefixtures("tmp_cwd")]


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_thousands_of_sessions_leave_no_memory_behind(fake_gpu: Any) -> None:
    def cycle(count: int) -> None:
        for _ in range(count):
            proton.start("run", context=random.choice(["shadow", "python"]))
            for n in range(20):
                with proton.scope(f"s{n}", {"x": 1}):
                    fake_gpu.launch("k")
            proton.finalize()

    cycle(300)
    before = resident_bytes()
    cycle(3000)
    assert resident_bytes() - before < 8 << 20


def test_phases_that_are_flushed_leave_no_memory_behind(fake_gpu: Any, tmp_cwd: Path) -> None:
    session = proton.start("run", mode="periodic_flushing")

    def cycle(count: int) -> None:
        for _ in range(count):
            for n in range(50):
                with proton.scope(f"s{n}", {"x": 1}):
                    fake_gpu.launch("k")
            proton.data.advance_phase(session)
            proton.deactivate(session, flushing=True)
            proton.activate(session)
        for part in tmp_cwd.glob("*.hatchet"):
            part.unlink()

    cycle(300)
    before = resident_bytes()
    cycle(3000)
    assert resident_bytes() - before < 8 << 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proton.runtime.sessions.say_notices", lambda notices: None)
        proton.finalize()


def test_threads_and_tasks_survive_random_use_of_everything(fake_gpu: Any) -> None:
    end = threading.Event()
    failures: list[BaseException] = []

    def record(chance: random.Random) -> None:
        while not end.is_set():
            with proton.scope(f"s{chance.randrange(9)}", {"x": 1}), proton.state("st"):
                fake_gpu.launch("k")
            proton.enter_scope("e", metrics={"y": 0.5})
            proton.exit_scope("e")

    def tasks(chance: random.Random) -> None:
        async def work() -> None:
            for _ in range(20):
                with proton.scope(f"t{chance.randrange(9)}"):
                    await asyncio.sleep(0)
                    fake_gpu.launch("k")

        async def main() -> None:
            await asyncio.gather(*(work() for _ in range(5)))

        while not end.is_set():
            asyncio.run(main())

    def control(chance: random.Random) -> None:
        name = f"run{chance.randrange(3)}"
        while not end.is_set():
            try:
                session = proton.start(name, data=chance.choice(["tree", "trace"]))
                for _ in range(chance.randrange(30)):
                    chance.choice([proton.activate, proton.deactivate])(session)
                    proton.data.advance_phase(session)
                    proton.data.clear(session, chance.randrange(10), clear_up_to_phase=True)
                proton.finalize(session)
            except ProtonError:
                pass  # another thread closed it, or has it open with other data

    def guarded(function: Any, seed: int) -> None:
        try:
            function(random.Random(seed))
        except BaseException as error:
            failures.append(error)
            end.set()

    functions = [record, record, record, tasks, control, control, control]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proton.runtime.sessions.say_notices", lambda notices: notices.clear())
        threads = [
            threading.Thread(target=guarded, args=(function, seed))
            for seed, function in enumerate(functions)
        ]
        for thread in threads:
            thread.start()
        end.wait(20)
        end.set()
        for thread in threads:
            thread.join(60)
        proton.finalize()
    assert failures == []
    assert _native.context_path() == []
