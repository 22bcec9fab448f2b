"""LLVM text read and verified in a process of its own, because LLVM ends the one it fails in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

from proton import _triton
from proton.errors import UsageError

_UNREADABLE = re.compile(r"LLVM ERROR: failed to parse IR: (.*?)lineno: (\d+)")
CHECK_LIMIT_S = 60
_CHECK = """
import sys
from proton import _triton
text = open(sys.argv[1], encoding="utf-8").read()
if problem := _triton.llvm_parse_error(text):
    print(problem, flush=True)
    _triton.end_on_parse_error(text)  # in LLVM's words, if it has any
"""
# LLVM verifies what it reads if the module has debug metadata of this version
_VERIFIED = '!llvm.module.flags = !{!999999}\n!999999 = !{i32 2, !"Debug Info Version", i32 3}\n'
_FLAGS = re.compile(r"^!llvm\.module\.flags = .*$", re.M)


def run_apart(code: str, argument: str, limit_s: float) -> subprocess.CompletedProcess[str] | None:
    """Run `code` with `argument` as `sys.argv[1]`, what it prints kept; None: it took too long."""
    paths = os.pathsep.join(each for each in sys.path if each)
    try:
        return subprocess.run(
            [sys.executable, "-c", code, argument],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            env={**os.environ, "PYTHONPATH": paths},
        )
    except subprocess.TimeoutExpired:
        return None


def parse_problem(output: str, text: str) -> str:
    """What LLVM cannot read in `text`, and the line, out of what the process said; else empty."""
    found = _UNREADABLE.search(output)
    if found is None:
        return ""
    lines = text.split("\n")
    at = min(int(found[2]), len(lines)) - 1
    return f"{found[1]}, in {lines[at].strip()!r}"


def verify_callbacks(text: str, path: str) -> None:
    """Have LLVM read and verify the text by itself, in another process; once for each text.

    Raises:
        UsageError: LLVM refuses it; the message has LLVM's words.
    """
    if _triton.is_installed() and (problem := _problem_of(text)):
        raise UsageError(f"{path}: LLVM refuses it: {problem}; the kernel stays as it is")


@lru_cache(maxsize=64)
def _problem_of(text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="proton-callback-") as folder:
        file = Path(folder, "callbacks.ll")
        verified = f"{_FLAGS.sub('', text)}\n{_VERIFIED}"
        file.write_text(verified, encoding="utf-8")
        done = run_apart(_CHECK, str(file), CHECK_LIMIT_S)
        if done is None:
            return f"it took longer than {CHECK_LIMIT_S} s to check"
        if done.returncode == 0 and not done.stdout.strip():
            return ""
        if unreadable := parse_problem(done.stderr, verified):
            return unreadable[:300]
        words = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        words = [line for line in words if not line.startswith(("LLVM ERROR", "Stack dump", "#"))]
        return " ".join(words[:3])[:300] or done.stdout.strip().replace(str(file), "the text")
