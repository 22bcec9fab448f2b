"""How long `import proton` takes in a fresh interpreter, and what the known tool's import takes.

Usage: python benchmarks/import_time.py [--rounds N] [--json PATH]
The time is that of the import statement alone, measured inside the new process.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

from stats import Result, estimate, interleave, parser, report

BAR_MS = 50.0
PROGRAM = """
import time
start = time.perf_counter_ns()
import {module}
print(time.perf_counter_ns() - start)
"""


def import_ms(module: str) -> float:
    """Milliseconds that one import takes in a fresh interpreter."""
    command = [sys.executable, "-c", PROGRAM.format(module=module)]
    reply = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(reply.stdout) / 1e6


def main() -> None:
    arguments = parser(__doc__).parse_args()
    runs = {"proton": lambda: import_ms("proton")}
    if find_spec("triton") is not None:
        runs["known"] = lambda: import_ms("triton.profiler")
    samples = interleave(runs, rounds=arguments.rounds)
    known = estimate(samples["known"]) if "known" in samples else None
    result = Result("import proton", "ms", estimate(samples["proton"]), bar=BAR_MS, known=known)
    report([result], arguments.json)


if __name__ == "__main__":
    main()
