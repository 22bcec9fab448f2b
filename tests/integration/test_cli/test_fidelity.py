"""The same program with and without the profiler: exit status, output and errors are equal."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

SHOW_WORLD = '''
"""A docstring."""
import json, os, pickle, signal, sys, threading, warnings
x: int = 1
def f(): pass
main = sys.modules["__main__"]
world = {
    "names": list(globals()),
    "argv": sys.argv,
    "path": sys.path,
    "file": __file__,
    "name": __name__,
    "doc": __doc__,
    "package": __package__,
    "spec": getattr(__spec__, "name", __spec__),
    "loader": type(__loader__).__name__,
    "loader_path": __loader__.path,
    "annotations": str(__annotations__),
    "is_main": main.__dict__ is globals(),
    "pickled": pickle.loads(pickle.dumps(f)) is f,
    "filters": repr(warnings.filters),
    "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__],
    "signals": repr(signal.getsignal(signal.SIGINT)),
    "threads": threading.active_count(),
    "stdin": sys.stdin.read(),
    "environment": sorted(os.environ),
    "cwd": os.getcwd(),
    "flags": repr(sys.flags),
    "profiler": [sys.getprofile(), sys.gettrace()],
}
print(json.dumps(world, indent=1))
warnings.warn("shown, because this is __main__", DeprecationWarning)
print(1, file=sys.stderr)
'''

SCRIPTS = {
    "a traceback has no frames of the profiler": """
def f():
    raise ValueError("deep")
try:
    f()
except ValueError as error:
    raise KeyError("outer") from error
""",
    "a syntax error": "x = (\n",
    "an exception group": """
raise ExceptionGroup("several", [ValueError(1), ExceptionGroup("more", [TypeError("two")])])
""",
    "an exception hook of the target": """

def hook(kind, value, traceback):
    frames = []
    while traceback:
        frames.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    print("hook", kind.__name__, value, frames, value.__traceback__ is not None)
sys.excepthook = hook
def inner(): raise OSError("x")
inner()
""",
    "an exit with a text": "import sys; sys.exit('to stderr')",
    "an exit below try and finally": """
import atexit, sys
atexit.register(print, "exit handler")
try:
    sys.exit(7)
finally:
    print("finally")
""",
    "an interrupt": "raise KeyboardInterrupt",
    "an exit that runs no handlers": """
import atexit, os, sys
atexit.register(print, "never")
print("flushed", flush=True)
os._exit(5)
""",
    "threads that outlive the main thread": """
import atexit, threading, concurrent.futures, sys
atexit.register(lambda: print("at exit", sys.modules["__main__"].value, flush=True))
value = 42
pool = concurrent.futures.ThreadPoolExecutor(1)
pool.submit(lambda: print("pool", value, flush=True)).result()
end = threading.main_thread().join
threading.Thread(target=lambda: (end(), print("thread", value, flush=True))).start()
""",
    "a failing thread": """
import threading
def work(): raise ValueError("in a thread")
t = threading.Thread(target=work, name="worker"); t.start(); t.join()
""",
    "a program that replaces itself": """
import os, sys
try:
    os.execvp("no-such-program", ["x"])
except FileNotFoundError:
    print("none", flush=True)
os.execvp(sys.executable, [sys.executable, "-c", "import sys; print(sys.argv); sys.exit(9)", "a"])
""",
}


@pytest.mark.parametrize("title", SCRIPTS)
def test_is_as_without_the_profiler(title: str, runner: Any) -> None:
    runner.write("script.py", SCRIPTS[title])
    assert runner.proton("script.py").same() == runner.python("script.py").same()


@pytest.mark.parametrize(
    "name", ["script.py", "./sub/../script.py", "link.py", "{folder}/script.py"]
)
def test_a_script_sees_the_same_world(name: str, runner: Any) -> None:
    runner.write("script.py", SHOW_WORLD)
    runner.write("sub/real.py", SHOW_WORLD)
    (runner.folder / "link.py").symlink_to("sub/real.py")
    words = (name.format(folder=runner.folder), "-n", "a b", "--", "--name")
    alone = runner.python(*words, stdin="typed\n")
    assert alone.code == 0, alone.err
    assert runner.proton("-n", "x", *words, stdin="typed\n").same() == alone.same()


@pytest.mark.parametrize("name", ["package.tool", "package"])
def test_a_module_sees_the_same_world(name: str, runner: Any) -> None:
    runner.write("package/__init__.py", "import sys; print(sys.argv, sys.path[0])")
    runner.write("package/tool.py", SHOW_WORLD + "1/0\n")
    runner.write("package/__main__.py", SHOW_WORLD + "from . import tool\n")
    alone = runner.python("-m", name, "-m", "x", stdin="typed\n")
    assert alone.code == 1, alone.err
    assert runner.proton("--module", name, "-m", "x", stdin="typed\n").same() == alone.same()


def test_the_installed_command_leaves_no_trace_in_the_path(runner: Any) -> None:
    command = runner.write(
        "bin/proton", "import sys\nfrom proton.cli import main\nsys.exit(main())\n"
    )
    runner.write("script.py", SHOW_WORLD + "def f(): 1/0\nf()\n")
    assert runner.python(str(command), "script.py").same() == runner.python("script.py").same()


def test_a_safe_path_stays_safe(runner: Any) -> None:
    runner.write("script.py", "import sys; print(sys.path)")
    alone = runner.python("script.py", PYTHONSAFEPATH="1")
    assert runner.proton("script.py", PYTHONSAFEPATH="1").same() == alone.same()


EXIT_CODES = """
import os, sys
class Odd(SystemExit): pass
cases = [None, 0, 3, True, False, -1, 256, 2**40, "text", (1, 2), 1.5, Odd(4), Odd("odd"), Odd()]
for case in cases:
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        raise case if isinstance(case, SystemExit) else SystemExit(case)
    print(repr(case), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_every_kind_of_exit_code_is_kept(runner: Any) -> None:
    runner.write("script.py", EXIT_CODES)
    assert runner.proton("script.py").same() == runner.python("script.py").same()


SPAWN = """
import multiprocessing, sys
def double(n):
    return n * 2, __name__, sys.argv[1:]
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        print(pool.map(double, [1, 2]))
"""


def test_functions_of_main_reach_spawned_processes(runner: Any) -> None:
    runner.write("script.py", SPAWN)
    ended = runner.proton("script.py", "x")
    assert ended.same() == runner.python("script.py", "x").same()
    assert "(2, '__mp_main__', ['x'])" in ended.out


def test_an_interrupt_ends_by_the_signal(runner: Any) -> None:
    runner.write("script.py", "import os, signal; os.kill(os.getpid(), signal.SIGINT); input()")
    ended = runner.proton("script.py")
    assert ended.code == -signal.SIGINT
    assert "proton" not in ended.err
    assert runner.profiles() == ["proton.hatchet"]


def test_python_m_proton_proton_is_the_same_command(runner: Any) -> None:
    runner.write("script.py", "import sys; sys.exit(len(sys.argv))")
    assert runner.python("-m", "proton.proton", "script.py", "a", "b").code == 3


def test_a_script_without_suffix_runs_by_its_first_line(runner: Any) -> None:
    runner.write("tool", "#!/usr/bin/env python3\nprint(__file__)\n")
    ended = runner.proton("tool")
    assert (ended.code, ended.out) == (0, f"{os.path.join(runner.folder, 'tool')}\n")


def test_imports_beside_the_script_work(runner: Any) -> None:
    runner.write("sub/beside.py", "value = 11")
    runner.write("sub/script.py", "import sys, beside; sys.exit(beside.value)")
    assert runner.proton("sub/script.py").code == 11
