"""What entering and leaving a scope costs: ours, an empty `with`, and the known tool, in one run;
and what `proton.step()` costs.

Usage: python benchmarks/scope_cost.py [--rounds N] [--json PATH]
Each figure is nanoseconds per `with scope("x"): pass`, of the thread's processor time, which other
work on the machine changes little, by interleaved rounds. The figure with no session is what is
left over an empty `with` of a C type (empty_with.c, compiled on the spot). The known tool's
sessions need a GPU: without one it is measured with no session only.
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

import proton
from proton import _native
from stats import Estimate, Result, difference, estimate, interleave, parser, report

COUNT = 20_000
KNOWN_COUNT = 1_000  # the known tool takes up to 50 us a scope
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


def plain(region: Region, count: int = COUNT) -> float:
    """Nanoseconds per scope."""
    start = time.thread_time_ns()
    for _ in range(count):
        with region("x"):
            pass
    return (time.thread_time_ns() - start) / count


def with_metric(region: Region, count: int = COUNT) -> float:
    """Nanoseconds per scope with one float metric."""
    start = time.thread_time_ns()
    for _ in range(count):
        with region("x", {"loss": 1.5}):
            pass
    return (time.thread_time_ns() - start) / count


def at_depth(depth: int, region: Region, count: int = COUNT) -> float:
    """`plain`, called from `depth` Python frames."""
    return plain(region, count) if depth <= 1 else at_depth(depth - 1, region, count)


def steps(count: int = COUNT) -> float:
    """Nanoseconds per `proton.step()`."""
    step = proton.step
    start = time.thread_time_ns()
    for _ in range(count):
        step()
    return (time.thread_time_ns() - start) / count


def in_session(context: str, data: str, run: Callable[[], float]) -> float:
    """`run` while a session records."""
    session = _native.Session(0, context=context, data=data)
    session.activate()
    try:
        return run()
    finally:
        session.close()


def known_runs(known_tool: Any, folder: str) -> dict[str, Callable[[], float]]:
    """The same regions by the known tool; those in a session only where it can start one."""

    def in_known_session(context: str, run: Callable[[], float]) -> float:
        known_tool.start(f"{folder}/known", context=context)
        try:
            return run()
        finally:
            known_tool.finalize()

    scope, count = known_tool.scope, KNOWN_COUNT
    runs = {"known off": lambda: plain(scope)}
    try:
        in_known_session("shadow", lambda: plain(scope, 1))
    except RuntimeError as error:
        print(f"the known tool starts no session here: {error}")
        known_tool.finalize()  # or its scopes go on as if it had started
        return runs
    return runs | {
        "known tree": lambda: in_known_session("shadow", lambda: plain(scope, count)),
        "known metric": lambda: in_known_session("shadow", lambda: with_metric(scope, count)),
        "known python 5": lambda: in_known_session("python", lambda: at_depth(5, scope, count)),
        "known python 50": lambda: in_known_session("python", lambda: at_depth(50, scope, count)),
    }


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
        "step off": steps,
        "step": lambda: in_session("shadow", "tree", steps),
    }
    with tempfile.TemporaryDirectory() as folder:
        if find_spec("triton") is not None:
            import triton.profiler as known_tool

            runs |= known_runs(known_tool, folder)
        best = {
            name: lambda run=run: min(run() for _ in range(BURSTS)) for name, run in runs.items()
        }
        samples = interleave(best, rounds=arguments.rounds)

    def known(name: str) -> Estimate | None:
        return estimate(samples[f"known {name}"]) if f"known {name}" in samples else None

    over = "over an empty `with`"
    known_over = difference(samples["known off"], samples["empty"]) if known("off") else None
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
        Result("scope, no session, in all", "ns", estimate(samples["off"]), None, known("off")),
        Result("scope, shadow tree", "ns", estimate(samples["tree"]), 200, known("tree")),
        Result(
            "scope with a float metric", "ns", estimate(samples["metric"]), 400, known("metric")
        ),
        Result("scope, shadow trace", "ns", estimate(samples["trace"])),
    ]
    for depth, bar in ((5, 600), (50, 3000)):
        name = f"python {depth}"
        figure = f"scope, python tree, {depth} frames"
        results.append(Result(figure, "ns", estimate(samples[name]), bar, known(name)))
    results.append(Result("proton.step(), no session", "ns", estimate(samples["step off"])))
    results.append(Result("proton.step()", "ns", estimate(samples["step"])))
    report(results, arguments.json)


if __name__ == "__main__":
    main()
