"""Sessions and child processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def read(path: Path) -> list[str]:
    """The names of the root's children."""
    return [child["frame"]["name"] for child in json.loads(path.read_text())[0]["children"]]


def profiles(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.hatchet"))


def test_a_forked_child_inherits_no_session(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os
        import proton

        proton.start("run")
        with proton.scope("before"):
            child = os.fork()
            if child == 0:
                from proton.flags import flags
                from proton.runtime.sessions import open_sessions

                assert not flags.profiling_on and not open_sessions()
                assert proton._native.context_path() == []
                with proton.scope("of the child", {"x": 1}):
                    pass
                proton.finalize()
                raise SystemExit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        with proton.scope("after"):
            pass
        proton.finalize()
        """
    )
    assert result.returncode == 0, result.stderr
    assert profiles(tmp_path) == ["run.hatchet"]
    assert read(tmp_path / "run.hatchet") == ["before", "after"]


def test_only_the_parent_writes_at_exit(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os, sys
        import proton

        proton.start("run")
        with proton.scope("parent"):
            pass
        if (child := os.fork()) == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        assert not os.path.exists("run.hatchet")
        """
    )
    assert result.returncode == 0, result.stderr
    assert read(tmp_path / "run.hatchet") == ["parent"]


def test_a_forked_child_can_record_a_profile_of_its_own(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os, sys
        import proton

        proton.start("parent")
        if (child := os.fork()) == 0:
            assert proton.start("child") is not None
            with proton.scope("c"):
                pass
            sys.exit(0)
        os.waitpid(child, 0)
        with proton.scope("p"):
            pass
        """
    )
    assert result.returncode == 0, result.stderr
    assert read(tmp_path / "parent.hatchet") == ["p"]
    assert read(tmp_path / "child.hatchet") == ["c"]


def test_a_child_with_its_parents_name_gets_its_own_file(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os, sys
        import proton

        proton.start("run")
        with proton.scope("p"):
            pass
        if (child := os.fork()) == 0:
            proton.start("run")
            with proton.scope("c"):
                pass
            sys.exit(0)
        os.waitpid(child, 0)
        """
    )
    assert result.returncode == 0, result.stderr
    assert "another running process has this name" in result.stderr
    own, other = profiles(tmp_path)
    assert (own, read(tmp_path / own)) == ("run.hatchet", ["p"])
    assert other.startswith("run.pid_")
    assert read(tmp_path / other) == ["c"]


def test_a_child_forked_while_another_thread_opens_sessions_does_not_hang(run_python: Any) -> None:
    result = run_python(
        """
        import os, threading
        import proton
        from proton.runtime import sessions

        held, release = threading.Event(), threading.Event()

        def hold():
            with sessions._lock:
                held.set()
                release.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        if (child := os.fork()) == 0:
            proton.start("child")
            with proton.scope("c"):
                pass
            proton.finalize()
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        release.set()
        thread.join()
        assert status == 0
        """,
        timeout_s=30,
    )
    assert result.returncode == 0, result.stderr


def test_a_child_forked_while_another_thread_saves_does_not_hang(run_python: Any) -> None:
    result = run_python(
        """
        import os, threading
        import proton
        from proton import _native

        parent = _native.Session(0, context="shadow", data="tree")
        parent.activate()
        for n in range(5000):
            with proton.scope(f"s{n}", {"x": 1}):
                parent.on_kernel("k", 0, 5, device_type="FAKE", device_id=0)
        is_done, sizes = False, set()

        def save():
            while not is_done:
                sizes.add(len(parent.serialize("hatchet_msgpack", 0, {})))

        thread = threading.Thread(target=save)
        thread.start()
        for _ in range(20):
            if (child := os.fork()) == 0:
                own = _native.Session(1, context="shadow", data="tree")
                own.activate()
                with proton.scope("of the child"):
                    own.on_kernel("k", 0, 5, device_type="FAKE", device_id=0)
                content = own.serialize("hatchet", 0, {})
                own.close()
                os._exit(0 if b"of the child" in content and b"s1" not in content else 1)
            assert os.waitpid(child, 0)[1] == 0
        is_done = True
        thread.join()
        assert len(sizes) == 1
        parent.close()
        """,
        timeout_s=50,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_of_multiprocessing_writes_its_profile_when_it_ends(
    run_python: Any, tmp_path: Path, method: str
) -> None:
    result = run_python(
        f"""
        import multiprocessing
        import proton

        def work(n):
            proton.start(f"worker{{n}}")
            with proton.scope(f"w{{n}}"):
                pass

        if __name__ == "__main__":
            context = multiprocessing.get_context({method!r})
            workers = [context.Process(target=work, args=(n,)) for n in range(2)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
                assert worker.exitcode == 0
        """
    )
    assert result.returncode == 0, result.stderr
    assert [read(tmp_path / f"worker{n}.hatchet") for n in range(2)] == [["w0"], ["w1"]]


def test_ranks_of_a_launcher_never_write_one_file(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os, subprocess, sys
        code = '''
        import sys, proton
        proton.start("run")
        with proton.scope("r"):
            print("ready", flush=True)
            sys.stdin.readline()
        proton.finalize()
        '''
        import textwrap
        ranks = []
        for rank in range(3):
            ranks.append(subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
                env={**os.environ, "RANK": str(rank)},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            assert ranks[-1].stdout.readline() == "ready\\n"
        for rank in ranks:
            rank.communicate("go\\n")
            assert rank.returncode == 0
        """
    )
    assert result.returncode == 0, result.stderr
    assert profiles(tmp_path) == ["run.hatchet", "run.rank_1.hatchet", "run.rank_2.hatchet"]


def test_a_name_with_the_process_id_needs_no_warning(run_python: Any, tmp_path: Path) -> None:
    result = run_python(
        """
        import os, sys, proton
        proton.start("run_{pid}")
        with proton.scope("p"):
            pass
        if (child := os.fork()) == 0:
            proton.start("run_{pid}")
            with proton.scope("c"):
                pass
            sys.exit(0)
        os.waitpid(child, 0)
        """
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert len(profiles(tmp_path)) == 2


@pytest.mark.matrix
def test_a_forked_child_can_run_kernels_in_a_session_of_its_own(
    run_python: Any, tmp_path: Path
) -> None:
    pytest.importorskip("triton")
    pytest.importorskip("numpy")
    result = run_python(
        """
        import os, sys
        import numpy as np
        import proton
        import triton
        import triton.language as tl

        @triton.jit
        def double(x, B: tl.constexpr):
            at = x + tl.arange(0, B)
            tl.store(at, tl.load(at) * 2)

        def work(scope):
            values = np.ones(4, np.float32)
            with proton.scope(scope):
                double[(1,)](values, B=4)
            assert values.sum() == 8

        proton.start("parent", hook="triton")
        work("before")
        if (child := os.fork()) == 0:
            assert not triton.knobs.runtime.launch_enter_hook.calls
            proton.start("child")
            work("in the child")
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        work("after")
        """,
        env={"TRITON_INTERPRET": "0"},
    )
    assert result.returncode == 0, result.stderr
    assert read(tmp_path / "parent.hatchet") == ["before", "after"]
    assert read(tmp_path / "child.hatchet") == ["in the child"]
