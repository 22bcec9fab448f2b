"""How large a chrome trace is, beside the same events as the known tool writes them.

Usage: python benchmarks/trace_size.py [--json PATH] [--steps N]
Steps of GPT-2 training, as recorded on an H200 (tests/data/streams/gpt2_training.json): the 2095
kernels and 26 copies of a step, by their own names and in their own scopes, are launched on the
fake driver (tests/native/fake_cuda) in a session with data="trace". `known_file` is a small encoder
of the known format, from what is documented of it; that of Triton 3.6 it writes byte by byte as
tests/data/triton36_trace.chrome_trace has it. The known tool writes neither launches nor copies.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stats import Result, estimate, parser, report

ROOT = Path(__file__).resolve().parents[1]
STEP = ROOT / "tests" / "data" / "streams" / "gpt2_training.json"
BAR_SAME, BAR_WHOLE = 1.0, 1.5
_COPIES = {"<memcpy HtoD>": 1, "<memcpy DtoH>": 2, "<memcpy DtoD>": 8}


@dataclass(frozen=True)
class Work:
    """Kernels or copies of one name in one context of a step."""

    scopes: tuple[str, ...]
    name: str
    runs: int
    time_ns: int


def step_of_training() -> list[Work]:
    """What one step launches, by context."""
    (rows,) = json.loads(STEP.read_text())["profiles"].values()
    found = []
    for path, (runs, time_ns) in rows.items():
        *scopes, name = path.split("\x1f")
        if runs:
            found.append(Work(tuple(scopes), name, runs, time_ns // runs))
    return sorted(found, key=lambda work: work.scopes)


def record(steps: int, output_format: str) -> Path:
    """Launch so many steps on the fake driver in a session; its file, in the current folder."""
    sys.path.insert(0, str(ROOT))
    import proton
    from tests.native.fake_cuda.driver import FakeDriver, build_driver

    driver = FakeDriver(build_driver())
    os.environ.update(driver.environment)
    work = step_of_training()
    functions = {}
    for number, each in enumerate(work):
        functions[each] = driver.function(each.name, each.time_ns)
        driver.calls.fake_function_resources(functions[each], 16 + number % 64, 0, 1024 * number)
    session = proton.start("trace_size", backend="cupti", data="trace")

    def launch(each: Work) -> None:
        if each.name in _COPIES:
            driver.memcpy(_COPIES[each.name], 4096, each.time_ns)
        elif each.name.startswith("<"):
            driver.memset(4096, each.time_ns)
        else:
            driver.calls.fake_launch_many(functions[each], 1, None)

    for _ in range(steps):
        entered: tuple[str, ...] = ()
        with ExitStack() as stack:
            for each in work:
                if each.scopes != entered:
                    stack.close()
                    for scope in each.scopes:
                        stack.enter_context(proton.scope(scope))
                    entered = each.scopes
                for _ in range(each.runs):
                    launch(each)
    proton.finalize(session, output_format=output_format)
    suffix = "pftrace" if output_format == "perfetto" else output_format
    return Path(f"trace_size.{suffix}")


def known_file(events: Iterable[dict[str, Any]], *, version: str) -> bytes:
    """Kernels and scopes of a trace of ours as Triton's profiler writes them: keys in order.

    Args:
        events: Complete events; of these the kernels and scopes are taken.
        version: "3.6" knows kernels alone, on the numbers of their streams; "3.9" has scopes too.
    """
    found = []
    for event in events:
        if event["cat"] not in (("kernel",) if version == "3.6" else ("kernel", "scope", "metric")):
            continue
        stack = event["args"]["call_stack"]
        args: dict[str, Any] = {"call_stack": stack}
        if "scope_id" in event["args"]:
            args["scope_id"] = event["args"]["scope_id"]
        known = {"args": args, "cat": event["cat"], "dur": event["dur"], "name": stack[-1]}
        if version == "3.6":
            known |= {"ph": "X", "tid": event["tid"] % 100_000, "ts": event["ts"]}
        else:
            known |= {"ph": "X", "pid": 0, "tid": event["tid"], "ts": event["ts"]}
        found.append(known)
    file = {"displayTimeUnit": "us", "traceEvents": found}
    return json.dumps(file, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()


@dataclass(frozen=True)
class Sizes:
    """Bytes of one run: of our file, of its kernels and scopes, and of those in known formats."""

    kernels: int
    whole: int
    kernels_and_scopes: int
    known: int
    known_36: int


def measure(path: Path) -> Sizes:
    """The sizes of what stands in a file of ours."""
    text = path.read_bytes()
    file = json.loads(text)
    complete = [event for event in file["traceEvents"] if event["ph"] == "X"]
    own = [each for each in complete if each["cat"] in ("kernel", "scope", "metric")]
    return Sizes(
        kernels=sum(each["cat"] == "kernel" for each in own),
        whole=len(text),
        kernels_and_scopes=sum(map(_size_of, own)),
        known=len(known_file(complete, version="3.9")),
        known_36=len(known_file(complete, version="3.6")),
    )


def _size_of(event: dict[str, Any]) -> int:
    """The bytes of an event with its comma; times stand with three digits, which may be zeros."""
    plain = {key: value for key, value in event.items() if key not in ("ts", "dur")}
    times = sum(len(f'"{key}":{event[key]:.3f},') for key in ("ts", "dur"))
    return len(json.dumps(plain, separators=(",", ":"), ensure_ascii=False).encode()) + times + 1


def results_of(sizes: Sizes, packed: int, steps: int) -> Sequence[Result]:
    """The figures of a run."""

    def ratio(size: int, known: int) -> Any:
        return estimate([size / known])

    return [
        Result(
            f"chrome trace of {steps} steps of GPT-2 training",
            "MB",
            estimate([sizes.whole / 1e6]),
            known=estimate([sizes.known / 1e6]),
        ),
        Result(
            "bytes a kernel, all of it",
            "",
            estimate([sizes.whole / sizes.kernels]),
            known=estimate([sizes.known / sizes.kernels]),
        ),
        Result(
            "kernels and scopes, to the known tool's",
            "x",
            ratio(sizes.kernels_and_scopes, sizes.known),
            BAR_SAME,
        ),
        Result(
            "all of it with launches, copies and arrows, to those",
            "x",
            ratio(sizes.whole, sizes.known),
            BAR_WHOLE,
        ),
        Result(
            "the same, to a file of Triton 3.6, which has kernels alone",
            "x",
            ratio(sizes.whole, sizes.known_36),
            BAR_WHOLE,
        ),
        Result("the same run as .pftrace", "MB", estimate([packed / 1e6])),
        Result("chrome trace, to .pftrace", "x", ratio(sizes.whole, packed)),
    ]


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    options = parser(__doc__)
    options.add_argument("--steps", type=int, default=40)
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sizes = measure(record(arguments.steps, "chrome_trace"))
        packed = record(arguments.steps, "perfetto").stat().st_size
        os.chdir(ROOT)
    report(results_of(sizes, packed, arguments.steps), arguments.json)


if __name__ == "__main__":
    main()
