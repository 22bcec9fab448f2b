"""Runs a long command quietly: one line that lives while it works, the whole output if it fails.

Usage: python -m tools.progress "what it does" command arguments...
On a terminal the line is rewritten every second with its title, the seconds gone and what pip or
ninja is at; elsewhere such a line comes every 15 seconds. Steps that run side by side stay apart.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

# What pip and ninja print when they turn to something new; the group is what to show of it.
STEPS = re.compile(r"^\s*(?:Collecting (\S+)|(Installing collected packages)|(\[\d+/\d+\] \S+))")
QUIET_PERIOD_S = 15.0
WIDTH = 78


class Line:
    """The living line. Its thread ends with `close`."""

    def __init__(self, title: str, out: TextIO) -> None:
        self._name, self._out = title.partition(" (")[0], out
        self._step = ""
        self._start = time.monotonic()
        self._closed = threading.Event()
        print(f"== {title}", file=out, flush=True)
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    def see(self, line: str) -> None:
        """Take in one line of the command's output."""
        if match := STEPS.match(line):
            self._step = next(filter(None, match.groups()))

    def close(self) -> None:
        """Stop, and leave the terminal's line empty."""
        self._closed.set()
        self._thread.join()
        if self._out.isatty():
            print("\r" + " " * WIDTH + "\r", end="", file=self._out, flush=True)

    def _live(self) -> None:
        on_terminal = self._out.isatty()
        while not self._closed.wait(1.0 if on_terminal else QUIET_PERIOD_S):
            step = self._step or "at work"
            text = f"   {self._name}: {time.monotonic() - self._start:.0f} s  {step}"
            if on_terminal:
                print("\r" + text[:WIDTH].ljust(WIDTH), end="", file=self._out, flush=True)
            else:
                print(text, file=self._out, flush=True)


def run(title: str, command: Sequence[str], out: TextIO | None = None) -> int:
    """Run the command under the title; its exit status. Its output is shown only if it failed."""
    out = sys.stdout if out is None else out
    line = Line(title, out)
    output: list[str] = []
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        ) as process:
            assert process.stdout is not None
            for text in process.stdout:
                output.append(text)
                line.see(text)
        status = process.returncode
    finally:
        line.close()
    if status != 0:
        out.writelines(output)
        print(f"== failed with status {status}: {title}", file=out, flush=True)
    return status


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[1], sys.argv[2:]))
