"""Records a program on the fake driver: threads, graphs, phases, pauses, dropped records.

    python -m tests.native.recorder.record_fake FOLDER

Writes fake.rec and the profiles to FOLDER. Run it with the environment of `environment`.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from tests.native.fake_cuda.driver import FakeDriver
from tests.native.recorder.library import build_recorder, open_recorder
from tests.native.recorder.notes import Stage


def environment(driver: Path, folder: Path) -> dict[str, str]:
    """Puts the recorder before the fake libcupti, and says where to write."""
    cupti = next(driver.glob("libcupti.so.*")).resolve()
    return {
        "FAKE_DRIVER": str(driver),
        "TRITON_CUPTI_LIB_PATH": str(build_recorder(cupti)),
        "PROTON_CUDA_LIBRARY": str(driver / "libcuda.so.1"),
        "PROTON_RECORDER_FILE": str(folder / "fake.rec"),
        "TRITON_PROFILE_BUFFER_SIZE": str(64 << 10),  # several, that the driver's thread delivers
    }


def run(driver: FakeDriver, stage: Stage) -> None:
    """The program."""
    with stage.session("first"):
        workers = [threading.Thread(target=_work, args=(driver, stage, n)) for n in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        executable = _capture(driver, stage)
        for turn in range(20):
            with stage.scope(f"replay{turn % 2}"):
                driver.replay(executable)
        stage.pause("first")
        driver.launch("unseen")
        stage.resume("first")
        driver.memcpy(1, 1 << 20, 300)
        driver.memset(1 << 10, 20)
    driver.launch("between")
    with stage.session("second", mode="graphs=graph"):
        executable = _capture(driver, stage)
        for number in range(3):
            with stage.scope(f"phase{number}"):
                driver.replay(executable)
                driver.launch("k", 5 + number)
            if number < 2:
                stage.advance_phase("second")
        driver.option("drop_next", 2)
        for _ in range(3):
            driver.launch("dropped", 9)


def _work(driver: FakeDriver, stage: Stage, number: int) -> None:
    stream = driver.stream()
    for turn in range(400):
        with stage.scope(f"thread{number}"), stage.scope(f"turn{turn % 3}", {"rows": 2.0}):
            driver.launch(f"kernel{turn % 5}", 10 + number, stream)
    driver.launch("without a scope", 3, stream)


def _capture(driver: FakeDriver, stage: Stage) -> int:
    stream = driver.stream()
    with stage.scope("capture"):
        driver.calls.fake_capture_begin(stream)
        for name in "ab":
            with stage.scope(f"layer_{name}"):
                driver.launch(name, 4, stream)
        return driver.instantiate(driver.calls.fake_capture_end(stream))


def main(folder: Path) -> None:
    """Record."""
    driver = FakeDriver(Path(os.environ["FAKE_DRIVER"]))
    recorder = open_recorder(Path(os.environ["TRITON_CUPTI_LIB_PATH"]))
    os.chdir(folder)
    run(driver, Stage(lambda text: recorder.recorder_note(text.encode())))
    recorder.recorder_finish()
    assert not driver.violations, driver.violations


if __name__ == "__main__":
    main(Path(sys.argv[1]))
