"""Child processes: profiles of their own with --follow-children, nothing at all without."""

from __future__ import annotations

import re
from typing import Any

CHILDREN = """
import multiprocessing, os, subprocess, sys
import proton

def work(n):
    with proton.scope(f"pool {multiprocessing.get_start_method()}"):
        return n

def fork(name, end):
    pid = os.fork()
    if pid == 0:
        with proton.scope(name): proton.deactivate(proton.start())
        end()
    os.waitpid(pid, 0)

CODE = "import sys, proton\\nwith proton.scope(sys.argv[1]): print(proton.start(), flush=True)"

if __name__ == "__main__":
    with proton.scope("parent"): pass
    fork("forked", lambda: os._exit(0))
    fork("exits", lambda: sys.exit(0))
    subprocess.run([sys.executable, "-c", CODE, "subprocess"], cwd="/", check=True)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    for method in ("fork", "spawn"):
        multiprocessing.set_start_method(method, force=True)
        process = multiprocessing.Process(target=work, args=(1,))
        process.start(); process.join()
        assert process.exitcode == 0
    if os.fork() == 0:
        with proton.scope("becomes"): pass
        os.execv(sys.executable, [sys.executable, "-c", CODE, "replaced"])
    os.wait()
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-c", CODE, "parent replaced"])
"""

ALL = {
    "forked",
    "exits",
    "subprocess",
    "pool fork",
    "pool spawn",
    "becomes",
    "replaced",
    "parent replaced",
}


def test_followed_children_write_profiles_of_their_own(runner: Any) -> None:
    runner.write("script.py", CHILDREN)
    ended = runner.proton("-n", "run", "--follow-children", "script.py")
    assert ended.code == 0, ended.err
    assert ended.out == "0\n" * 3  # start() answers 0 in children too
    first = "proton: wrote run.hatchet; see it with: proton-viewer run.hatchet"
    names = runner.profiles()
    assert runner.paths("run.hatchet") == [("parent",)]
    names.remove("run.hatchet")
    found = [runner.paths(name) for name in names]
    assert all(len(paths) == 1 for paths in found)
    assert {paths[0][0] for paths in found} == ALL
    assert len(names) == len(ALL)
    assert all(re.fullmatch(r"run\.\d+(\.1)?\.hatchet", name) for name in names)
    wrote = [f"proton: wrote {name}; see it with: proton-viewer {name}" for name in names]
    assert sorted(ended.said) == sorted([*wrote, first])


def test_other_children_are_not_profiled_and_inherit_nothing(runner: Any) -> None:
    runner.write("script.py", CHILDREN)
    ended = runner.proton("-n", "run", "script.py")
    assert ended.code == 0, ended.err
    assert runner.profiles() == ["proton.hatchet", "run.hatchet"]  # CODE starts one by itself
    assert runner.paths("run.hatchet") == [("parent",)]


OWN_START = """
import os, subprocess, sys, proton
from proton.flags import flags
assert "PROTON_FOLLOW_CHILDREN" not in os.environ
if os.fork() == 0:
    assert not flags.command_line
    assert not flags.profiling_on
    session = proton.start("own")
    with proton.scope("own"): pass
    proton.finalize(session)
    os._exit(0)
os.wait()
with proton.scope("parent"): pass
"""


def test_a_forked_child_may_record_by_itself(runner: Any) -> None:
    runner.write("script.py", OWN_START)
    ended = runner.proton("script.py")
    assert (ended.code, ended.err) == (0, "")
    assert runner.paths("own.hatchet") == [("own",)]
    assert runner.paths("proton.hatchet") == [("parent",)]


def test_the_environments_own_sitecustomize_still_runs_in_children(runner: Any) -> None:
    runner.write("site/sitecustomize.py", "import sys; sys.customized = len(sys.path)")
    code = "import sys; print(sys.customized, sys.path, 'sitecustomize' in sys.modules)"
    runner.write(
        "script.py", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    )
    path = runner.environment.get("PYTHONPATH", "")
    changed = {"PYTHONPATH": f"{runner.folder}/site:{path}"}
    alone = runner.python("script.py", **changed)
    assert alone.code == 0, alone.err
    assert runner.proton("--follow-children", "script.py", **changed).same() == alone.same()


def test_a_child_that_cannot_be_profiled_works_on(runner: Any) -> None:
    code = "import sys; print('works')"
    runner.write(
        "script.py",
        "import json, os, subprocess, sys\n"
        "wish = json.loads(os.environ['PROTON_FOLLOW_CHILDREN'])\n"
        "wish['request']['backend'] = 'cupti'\n"
        "os.environ['PROTON_FOLLOW_CHILDREN'] = json.dumps(wish)\n"
        f"subprocess.run([sys.executable, '-c', {code!r}], check=True)\n",
    )
    ended = runner.proton("--follow-children", "script.py")
    assert (ended.code, ended.out, ended.err) == (0, "works\n", "")
    assert any("is not profiled: backend 'cupti' is unavailable" in line for line in ended.said)


NESTED = """
import subprocess, sys, proton
with proton.scope("outer" if len(sys.argv) == 1 else "inner"): pass
if len(sys.argv) == 1:
    subprocess.run([sys.executable, "-m", "proton", "-n", "inner", "script.py", "x"], check=True)
    from proton.cli import main
    assert main(["script.py"]) == 2
"""


def test_a_proton_command_below_another_keeps_its_own_name(runner: Any) -> None:
    runner.write("script.py", NESTED)
    ended = runner.proton("-n", "outer", "--follow-children", "script.py")
    assert ended.code == 0, ended.err
    assert runner.profiles() == ["inner.hatchet", "outer.hatchet"]
    assert runner.paths("inner.hatchet") == [("inner",)]
    assert runner.paths("outer.hatchet") == [("outer",)]
    assert any("is profiled by a proton command already" in line for line in ended.said)


def test_a_target_whose_processes_did_the_work_is_told_how_to_profile_them(runner: Any) -> None:
    runner.write(
        "pool.py",
        "import multiprocessing, proton\n"
        "def work(x):\n"
        "    with proton.scope('part'): return x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.Pool(1) as pool: pool.map(work, [1])\n",
    )
    said = "proton: the target started Python processes; to profile them: --follow-children"
    assert said in runner.proton("pool.py").said
    assert said not in runner.proton("--follow-children", "pool.py").said
