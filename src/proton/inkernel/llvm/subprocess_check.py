"""A little Python in a process of its own: for what may end the process that it runs in."""

from __future__ import annotations

import os
import re
import subprocess
import sys

_UNREADABLE = re.compile(r"LLVM ERROR: failed to parse IR: (.*?)lineno: (\d+)")


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


def parse_problem(said: str, text: str) -> str:
    """What LLVM cannot read in `text`, and the line, out of what the process said; else empty."""
    found = _UNREADABLE.search(said)
    if found is None:
        return ""
    lines = text.split("\n")
    at = min(int(found[2]), len(lines)) - 1
    return f"{found[1]}, in {lines[at].strip()!r}"
