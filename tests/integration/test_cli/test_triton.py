"""Unmodified scripts that use `triton.profiler` run under `proton`."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton"),
]

SCRIPT = """
import sys
IMPORTS
import numpy as np
import triton.language as tl

assert proton.__name__ == "proton" and triton.profiler is proton
import triton.profiler.viewer
import triton.profiler.hooks.launch
from triton.profiler import language as pl
from triton.profiler.flags import flags
assert pl.__name__ == "proton.language" and flags.command_line

def metadata(grid, metadata, args):
    return {"name": f"add_{args['n']}", "flops32": 1.0 * args["n"]}

@triton.jit(launch_metadata=metadata)
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

x, out = np.ones(100, np.float32), np.zeros(100, np.float32)
session = proton.start("theirs", hook="triton")
with proton.scope("work"):
    add[(2,)](x, x, out, 100, BLOCK=64)
proton.deactivate(session)
add[(2,)](x, x, out, 100, BLOCK=64)
proton.activate(session)
proton.finalize()
assert (out == 2).all()
sys.exit(5)
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import triton.profiler as proton\nimport triton",
        "import triton\nfrom triton import profiler as proton",
    ],
)
def test_a_script_for_triton_s_profiler_is_profiled_by_ours(imports: str, runner: Any) -> None:
    runner.write("script.py", SCRIPT.replace("IMPORTS", imports))
    ended = runner.proton("-n", "ours", "-k", "triton", "script.py")
    assert ended.code == 5, ended.err
    assert runner.profiles() == ["ours.hatchet"]
    assert runner.paths("ours.hatchet") == [("work",), ("work", "add_100")]
    assert ended.err == ""


def test_triton_is_not_imported_before_the_script_does_it(runner: Any) -> None:
    runner.write(
        "script.py",
        "import sys\nassert not {'triton', 'torch', 'numpy'} & set(sys.modules)\n"
        "import proton\nwith proton.scope('x'): pass\n"
        "assert not {'triton', 'torch', 'numpy'} & set(sys.modules)\n",
    )
    ended = runner.proton("script.py")
    assert (ended.code, ended.err) == (0, "")


def test_outside_the_command_triton_keeps_its_own(runner: Any) -> None:
    runner.write(
        "script.py",
        "import proton, importlib.util\nprint(importlib.util.find_spec('triton.profiler').origin)",
    )
    assert "proton/__init__" not in runner.python("script.py").out


def test_a_run_with_triton_but_no_kernel_says_so(runner: Any) -> None:
    runner.write("script.py", "import triton")
    (nothing, _) = runner.proton("script.py").said
    assert "the target launched no kernel and entered no scope" in nothing
