"""Processes that do not end as they should: killed, told to end, left in a hurry."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from proton.cli import main
from proton.errors import FormatError
from proton.files.detect import open_profile
from proton.files.journal.format import unpack
from proton.model.profile import TraceProfile, TreeProfile
from tests.conftest import folder_of_proton
from tests.support.profiles import trace_in, tree_in
from tests.support.waiting import wait_for

# A session on the interpreter backend that reports a kernel a millisecond, and says how many.
PROGRAM = """
import os, sys, time
import proton
from proton.errors import SessionNotFound
from proton.runtime import autosave
from proton.runtime.sessions import open_sessions

autosave.FIRST_SAVE_S = 0.03
autosave.GRACE_S = 0.02
autosave.SHARE = 1
session = proton.start("run", backend="interpreter", data=sys.argv[1])
sink = open_sessions()[0].native
count, reach = 0, int(os.environ.get("REACH", "0"))
while True:
    with proton.scope(f"step{count % 5}", {"x": 1}):
        now = time.monotonic_ns()
        try:
            sink.on_kernel("k", now, now + 10, device_type="CPU", device_id=0)
        except SessionNotFound:  # a signal came, and this thread still runs
            break
    count += 1
    if count == 1:
        print("started", flush=True)
    if count == reach:
        print("reached", flush=True)
    if len(sys.argv) > 2 and count % int(sys.argv[2]) == 0:
        proton.data.advance_phase(session)
    time.sleep(0.001)
"""


@pytest.fixture
def start_program(tmp_path: Path) -> Any:
    """`start_program(code, *words)` runs it in `tmp_path`, up to its first line of output."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *words: str, **environment: str) -> subprocess.Popen[str]:
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(code))
        process = subprocess.Popen(
            [sys.executable, str(script), *words],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": folder_of_proton(),
                "PROTON_JOURNAL_INTERVAL": "0.05",
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "started", process.communicate()[1]
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)


def kernels(path: Path) -> int:
    profile = open_profile(path)
    if isinstance(profile, TraceProfile):
        return sum(span.kind.value == "kernel" for span in profile.trace.spans)
    assert isinstance(profile, TreeProfile)
    return int(profile.tree.root.total("count") or 0)


def kill_and_recover(start_program: Any, folder: Path, data: str, reach: int) -> None:
    """Kill it when it has launched `reach` kernels and has a journal."""
    process = start_program(PROGRAM, data, REACH=str(reach))
    journal = folder / "run.partial"
    assert process.stdout.readline().strip() == "reached"
    wait_for(journal.exists, "the journal")
    process.kill()
    process.wait(timeout=20)
    content = unpack(journal.read_bytes())
    flushed = kernels(journal)
    assert flushed > 0
    assert content.chunks
    main(["recover", str(journal)])
    suffix = "hatchet" if data == "tree" else "chrome_trace"
    assert kernels(folder / f"run.{suffix}") == flushed
    profile = open_profile(folder / f"run.{suffix}")
    assert any(f"process {process.pid} was killed" in text for text in profile.warnings)
    assert sorted(os.listdir(folder)) == ["program.py", f"run.{suffix}"]
    (folder / f"run.{suffix}").unlink()


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_killed_process_leaves_what_was_flushed(
    start_program: Any, tmp_path: Path, data: str
) -> None:
    chance = random.Random(data)
    for _ in range(5):
        kill_and_recover(start_program, tmp_path, data, chance.randrange(20, 300))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("data", ["tree", "trace"])
def test_any_moment_will_do(start_program: Any, tmp_path: Path, data: str) -> None:
    chance = random.Random(data)
    for _ in range(200):
        kill_and_recover(start_program, tmp_path, data, chance.randrange(20, 500))


def test_phases_that_were_left_are_whole_files(start_program: Any, tmp_path: Path) -> None:
    for attempt in range(4):
        process = start_program(PROGRAM, "tree", "40")
        wait_for((tmp_path / f"run.part_{2 + attempt}.hatchet").exists, "some phases")
        process.kill()
        process.wait(timeout=20)
        counts = [kernels_of_file(path) for path in tmp_path.glob("run.part_*.hatchet")]
        assert set(counts) == {40}
        if (tmp_path / "run.partial").exists():
            main(["recover", str(tmp_path / "run")])
        assert kernels(tmp_path / "run") >= 40 * len(counts)
        for path in tmp_path.glob("run.*"):
            path.unlink()


def kernels_of_file(path: Path) -> int:
    """Of this file alone: it must be whole JSON."""
    pending, count = [json.loads(path.read_text())[0]], 0
    while pending:
        node = pending.pop()
        count += node["metrics"].get("count", 0)
        pending += node["children"]
    return count


def test_a_torn_journal_gives_what_is_whole(start_program: Any, tmp_path: Path) -> None:
    process = start_program(PROGRAM, "trace")
    journal = tmp_path / "run.partial"
    wait_for(lambda: journal.exists() and journal.stat().st_size > 6000, "some chunks")
    process.kill()
    process.wait(timeout=20)
    data = journal.read_bytes()
    whole = kernels(journal)
    chance = random.Random(3)
    for _ in range(40):
        journal.write_bytes(data[: chance.randrange(len(data))])
        assert kernels_if_any(journal) <= whole
    for _ in range(40):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 0xFF
        journal.write_bytes(damaged)
        assert kernels_if_any(journal) < whole


def kernels_if_any(journal: Path) -> int:
    """0 where the reader says, in one line, that there is nothing to recover."""
    with contextlib.suppress(FormatError):
        return kernels(journal)
    with pytest.raises(FormatError, match=r"\A[^\n]*(nothing to recover|not a profile)[^\n]*\Z"):
        open_profile(journal)
    return 0


def test_the_next_run_keeps_the_journal_and_says_so(start_program: Any, tmp_path: Path) -> None:
    first = start_program(PROGRAM, "tree")
    wait_for((tmp_path / "run.partial").exists, "the journal")
    first.kill()
    first.wait(timeout=20)
    second = start_program(PROGRAM, "tree")
    kept = tmp_path / f"run.pid_{first.pid}.partial"
    assert kept.exists()
    second.terminate()
    _, errors = second.communicate(timeout=20)
    assert f"process {first.pid} was killed and left this journal" in errors
    assert f"proton recover {kept}" in errors
    assert (tmp_path / "run.hatchet").exists()
    main(["recover", str(kept)])
    assert kernels(tmp_path / f"run.pid_{first.pid}.hatchet") > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("journal", ["0.05", "0"])
def test_a_signal_writes_the_profile_and_ends_the_process_all_the_same(
    start_program: Any, tmp_path: Path, number: signal.Signals, journal: str
) -> None:
    process = start_program(PROGRAM, "tree", PROTON_JOURNAL_INTERVAL=journal)
    process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == -number
    assert errors == ""
    assert sorted(os.listdir(tmp_path)) == ["program.py", "run.hatchet"]
    assert kernels(tmp_path / "run.hatchet") > 0


def test_a_signal_under_the_command_writes_and_says_so(start_program: Any, tmp_path: Path) -> None:
    target = PROGRAM.replace("sys.argv[1]", "'tree'")
    (tmp_path / "target.py").write_text(target)
    command = """
        import sys
        from proton.cli import main
        sys.exit(main(["-n", "run", "--backend", "interpreter", "target.py"]))
        """
    process = start_program(command)
    process.terminate()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert "run.hatchet" in errors
    assert kernels(tmp_path / "run.hatchet") > 0
    assert not (tmp_path / "run.partial").exists()


# Triton's LLVM takes signals for itself when it compiles.
COMPILE = """
import triton, triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

@triton.jit
def fill(x, size: tl.constexpr):
    tl.store(x + tl.arange(0, size), 1.0)

source = ASTSource(fill, {"x": "*fp32", "size": "constexpr"}, {"size": 128})
triton.compile(source, target=GPUTarget("cuda", 90, 32))
"""


@pytest.mark.parametrize("is_first", [True, False], ids=["before", "after"])
def test_a_signal_writes_the_profile_though_triton_compiled_a_kernel(
    start_program: Any, tmp_path: Path, is_first: bool
) -> None:
    marker = "count, reach = 0"
    program = COMPILE + PROGRAM if is_first else PROGRAM.replace(marker, COMPILE + marker)
    process = start_program(program, "tree", TRITON_CACHE_DIR=str(tmp_path / "cache"))
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert kernels(tmp_path / "run.hatchet") > 0


def test_a_handler_of_the_programs_is_left_alone(start_program: Any, tmp_path: Path) -> None:
    program = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
        import proton
        proton.start("run", backend="interpreter")
        with proton.scope("s"):
            print("started", flush=True)
            while True:
                time.sleep(0.01)  # pause() would miss a signal that comes before it
        """
    process = start_program(program)
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 7
    assert (tmp_path / "run.hatchet").exists()  # by the exit handler


def test_the_knob_leaves_signals_alone(start_program: Any, tmp_path: Path) -> None:
    process = start_program(PROGRAM, "tree", PROTON_CATCH_SIGNALS="0")
    wait_for((tmp_path / "run.partial").exists, "the journal")
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert not (tmp_path / "run.hatchet").exists()
    assert (tmp_path / "run.partial").exists()


def cpu_ticks(pid: int) -> int:
    """The time that a process has computed, in hundredths of a second."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11])


def test_a_second_signal_ends_a_process_that_cannot_write(
    start_program: Any, tmp_path: Path
) -> None:
    program = """
        import itertools
        import proton
        proton.start("run", backend="interpreter")
        print("started", flush=True)
        sum(itertools.repeat(0, 10**12))  # holds the GIL: nobody can write
        """
    process = start_program(program)
    before = cpu_ticks(process.pid)
    wait_for(lambda: cpu_ticks(process.pid) >= before + 10, "work that holds the GIL")
    process.terminate()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.terminate()
    process.wait(timeout=5)
    assert process.returncode == -signal.SIGTERM


ENDINGS = {
    "raises": ("raise RuntimeError('of the program')", 1),
    "exits": ("sys.exit(3)", 3),
    "ends": ("", 0),
    "exits in a thread": (
        "thread = threading.Thread(target=sys.exit, args=(5,)); thread.start(); thread.join()",
        0,
    ),
    "leaves a thread": (
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        0,
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_program_that_never_finalizes_is_written_however_it_ends(
    run_python: Any, tmp_path: Path, ending: str
) -> None:
    last_line, code = ENDINGS[ending]
    done = run_python(
        f"""
        import os, sys, threading, time
        import proton
        from proton.runtime import autosave
        autosave.FIRST_SAVE_S = 0.01
        proton.start("run", backend="interpreter", data="trace")
        def work(count):
            for n in range(count):
                with proton.scope("s"):
                    pass
        work(100)
        while not os.path.exists("run.partial"):
            pass
        work(100)
        {last_line}
        """,
        env={"PROTON_JOURNAL_INTERVAL": "0.01"},
    )
    assert done.returncode == code, done.stderr
    trace = trace_in(open_profile(tmp_path / "run.chrome_trace"))
    assert len(trace.spans) == 200
    assert not (tmp_path / "run.partial").exists()


def test_a_process_that_leaves_at_once_is_recovered(run_python: Any, tmp_path: Path) -> None:
    done = run_python(
        """
        import os, time
        import proton
        from proton.runtime import autosave
        autosave.FIRST_SAVE_S = 0.01
        proton.start("run", backend="interpreter")
        with proton.scope("s", {"x": 1}):
            pass
        while not os.path.exists("run.partial"):
            pass
        os._exit(9)
        """,
        env={"PROTON_JOURNAL_INTERVAL": "0.01"},
    )
    assert done.returncode == 9
    main(["recover", str(tmp_path / "run")])
    tree = tree_in(open_profile(tmp_path / "run.hatchet"))
    assert tree.root.total("x") == 1


def test_a_forked_child_has_no_thread_of_ours_and_leaves_the_journal_alone(
    run_python: Any, tmp_path: Path
) -> None:
    done = run_python(
        """
        import os, signal, time
        import proton
        from proton._native import Termination
        from proton.runtime import autosave, sessions
        autosave.FIRST_SAVE_S = 0.01
        proton.start("run", backend="interpreter", data="trace")
        def work():
            for n in range(20):
                with proton.scope("s"):
                    time.sleep(0.001)
        work()
        for n in range(10):
            child = os.fork()
            if child == 0:
                assert not sessions.background.is_running
                assert not Termination.catches(signal.SIGTERM)
                assert len(os.listdir("/proc/self/task")) == 1
                if n % 2:
                    proton.start("child{pid}", backend="interpreter")
                    work()
                    assert sessions.background.is_running
                    proton.finalize()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert sessions.background.is_running
            work()
        assert Termination.catches(signal.SIGTERM)
        proton.finalize()
        """,
        env={"PROTON_JOURNAL_INTERVAL": "0.01"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(list(tmp_path.glob("child*.hatchet"))) == 5
    assert list(tmp_path.glob("*.partial")) == []
    trace = trace_in(open_profile(tmp_path / "run.chrome_trace"))
    assert len(trace.spans) == 220
