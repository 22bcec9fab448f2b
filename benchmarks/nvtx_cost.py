"""What an NVTX push/pop pair costs, beside a scope: with no session, in a tree and in a trace.

Compiles the stand-in of the tests (tests/native/nvtx/module.cpp) and a loop in C around it, so that
what is measured is NVTX's call, our library and our handler, and no Python.

    python benchmarks/nvtx_cost.py
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import proton

ROOT = Path(__file__).resolve().parents[1]
ROUNDS, PAIRS = 21, 20_000
LOOP = """
#include <time.h>
extern "C" int nvtxRangePushA(const char*);
extern "C" int nvtxRangePop();
extern "C" double pair_ns(long count) {
  timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long i = 0; i < count; ++i) {
    nvtxRangePushA("forward/layer 12");
    nvtxRangePop();
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / count;
}
"""


def build(folder: Path) -> ctypes.PyDLL:
    """The loop and the module it calls, as one library."""
    (folder / "loop.cpp").write_text(LOOP)
    sources = [str(folder / "loop.cpp"), str(ROOT / "tests/native/nvtx/module.cpp")]
    flags = ["-std=c++20", "-O2", "-fPIC", "-shared", "-pthread", f"-I{ROOT / 'src/native'}"]
    subprocess.run(["c++", *flags, *sources, "-o", str(folder / "loop.so")], check=True)
    library = ctypes.PyDLL(str(folder / "loop.so"))
    library.pair_ns.restype = ctypes.c_double
    return library


def scope_ns() -> float:
    """One `with proton.scope(...)`."""
    start = time.perf_counter_ns()
    for _ in range(PAIRS):
        with proton.scope("forward/layer 12"):
            pass
    return (time.perf_counter_ns() - start) / PAIRS


def main() -> int:
    """Print the best round of each."""
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))

        def pair_ns() -> float:
            return min(float(library.pair_ns(ctypes.c_long(PAIRS))) for _ in range(ROUNDS))

        print(f"{'':10} {'push/pop':>9} {'scope':>9}   ns")
        print(f"{'off':10} {pair_ns():9.1f} {min(scope_ns() for _ in range(ROUNDS)):9.1f}")
        for data in ("tree", "trace"):
            proton.start(str(Path(folder) / data), backend="interpreter", data=data)
            print(f"{data:10} {pair_ns():9.1f} {min(scope_ns() for _ in range(ROUNDS)):9.1f}")
            proton.finalize()
    return 0


if __name__ == "__main__":
    sys.exit(main())
