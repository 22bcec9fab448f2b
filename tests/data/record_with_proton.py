"""Record small profiles with Proton, on the interpreter: `python record_with_proton.py FOLDER`.

What says where it was recorded (host, command, process) is replaced afterwards.
"""

# mypy: ignore-errors
# Triton is not typed, and not always there.
from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import triton
import triton.language as tl

import proton
from proton.files.detect import open_profile
from proton.files.encoding.schema import SUFFIXES
from proton.files.write import write_profile


def metadata(grid: Any, kernel: Any, args: Any) -> dict[str, Any]:
    return {"name": f"add_{args['size']}", "flops": float(args["size"]), "bytes": 12 * args["size"]}


@triton.jit(launch_metadata=metadata)
def add(x, y, out, size, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = place < size
    tl.store(out + place, tl.load(x + place, mask) + tl.load(y + place, mask), mask)


def work() -> None:
    x = np.ones(100, dtype=np.float32)
    for step in range(2):
        with proton.scope(
            f"step_{step}", metrics={"loss (pty)": 1.0 / (step + 1), "shape": [4, 25]}
        ):
            with proton.cpu_timed_scope("load"):
                pass
            with proton.state("warm"):
                add[(2,)](x, x, x, 100, BLOCK=64)


def scrub(path: Path) -> None:
    """Take out what tells of the machine."""
    if path.suffix == ".pftrace":
        scrub_trace(path)
        return
    is_text = path.suffix != ".hatchet_msgpack"
    file = json.loads(path.read_bytes()) if is_text else msgpack.unpackb(path.read_bytes())
    summary = file["proton"] if isinstance(file, dict) else file[0]["proton"]
    summary |= {"host": "host", "command": ["python", "record_with_proton.py"], "pid": 1}
    summary["session"] = path.stem
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
    for folder in (Path.cwd(), Path(triton.__file__).parents[1]):
        text = text.replace(f"{folder}/", "")
    path.write_bytes(text.encode() if is_text else msgpack.packb(json.loads(text)))


def scrub_trace(path: Path) -> None:
    """The same for a Perfetto trace. What Proton writes again is as the core wrote it but there."""
    profile = open_profile(path)
    header = replace(
        profile.header, host="host", command=("python", "record_with_proton.py"), pid=1
    )
    write_profile(replace(profile, header=replace(header, session=path.stem)), path)


def main() -> None:
    folder = Path(sys.argv[1])
    for name, options, output_format in [
        ("proton_tree", {}, "hatchet"),
        ("proton_tree", {}, "hatchet_msgpack"),
        ("proton_python", {"context": "python"}, "hatchet"),
        ("proton_trace", {"data": "trace"}, "chrome_trace"),
        ("proton_trace", {"data": "trace"}, "perfetto"),
    ]:
        session = proton.start(str(folder / name), hook="triton", **options)
        work()
        proton.finalize(session, output_format)
        scrub(folder / f"{name}.{SUFFIXES[output_format]}")


if __name__ == "__main__":
    main()
