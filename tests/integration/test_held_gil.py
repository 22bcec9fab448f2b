"""Signals that come while C code holds the GIL, and scopes that are open when they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from proton.cli import main
from proton.files.detect import open_profile
from proton.files.journal.format import read_facts
from proton.model.profile import TraceProfile, TreeProfile
from tests.conftest import folder_of_proton
from tests.support.profiles import tree_in
from tests.support.waiting import wait_for

# One call of C says that it began and does not end: the GIL is held from there on.
PROGRAM = """
import ctypes, sys, threading, time
import proton
from proton.runtime.autosave import Journal
from proton.runtime.sessions import background, open_sessions

prepared = threading.Event()
prepare = Journal.prepare_rescue
def prepare_and_tell(*arguments):
    prepare(*arguments)
    prepared.set()
Journal.prepare_rescue = prepare_and_tell

proton.start("run", backend="interpreter", data=sys.argv[1], context=sys.argv[2])
native = open_sessions()[0].native
for phase in range(int(sys.argv[3])):
    with proton.scope("step"):
        now = time.monotonic_ns()
        native.on_kernel("k", now, now + 10, device_type="CPU", device_id=0)
    proton.data.advance_phase()
with proton.scope("wörk"), proton.cpu_timed_scope("stuck"):
    now = time.monotonic_ns()
    native.on_kernel("last", now, now + 10, device_type="CPU", device_id=0)
    proton.step()
    if "warned" in sys.argv:
        native.warn("the program was ended by SIGTERM; "
                    "scopes that were open have their time until then")
    prepared.clear()
    background.wake()
    assert prepared.wait(30)
    ctypes.PyDLL(None).system(b"echo started; exec sleep 30 > /dev/null 2>&1")
"""


@pytest.fixture
def stuck_program(tmp_path: Path) -> Any:
    """Runs it up to the call that does not return."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
        process = subprocess.Popen(
            [sys.executable, "program.py", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": folder_of_proton()},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=20)


def journals(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.partial"))


@pytest.mark.parametrize("data", ["tree", "trace"])
@pytest.mark.parametrize("context", ["shadow", "python"])
def test_a_signal_leaves_a_journal_though_other_code_holds_the_gil(
    stuck_program: Any, tmp_path: Path, data: str, context: str
) -> None:
    process = stuck_program(data, context, "0")
    assert journals(tmp_path) == []
    process.terminate()
    wait_for(lambda: journals(tmp_path), "the journal", limit_s=30)
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert main(["recover", str(tmp_path / "run")]) == 0
    profile = open_profile(tmp_path / "run")
    assert profile.header.ended_by == "SIGTERM"
    said = "the program was ended by SIGTERM; scopes that were open have their time until then"
    assert said in profile.warnings
    assert [tuple(series.gpu_time_ns) for series in profile.steps] == [(10,)]
    if isinstance(profile, TraceProfile):
        spans = {span.name: span for span in profile.trace.spans}
        assert "last" in spans
        if context == "shadow":
            assert spans["stuck"].duration_ns > 1e9
    else:
        assert isinstance(profile, TreeProfile)
        tree = profile.tree
        assert tree.root.total("count") == 1
        times = [own.get("cpu_time (ns)") for own in tree.own]
        assert sum(each for each in times if isinstance(each, int)) > 1e9
        names = {frame.name for frame in tree.frames}
        assert ({"wörk", "stuck"} <= names) is (context == "shadow")


def test_the_phases_before_it_stay_whole(stuck_program: Any, tmp_path: Path) -> None:
    process = stuck_program("tree", "shadow", "3")
    process.terminate()
    wait_for(
        lambda: any((read_facts(path) or {}).get("phase") == 3 for path in journals(tmp_path)),
        "the journal of the last phase",
        limit_s=30,
    )
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert main(["recover", str(tmp_path / "run")]) == 0
    profile = open_profile(tmp_path / "run")
    assert (*profile.phases,) == (0, 1, 2, 3)
    assert tree_in(profile).root.total("count") == 4


def test_a_part_of_another_process_stays_what_it_is(stuck_program: Any, tmp_path: Path) -> None:
    process = stuck_program("tree", "shadow", "2")
    theirs = tmp_path / "run.part_1.hatchet"
    theirs.write_text("theirs")
    process.terminate()
    wait_for(lambda: journals(tmp_path), "the journal", limit_s=30)
    assert process.wait(timeout=30) == -signal.SIGTERM
    assert theirs.read_text() == "theirs"
    ours = tmp_path / f"run.pid_{process.pid}.part_1.hatchet"
    assert tree_in(open_profile(ours)).root.total("count") == 1


def test_a_warning_that_the_process_gave_is_not_given_again(
    stuck_program: Any, tmp_path: Path
) -> None:
    process = stuck_program("tree", "shadow", "0", "warned")
    process.terminate()
    wait_for(lambda: journals(tmp_path), "the journal", limit_s=30)
    assert process.wait(timeout=30) == -signal.SIGTERM
    warnings = open_profile(tmp_path / "run.partial").warnings
    assert sum("was ended by SIGTERM" in text for text in warnings) == 1
    assert not any("times)" in text for text in warnings)


def test_a_scope_that_is_open_at_a_signal_has_its_time_so_far(tmp_path: Path) -> None:
    program = """
        import time
        import proton
        proton.start("run", backend="interpreter")
        with proton.cpu_timed_scope("open"):
            time.sleep(0.3)
            print("started", flush=True)
            time.sleep(600)
        """
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    process = subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": folder_of_proton()},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.terminate()
    process.communicate(timeout=20)
    profile = open_profile(tmp_path / "run.hatchet")
    assert profile.header.ended_by == "SIGTERM"
    tree = tree_in(profile)
    assert tree.frames[1].name == "open"
    assert float(tree.own[1]["cpu_time (ns)"]) >= 0.3e9  # type: ignore[arg-type]


def test_a_program_that_ends_before_our_thread_gets_the_gil_still_ends_by_the_signal(
    run_python: Any, tmp_path: Path
) -> None:
    done = run_python(
        """
        import os, signal, sys
        import proton
        proton.start("run", backend="interpreter")
        sys.setswitchinterval(60)  # nobody else gets the GIL while the program runs
        with proton.cpu_timed_scope("a"):
            os.kill(os.getpid(), signal.SIGTERM)
        """
    )
    assert done.returncode == -signal.SIGTERM
    assert open_profile(tmp_path / "run.hatchet").header.ended_by == "SIGTERM"
