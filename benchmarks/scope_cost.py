"""What entering and leaving a scope costs: ours, an empty `with`, and the known tool, in one run.

Usage: python benchmarks/scope_cost.py [--rounds N] [--json PATH]
Each figure is nanoseconds per `with scope("x"): pass`, by interleaved rounds. The figure with no
session is what is left over an empty `with` of a C type (empty_with.c, compiled on the spot). The
known tool is measured with no session only: its sessions need a GPU.
"""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proton import _native
from stats import Estimate, Result, difference, estimate, interleave, parser, report

COUNT = 20_000
BURSTS = 3  # the fastest of a few bursts is a sample: a busy neighbour slows single bursts

Region = Callable[..., Any]


def load_empty() -> Region:
    """The empty context manager, compiled for this Python."""
    source = Path(__file__).with_name("empty_with.c")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"empty_with{sysconfig.get_config_var('EXT_SUFFIX')}"
        compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
        include = sysconfig.get_path("include")
        command = [*compiler, "-O2", "-shared", "-fPIC", f"-I{include}", str(source)]
        subprocess.run([*command, "-o", str(target)], check=True)
        spec = importlib.util.spec_from_file_location("empty_with", target)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    region: Region = module.Empty
    return region


def plain(region: Region) -> float:
    """Nanoseconds per scope."""
    start = time.perf_counter_ns()
    for _ in range(COUNT):
        with region("x"):
            pass
    return (time.perf_counter_ns() - start) / COUNT


def with_metric(region: Region) -> float:
    """Nanoseconds per scope with one float metric."""
    start = time.perf_counter_ns()
    for _ in range(COUNT):
        with region("x", {"loss": 1.5}):
            pass
    return (time.perf_counter_ns() - start) / COUNT


def at_depth(depth: int, region: Region) -> float:
    """`plain`, called from `depth` Python frames."""
    return plain(region) if depth <= 1 else at_depth(depth - 1, region)


def in_session(context: str, data: str, run: Callable[[], float]) -> float:
    """`run` while a session records."""
    session = _native.Session(0, context=context, data=data)
    session.activate()
    try:
        return run()
    finally:
        session.close()


def main() -> None:
    arguments = parser(__doc__).parse_args()
    empty, ours = load_empty(), _native.Scope
    runs: dict[str, Callable[[], float]] = {
        "empty": lambda: plain(empty),
        "off": lambda: plain(ours),
        "tree": lambda: in_session("shadow", "tree", lambda: plain(ours)),
        "metric": lambda: in_session("shadow", "tree", lambda: with_metric(ours)),
        "trace": lambda: in_session("shadow", "trace", lambda: plain(ours)),
        "python 5": lambda: in_session("python", "tree", lambda: at_depth(5, ours)),
        "python 50": lambda: in_session("python", "tree", lambda: at_depth(50, ours)),
    }
    if find_spec("triton") is not None:
        import triton.profiler as known_tool

        runs["known"] = lambda: plain(known_tool.scope)
    best = {name: lambda run=run: min(run() for _ in range(BURSTS)) for name, run in runs.items()}
    samples = interleave(best, rounds=arguments.rounds)
    known: Estimate | None = estimate(samples["known"]) if "known" in samples else None
    over = "over an empty `with`"
    known_over = difference(samples["known"], samples["empty"]) if known else None
    results = [
        Result("empty with of a C type", "ns", estimate(samples["empty"])),
        Result(
            "scope, no session",
            "ns",
            difference(samples["off"], samples["empty"]),
            60,
            known_over,
            over,
        ),
        Result("scope, no session, in all", "ns", estimate(samples["off"]), None, known),
        Result("scope, shadow tree", "ns", estimate(samples["tree"]), 200),
        Result("scope with a float metric", "ns", estimate(samples["metric"]), 400),
        Result("scope, shadow trace", "ns", estimate(samples["trace"])),
        Result("scope, python tree, 5 frames", "ns", estimate(samples["python 5"]), 600),
        Result("scope, python tree, 50 frames", "ns", estimate(samples["python 50"]), 3000),
    ]
    report(results, arguments.json)


if __name__ == "__main__":
    main()
