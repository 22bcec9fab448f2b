"""Recordings of what CUPTI said, played back into the real core, give the profiles of that run.

Those in tests/data/streams were taken on a GPU by tests/gpu/record_streams.py; one more is taken
here from the fake driver. Each is also played with its buffers late, in another order, in small
pieces, with another clock, and cut off.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import folder_of_proton
from tests.native.fake_cuda.driver import build_driver, find_compiler
from tests.native.recorder.library import build_player
from tests.native.recorder.record_fake import environment
from tests.native.recorder.truth import Rows, count_names, from_json, losses_of, profiles_of

ROOT = Path(__file__).parents[2]
STREAMS = ROOT / "tests" / "data" / "streams"
FAKE = "fake"
TAKEN = sorted(path.name.removesuffix(".rec.gz") for path in STREAMS.glob("*.rec.gz"))
NAMES = [FAKE, *TAKEN]
# those whose kernels another profiler counted: not sessions with pauses, nor graphs as a whole
COMPARED = [name for name in TAKEN if json.loads((STREAMS / f"{name}.json").read_text())["torch"]]
# how buffers may come -> the player's options, and the environment
WAYS: dict[str, tuple[list[str], dict[str, str]]] = {
    "as recorded": ([], {}),
    "late and backwards": (["hold=1", "reverse_buffers=1"], {}),
    "small and shuffled": (["reverse_records=1"], {"TRITON_PROFILE_BUFFER_SIZE": "65536"}),
}

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


@dataclass(frozen=True)
class Recorded:
    """A recording, and what came of it when it was taken."""

    path: Path
    profiles: dict[str, Rows]
    losses: dict[str, dict[str, int]]
    truth: dict[str, Any]


def run_module(module: str, *arguments: str, cwd: Path, env: dict[str, str]) -> str:
    """What a module prints, run in a process of its own: a process opens one libcupti for good."""
    paths = os.pathsep.join([str(ROOT), folder_of_proton()])
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": paths, **env},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fake_recording(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A recording taken from the fake driver."""
    folder = tmp_path_factory.mktemp("recorded")
    env = environment(build_driver(), folder)
    run_module("tests.native.recorder.record_fake", str(folder), cwd=folder, env=env)
    return Recorded(folder / "fake.rec", profiles_of(folder), losses_of(folder), {})


@pytest.fixture(params=NAMES)
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Recorded:
    """Every recording there is."""
    if request.param == FAKE:
        fake: Recorded = request.getfixturevalue("fake_recording")
        return fake
    packed = STREAMS / f"{request.param}.rec.gz"
    truth = json.loads((STREAMS / f"{request.param}.json").read_text())
    path = tmp_path / f"{request.param}.rec"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    return Recorded(path, from_json(truth["profiles"]), truth["losses"], truth)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where replays write."""
    folder = tmp_path / "replayed"
    folder.mkdir()
    return folder


def replay(
    recorded: Recorded, folder: Path, *options: str, env: dict[str, str] | None = None
) -> dict[str, int]:
    """Play a recording; what the player counted."""
    arguments = (str(build_player()), str(recorded.path), *options)
    printed = run_module("tests.native.player.replay", *arguments, cwd=folder, env=env or {})
    counters: dict[str, int] = json.loads(printed)
    return counters


@pytest.mark.parametrize("way", WAYS)
def test_a_replay_gives_the_profiles_of_the_recorded_run(
    recorded: Recorded, folder: Path, way: str
) -> None:
    options, env = WAYS[way]
    counters = replay(recorded, folder, *options, env=env)
    assert profiles_of(folder) == recorded.profiles
    assert losses_of(folder) == recorded.losses
    assert counters["waiting_buffers"] == counters["refused_buffers"] == 0
    assert counters["records"] > 0


def test_times_stay_within_a_nanosecond_where_cupti_keeps_a_clock_of_its_own(
    recorded: Recorded, folder: Path
) -> None:
    replay(recorded, folder, "clock_offset_ns=5000000000")
    replayed = profiles_of(folder)
    assert replayed.keys() == recorded.profiles.keys()
    for name, rows in recorded.profiles.items():
        assert replayed[name].keys() == rows.keys()
        for path, (count, time_ns) in rows.items():
            assert replayed[name][path][0] == count
            assert abs(replayed[name][path][1] - time_ns) <= count


@pytest.mark.parametrize(
    ("recorded", "share"),
    [*((FAKE, share) for share in (0.3, 0.7, 0.98)), *((name, 0.7) for name in TAKEN)],
    indirect=["recorded"],
)
def test_of_a_recording_that_was_cut_off_nothing_is_booked_wrongly(
    recorded: Recorded, folder: Path, share: float
) -> None:
    limit = int(recorded.path.stat().st_size * share)
    replay(recorded, folder, f"limit={limit}")
    for name, rows in profiles_of(folder).items():
        name = name.removesuffix(".part_0.hatchet")
        whole = next(rows for each, rows in recorded.profiles.items() if each.startswith(name))
        for path, (count, time_ns) in rows.items():
            assert path in whole
            assert count <= whole[path][0]
            assert time_ns <= whole[path][1]


def test_a_trace_of_a_replay_has_every_kernel(recorded: Recorded, folder: Path) -> None:
    replay(recorded, folder, "start.data=trace")
    spans: Counter[str] = Counter()
    for path in folder.glob("*.chrome_trace"):
        events = json.loads(path.read_bytes())["traceEvents"]
        # names are demangled; call stacks, which not every event has, end with the symbol
        spans.update(
            event.get("args", {}).get("call_stack", [event["name"]])[-1]
            for event in events
            if event.get("ph") == "X"
        )
    for name, count in count_names(recorded.profiles.values()).items():
        assert spans[name] == count, name


@pytest.mark.parametrize("recorded", COMPARED, indirect=True)
def test_kernel_counts_are_those_of_another_profiler(recorded: Recorded) -> None:
    names = recorded.truth["demangled"]
    counts: Counter[str] = Counter()
    for name, count in count_names(recorded.profiles.values()).items():
        if not name.startswith("<"):  # copies and graphs are no kernels
            counts[names[name]] += count
    assert counts == recorded.truth["torch"]
