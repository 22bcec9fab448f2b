"""Tests of the start-up module of child interpreters, in interpreters of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from proton.cli.children import BOOTSTRAP


def start(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """An interpreter that is led to the bootstrap, and to `folder` behind it."""
    path = os.pathsep.join((BOOTSTRAP, str(folder)))
    return subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ, PYTHONPATH=path) | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_without_a_wish_it_only_steps_aside(tmp_path: Path) -> None:
    code = "import sys; print('proton' in sys.modules, sys.path[1])"
    ended = start(code, tmp_path)
    assert (ended.stdout, ended.stderr) == (f"False {tmp_path}\n", "")


def test_an_error_in_the_hidden_module_is_python_s_to_report(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import no_such_module_at_all")
    ended = start("print('runs')", tmp_path)
    alone = subprocess.run(
        [sys.executable, "-c", "print('runs')"],
        env=dict(os.environ, PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, alone.stdout, alone.stderr)


def test_a_wish_that_cannot_be_read_does_not_stop_the_child(tmp_path: Path) -> None:
    ended = start("print('runs')", tmp_path, PROTON_FOLLOW_CHILDREN="{")
    assert (ended.returncode, ended.stdout) == (0, "runs\n")
    assert ended.stderr.startswith("proton: child process ")
    assert "is not profiled: " in ended.stderr
