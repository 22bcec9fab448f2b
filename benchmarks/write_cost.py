"""How long a session of 100 000 nodes takes to write, file and disk included.

Usage: python benchmarks/write_cost.py [--rounds N] [--json PATH]
50 000 distinct scopes with a metric each, a kernel below every one of them, written to a file in
the current folder. Time is that of `Session.write`: taking the tree, formatting, sync and rename.
The writers alone, without a session, are timed by write_cost.cpp.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from proton import _native
from stats import Result, estimate, interleave, parser, report, time_ns

NODE_COUNT = 100_000
BARS_S = {"hatchet": 0.3, "hatchet_msgpack": 0.1}


def record(session: _native.Session) -> None:
    """Give `session` NODE_COUNT nodes below its root."""
    for number in range(NODE_COUNT // 2):
        with _native.Scope(f"scope {number}", {"flops": 2.0 * number}):
            session.on_kernel(
                "matmul_kernel", number, 3 * number + 7, device_type="CUDA", device_id=0
            )


def writing(session: _native.Session, format: str, folder: Path) -> Callable[[], float]:
    """A function that writes the session once and returns the seconds it took."""
    path = str(folder / f"write_cost.{format}")
    header: dict[str, object] = {"session": "write_cost", "command": ["write_cost.py"]}
    return lambda: time_ns(lambda: session.write(path, format, 0, header)) / 1e9


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__).parse_args()
    session = _native.Session(0, context="shadow", data="tree")
    session.activate()
    record(session)
    session.deactivate()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        runs = {format: writing(session, format, Path(folder)) for format in BARS_S}
        samples = interleave(runs, rounds=arguments.rounds)
        sizes = {path.suffix[1:]: path.stat().st_size for path in Path(folder).iterdir()}
    session.close()
    report(
        [
            Result(
                f"write {NODE_COUNT} nodes as {format}",
                "s",
                estimate(samples[format]),
                bar=bar,
                note=f"{sizes[format] / 1e6:.1f} MB",
            )
            for format, bar in BARS_S.items()
        ],
        arguments.json,
    )


if __name__ == "__main__":
    main()
