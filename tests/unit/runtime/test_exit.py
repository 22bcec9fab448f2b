"""Calls at the end of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_the_call_is_made_once_and_only_in_the_process_that_asked(run_python: Any) -> None:
    result = run_python(
        """
        import os, sys
        from proton.runtime.sessions import call_at_exit

        def say():
            print("end of", "parent" if os.getpid() == parent else "child", flush=True)

        parent = os.getpid()
        call_at_exit(say)
        call_at_exit(say)
        if (child := os.fork()) == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        """
    )
    assert result.stdout == "end of parent\n", result.stderr


def test_a_child_may_ask_for_a_call_of_its_own(run_python: Any) -> None:
    result = run_python(
        """
        import os, sys
        from proton.runtime.sessions import call_at_exit

        call_at_exit(lambda: print("parent", flush=True))
        if (child := os.fork()) == 0:
            call_at_exit(lambda: print("child", flush=True))
            sys.exit(0)
        os.waitpid(child, 0)
        """
    )
    assert result.stdout == "child\nparent\n", result.stderr


def test_a_warning_at_the_exit_shows_no_line_of_ours(run_python: Any, tmp_cwd: Path) -> None:
    result = run_python("import proton; proton.start('run', backend='interpreter')")
    assert "captured nothing" in result.stderr
    assert "sessions.py" not in result.stderr
    assert len(result.stderr.splitlines()) == 1
