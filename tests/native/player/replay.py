"""Plays a recording into Proton, every step on the thread it belongs to: profiles are written to
the current folder, and what the player counted is printed as JSON.

    python -m tests.native.player.replay LIBRARY RECORDING [NAME=VALUE ...]

Names are the player's options, `limit` (bytes of the recording to read), or options of
`proton.start` that win over the recorded ones, as `start.data=trace`.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.native.recorder.library import open_player
from tests.native.recorder.notes import DONE, FLUSHING, Stage

COUNTERS = (
    "callbacks",
    "unasked_callbacks",
    "buffers",
    "flushed_buffers",
    "records",
    "unasked_buffers",
    "refused_buffers",
    "waiting_buffers",
)
STEP_LIMIT_S = 60.0


class Worker:
    """A thread of Python's that does what it is given, one thing at a time."""

    def __init__(self, number: int) -> None:
        self._given: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._done: queue.Queue[BaseException | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name=f"recorded-{number}", daemon=True)
        self._thread.start()

    def do(self, work: Callable[[], None]) -> None:
        """Have it done, and wait."""
        self._given.put(work)
        error = self._done.get(timeout=STEP_LIMIT_S)
        if error is not None:
            raise error

    def end(self) -> None:
        """Let the thread go."""
        self._given.put(None)
        self._thread.join(STEP_LIMIT_S)

    def _run(self) -> None:
        while (work := self._given.get()) is not None:
            try:
                work()
            except BaseException as error:
                self._done.put(error)
            else:
                self._done.put(None)


class Replay:
    """One recording, played once; a process can play one."""

    def __init__(self, library: Path, recording: Path, *, limit: int = 1 << 62) -> None:
        os.environ["TRITON_CUPTI_LIB_PATH"] = os.environ["PROTON_CUDA_LIBRARY"] = str(library)
        self.player = open_player(library)
        problem = self.player.player_load(os.fsencode(recording), limit)
        if problem:
            raise ValueError(problem.decode())
        self._stage = Stage()
        self._workers: dict[int, Worker] = {}

    def play(self, **changed: Any) -> dict[str, int]:
        """Do every step; what the player counted."""
        steps = [self._step(index) for index in range(self.player.player_step_count())]
        noted = list(dict.fromkeys(thread for thread, note in steps if note is not None))
        for index, (thread, note) in enumerate(steps):
            if note == DONE:
                continue
            if thread not in noted:
                self.player.player_run_natively(index)
            elif thread == noted[0]:  # the one that starts sessions, as the main thread did
                self._do(index, note, changed)
            else:
                if thread not in self._workers:
                    self._workers[thread] = Worker(thread)
                self._workers[thread].do(lambda: self._do(index, note, changed))  # noqa: B023
        self._stage.close()
        for worker in self._workers.values():
            worker.end()
        return {name: self.player.player_counter(name.encode()) for name in COUNTERS}

    def _step(self, index: int) -> tuple[int, str | None]:
        note = ctypes.c_char_p()
        thread = self.player.player_step(index, ctypes.byref(note))
        return thread, None if note.value is None else note.value.decode()

    def _do(self, index: int, note: str | None, changed: dict[str, Any]) -> None:
        self.player.player_run(index)  # of a note: what CUPTI told while it was done
        if note is None:
            return
        deed = json.loads(note)
        if deed["op"] in FLUSHING:
            self.player.player_begin(index)
        self._stage.perform(deed, **(changed if deed["op"] == "start" else {}))


def main(arguments: Sequence[str]) -> None:
    """Play what the command line says."""
    library, recording, *settings = arguments
    options = dict(each.split("=", 1) for each in settings)
    replay = Replay(Path(library), Path(recording), limit=int(options.pop("limit", 1 << 62)))
    start = {key: options.pop(key) for key in [*options] if key.startswith("start.")}
    for name, value in options.items():
        assert replay.player.player_set_option(name.encode(), int(value)) == 0, name
    counters = replay.play(**{key.partition(".")[2]: value for key, value in start.items()})
    print(json.dumps(counters))


if __name__ == "__main__":
    main(sys.argv[1:])
