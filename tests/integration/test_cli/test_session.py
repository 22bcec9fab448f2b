"""The command's session: what the target's own calls do to it, and what is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

OWN_CALLS = """
import proton
from proton.flags import flags

assert flags.command_line
session = proton.start("mine", context="python", backend="cupti")
assert session == 0
with proton.scope("before"): pass
proton.deactivate(session)
with proton.scope("skipped"): pass
proton.activate(session)
proton.finalize()
proton.finalize(session)
with proton.scope("after"): pass
assert proton.data.get(0)[0]["frame"]["name"] == "ROOT"
for call in (proton.activate, proton.deactivate, proton.data.get, proton.context.depth):
    try:
        call(1)
    except ValueError as error:
        print(error)
@proton.profile(name="other")
def work():
    with proton.scope("profiled"): pass
    return "returned"
print(work())
proton.activate()
proton.start()
with proton.scope("last"): pass
"""


def test_the_targets_own_calls_leave_the_session_to_the_command(runner: Any) -> None:
    runner.write("script.py", OWN_CALLS)
    ended = runner.proton("-n", "cli", "script.py")
    assert ended.code == 0, ended.err
    assert ended.out.count("under the proton command the only session is 0") == 4
    assert ended.out.endswith("returned\n")
    assert runner.profiles() == ["cli.hatchet"]
    assert runner.paths("cli.hatchet") == [("before",), ("after",), ("profiled",), ("last",)]


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("raise ValueError", 1),
        ("raise SystemExit(type('C', (), {'__eq__': lambda *_: 1 / 0})())", 1),
        ("import os; os._exit(4)", 4),
        ("import os; os.execv('/bin/sh', ['sh', '-c', 'exit 6'])", 6),
    ],
)
def test_the_profile_is_written_however_the_target_ends(
    ending: str, code: int, runner: Any
) -> None:
    runner.write("script.py", f"import proton\nwith proton.scope('x'):\n    {ending}\n")
    ended = runner.proton("script.py")
    assert ended.code == code
    assert runner.paths() == [("x",)]
    assert ended.said == ["proton: wrote proton.hatchet; see it with: proton-viewer proton.hatchet"]


LATE = """
import atexit, os, threading, proton
def late():
    threading.main_thread().join()
    with proton.scope("late thread"): pass
def handler():
    with proton.scope("exit handler"): pass
atexit.register(handler)
threading.Thread(target=late).start()
os.chdir("/")
"""


def test_threads_and_exit_handlers_of_the_target_are_recorded(runner: Any) -> None:
    runner.write("script.py", LATE)
    assert runner.proton("script.py").code == 0
    assert runner.paths() == [("late thread",), ("exit handler",)]


def test_names_are_filled_in(runner: Any) -> None:
    runner.write("script.py", "import os, proton\nwith proton.scope('x'): print(os.getpid())")
    (runner.folder / "out").mkdir()
    ended = runner.proton("-n", "out/run.{pid}.{rank}.{host}", "script.py", RANK="3")
    (path,) = (runner.folder / "out").iterdir()
    header = json.loads(path.read_text())[0]["proton"]
    assert path.name == f"run.{ended.out.strip()}.3.{header['host']}.hatchet"
    assert header["command"][-1] == "script.py"
    assert ended.said == [
        f"proton: wrote out/{path.name}; see it with: proton-viewer out/{path.name}"
    ]


TWO = """
import os, subprocess, sys, proton
with proton.scope("outer" if len(sys.argv) == 1 else "inner"): pass
if len(sys.argv) == 1:
    subprocess.run([sys.executable, "-m", "proton", "-n", "same", "script.py", "again"])
"""


def test_two_processes_of_one_name_write_two_files_and_say_so(runner: Any) -> None:
    runner.write("script.py", TWO)
    ended = runner.proton("-n", "same", "script.py")
    first, second = sorted(runner.profiles(), key=len)
    assert first == "same.hatchet"
    assert second.startswith("same.pid_")
    assert (runner.paths(first), runner.paths(second)) == ([("outer",)], [("inner",)])
    assert any("another running process has this name" in line for line in ended.said)


def test_every_option_reaches_the_session(runner: Any) -> None:
    runner.write("script.py", "import proton\ndef f():\n  with proton.scope('x'): pass\nf()\n")
    ended = runner.proton(
        *("-n", "tree", "-b", "Interpreter", "-c", "python", "-k", "triton"),
        "--output-format=hatchet_msgpack",
        "script.py",
    )
    assert ended.code == 0, ended.said
    assert (runner.folder / "tree.hatchet_msgpack").exists()
    assert runner.proton("-n", "t", "-d", "trace", "script.py").said == [
        "proton: wrote t.chrome_trace; open it in https://ui.perfetto.dev",
        "proton: as .pftrace it would be much smaller: --output-format perfetto",
    ]
    trace = json.loads((runner.folder / "t.chrome_trace").read_text())
    assert "x" in [event["name"] for event in trace["traceEvents"]]


def test_python_paths_start_with_the_target(runner: Any) -> None:
    script = runner.write(
        "script.py", "import proton\ndef f():\n  with proton.scope('x', {'m': 1}): pass\nf()\n"
    )
    assert runner.proton("-c", "python", "script.py").code == 0
    assert runner.paths() == [
        (f"{script}:4@<module>",),
        (f"{script}:4@<module>", f"{script}:3@f"),
    ]


def test_an_unwritable_output_goes_elsewhere_and_fails_a_run_that_succeeded(runner: Any) -> None:
    runner.write(
        "script.py",
        "import os, sys, proton\nos.rmdir('missing')\nproton.scope('x').__enter__()\n"
        "sys.exit(*map(int, sys.argv[1:]))",
    )
    ended = runner.proton("-n", "missing/run", "script.py", TMPDIR=str(runner.folder))
    assert ended.code == 1
    line = next(line for line in ended.said if "cannot write the profile" in line)
    (rescued,) = runner.profiles()
    assert f"proton: {runner.folder}/missing/run.hatchet: " in line
    assert rescued in line
    assert runner.paths(rescued) == [("x",)]
    assert runner.proton("-n", "missing/run", "script.py", "7").code == 7


def test_a_name_that_cannot_be_written_is_refused_before_the_target_runs(runner: Any) -> None:
    runner.write("script.py", "print('it ran')")
    ended = runner.proton("-n", "script.py/run", "script.py")
    assert (ended.code, ended.out) == (1, "")
    assert ended.said == [
        f"proton: {runner.folder}/script.py/run.hatchet: the profile could not be written here: "
        "Not a directory; give the session another name"
    ]


def test_a_disabled_profiler_says_so_and_stays_out_of_the_way(runner: Any) -> None:
    runner.write("script.py", "import sys, proton\nproton.deactivate(proton.start())\nsys.exit(4)")
    ended = runner.proton("script.py", TRITON_PROTON_DISABLE="1")
    assert (ended.code, ended.err) == (4, "")
    assert ended.said == [
        "proton: nothing was captured: TRITON_PROTON_DISABLE is set; unset it to profile"
    ]
    assert runner.profiles() == []
