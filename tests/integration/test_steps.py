"""Steps that a program marks are in files of every format, also in parts and merged ones."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import proton
from proton.analysis.step_times import step_times
from proton.files.detect import open_profile
from proton.files.read import read_profile
from proton.files.write import write_profile
from proton.model.merge_ranks import RankMerger
from proton.model.profile import Profile
from proton.model.steps import StepSeries
from proton.model.trace import SpanKind
from proton.runtime.sessions import open_sessions
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.profiles import trace_in, tree_in

pytestmark = pytest.mark.usefixtures("tmp_cwd")
SUFFIXES = {
    "hatchet": "hatchet",
    "hatchet_msgpack": "hatchet_msgpack",
    "chrome_trace": "chrome_trace",
    "perfetto": "pftrace",
}


def series_of(profile: Profile) -> StepSeries:
    (series,) = profile.steps
    return series


@pytest.mark.parametrize("output_format", SUFFIXES)
def test_every_format_keeps_the_steps(output_format: str) -> None:
    data = "tree" if "hatchet" in output_format else "trace"
    before_ns = time.time_ns()
    session = proton.start("run", backend="interpreter", data=data)
    for name in (None, "second", None):
        with proton.scope("work"):
            time.sleep(0.001)
        proton.step(name)
    with proton.scope("work"):
        pass  # not a step: nothing ends it
    proton.finalize(session, output_format)
    path = Path(f"run.{SUFFIXES[output_format]}")
    series = series_of(open_profile(path))
    assert len(series.duration_ns) == series.count == 3
    assert all(1_000_000 <= duration_ns < 1_000_000_000 for duration_ns in series.duration_ns)
    assert tuple(series.names) == ("", "second", "")
    ends = [s + d for s, d in zip(series.start_ns, series.duration_ns, strict=True)]
    assert list(series.start_ns[1:]) == ends[:-1]
    assert before_ns <= series.base_ns + series.start_ns[0] <= time.time_ns()
    write_profile(open_profile(path), Path(f"again.{path.suffix[1:]}"))
    assert series_of(open_profile(Path(f"again.{path.suffix[1:]}"))) == series


def test_a_pause_cuts_a_step_off_and_the_next_begins_after_it() -> None:
    session = proton.start("run", backend="interpreter")
    proton.step("counted")
    proton.deactivate(session)
    proton.step("while paused")
    proton.activate(session)
    proton.step("after it")
    proton.finalize(session)
    assert tuple(series_of(open_profile(Path("run.hatchet"))).names) == ("counted", "after it")


def test_without_a_session_nothing_happens() -> None:
    assert proton.step() is None  # type: ignore[func-returns-value]


def test_parts_have_the_steps_that_end_in_them_and_a_set_has_all() -> None:
    session = proton.start("run", backend="interpreter")
    for number in range(5):
        with proton.scope("work"):
            pass
        proton.step(f"step {number}")
        if number == 1:
            proton.data.advance_phase(session)
    proton.finalize(session)
    first = series_of(read_profile(Path("run.part_0.hatchet").read_bytes(), "part"))
    assert tuple(first.names) == ("step 0", "step 1")
    whole = series_of(open_profile(Path("run.hatchet")))
    assert tuple(whole.names) == tuple(f"step {number}" for number in range(5))
    assert list(whole.start_ns) == sorted(whole.start_ns)


def test_steps_beyond_the_room_are_counted_as_lost() -> None:
    session = proton.start("run", backend="interpreter")
    for _ in range(65_536 + 7):
        proton.step()
    proton.finalize(session)
    profile = open_profile(Path("run.hatchet"))
    series = series_of(profile)
    assert (len(series.duration_ns), series.left_out) == (65_536, 7)
    assert profile.losses == {"step": 7}
    times = step_times(profile)
    assert times is not None
    assert (times.count, times.kept) == (65_543, 65_536)


def test_ranks_keep_their_own_steps() -> None:
    merger = RankMerger()
    for rank in (1, 0):
        session = proton.start(f"rank{rank}", backend="interpreter")
        for _ in range(rank + 2):
            with proton.scope("work"):
                pass
            proton.step()
        proton.finalize(session)
        merger.add(open_profile(Path(f"rank{rank}.hatchet")), rank)
    merged = merger.result("merged")
    assert [(each.rank, each.count) for each in merged.steps] == [(0, 2), (1, 3)]


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_what_a_killed_program_leaves_has_the_steps(data: str) -> None:
    script = f"""
import os, proton, time
proton.start("run", backend="interpreter", data={data!r})
for _ in range(3):
    with proton.scope("work"):
        pass
    proton.step()
while not os.path.exists("run.partial") or os.path.getsize("run.partial") < 100:
    time.sleep(0.05)
time.sleep(0.5)
os.kill(os.getpid(), 9)
"""
    environment = {**os.environ, "PROTON_JOURNAL_INTERVAL": "0.1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, timeout=60)
    assert done.returncode == -9
    assert series_of(open_profile(Path("run.partial"))).count == 3


@pytest.mark.parametrize("output_format", SUFFIXES)
def test_gpu_time_counts_for_the_step_of_the_launch(
    fake_driver: FakeDriver, output_format: str
) -> None:
    data = "tree" if "hatchet" in output_format else "trace"
    fake_driver.option("hold", 1)  # nothing ends before the session does
    session = proton.start("run", backend="cupti", data=data)
    for number in range(4):
        for _ in range(number):
            fake_driver.launch("k", 1000)
        fake_driver.memcpy(1, 64, 50)
        proton.step()
    fake_driver.launch("k", 70)  # in no step
    proton.finalize(session, output_format)
    profile = open_profile(Path(f"run.{SUFFIXES[output_format]}"))
    assert tuple(series_of(profile).gpu_time_ns) == (50, 1050, 2050, 3050)


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_work_that_ended_before_the_first_mark_is_of_the_first_step(
    fake_driver: FakeDriver, data: str
) -> None:
    session = proton.start("run", backend="cupti", data=data)
    fake_driver.launch("k", 1000)
    proton.data.advance_phase(session)
    fake_driver.launch("k", 200)
    proton.deactivate(session, flushing=True)
    proton.activate(session)
    fake_driver.launch("k", 30)
    proton.step()
    fake_driver.launch("k", 4)
    proton.step()
    proton.finalize(session)
    (suffix,) = {path.suffix for path in Path().glob("run.part_*")}
    assert tuple(series_of(open_profile(Path(f"run{suffix}"))).gpu_time_ns) == (30, 4)


def test_steps_that_phases_cut_keep_the_time_of_both_parts(fake_driver: FakeDriver) -> None:
    session = proton.start("run", backend="cupti")
    for phase in range(3):
        fake_driver.launch("k", 10)
        proton.data.advance_phase(session)
        fake_driver.launch("k", 1 + phase)
        proton.step()
    proton.data.clear(session, phase=1)
    fake_driver.launch("k", 1000)
    proton.finalize(session)
    assert tuple(series_of(open_profile(Path("run.hatchet"))).gpu_time_ns) == (12, 13)


def test_kernels_without_launches_count_where_they_begin() -> None:
    session = proton.start("run", backend="interpreter")
    proton.step()
    (opened,) = open_sessions()
    for time_ns in (5, 7):
        now_ns = time.monotonic_ns()
        opened.native.on_kernel("k", now_ns, now_ns + time_ns, device_type="FAKE", device_id=0)
        proton.step()
    proton.finalize(session)
    assert tuple(series_of(open_profile(Path("run.hatchet"))).gpu_time_ns) == (0, 5, 7)


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_schedule_keeps_no_kernel_of_other_steps(fake_driver: FakeDriver, data: str) -> None:
    plan = proton.schedule(wait=1, warmup=1, active=2, repeat=2)
    session = proton.start("run", backend="cupti", data=data, schedule=plan)
    for step in range(10):
        with proton.scope(f"step_{step}"):
            fake_driver.launch("k", 1000)
        proton.step()
    proton.finalize(session)
    (suffix,) = {path.suffix for path in Path().glob("run.part_*")}
    profile = open_profile(Path(f"run{suffix}"))
    kept = {f"step_{step}" for step in (2, 3, 6, 7)}
    if data == "tree":
        rows = tree_in(profile)
        assert {frame.name for frame in rows.frames[1:]} == {*kept, "k"}
        assert rows.root.total("count") == 4
    else:
        kernels = [s for s in trace_in(profile).spans if s.kind is SpanKind.KERNEL]
        assert sorted(span.path[0] for span in kernels) == sorted(kept)
    assert series_of(profile).count == 4
    assert tuple(series_of(profile).gpu_time_ns) == (1000,) * 4
    assert profile.losses == {}


def test_the_command_takes_a_schedule() -> None:
    Path("train.py").write_text(
        "import proton\n"
        "for step in range(4):\n"
        "    with proton.scope(f'step_{step}'): pass\n"
        "    proton.step()\n"
    )
    command = [
        sys.executable,
        "-m",
        "proton",
        "--schedule",
        "wait=1,warmup=1,active=1",
        "-n",
        "run",
    ]
    done = subprocess.run([*command, "train.py"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [frame.name for frame in tree_in(open_profile(Path("run.hatchet"))).frames[1:]] == [
        "step_2"
    ]
    refused = [*command[:4], "active=none", "train.py"]
    done = subprocess.run(refused, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "'active=none' is no number of steps" in done.stderr
