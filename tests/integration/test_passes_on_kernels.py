"""The passes on what Triton really prints: reading, every pass, and Triton reading the result."""

import functools
import os
import time
from pathlib import Path
from typing import Any

import pytest

from proton.inkernel.compiler.mode_passes import recording_passes
from proton.inkernel.compiler.pipeline import parse_passes, run_passes
from proton.inkernel.ir.nesting import verify
from proton.inkernel.ir.parse import read_module
from proton.inkernel.modes.mode_table import parse_instrumentation
from tests.support.kernels import SHAPES, compile_shape

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

RUNS = {
    "ops": "record-around-ops{ops=load,store,copy,wait,dot,barrier,shared},prepare",
    "loops": "record-loops{cap=16},prepare",
    "iterations": "record-loops{cap=0 whole=false},prepare",
    "mma": "record-mma,prepare",
    "async-wait": "record-async-waits,prepare",
    "cta": "record-ctas",
    "all": "record-user-scopes,record-loops,record-around-ops,record-mma,prepare",
}


@functools.cache
def _texts(shape: str) -> Any:
    try:
        return compile_shape(shape)
    except Exception as error:
        pytest.skip(f"this Triton does not compile {shape}: {error!r:.100}")


def _parsed_by_triton(text: str, folder: Path) -> str:
    from triton._C import libtriton

    context = libtriton.ir.context()
    libtriton.ir.load_dialects(context)
    libtriton.nvidia.load_dialects(context)
    libtriton.amd.load_dialects(context)
    path = os.fspath(folder / "kernel.ttgir")
    Path(path).write_text(text, encoding="utf-8")
    module = libtriton.ir.parse_mlir_module(path, context)
    assert module.verify()
    return str(module)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_not_edited_is_written_back_byte_for_byte(shape: str) -> None:
    for kind in ("ttir", "ttgir"):
        text = _texts(shape).get(kind)
        if text is None:
            continue
        module = read_module(text)
        assert module.text() == text
        assert [kernel.symbol for kernel in module.kernels()] == [shape.split("-")[0]] or (
            shape.startswith("tma_specialized")
        )
        lines = text.splitlines()
        code = [line for line in lines if line.startswith(" ") and not line.strip().startswith("}")]
        regions = sum(line.strip().startswith(("^", "default {", "partition")) for line in code)
        assert sum(1 for _ in module.walk()) == len(code) - regions + 1  # the module's own line


@pytest.mark.parametrize("shape", SHAPES)
def test_most_operations_have_the_users_line(shape: str) -> None:
    module = read_module(_texts(shape)["ttgir"])
    sources = [op.source for op in module.walk() if not op.name.startswith("arith.constant")]
    known = [source for source in sources if source is not None]
    assert len(known) > 0.7 * len(sources)
    assert all(source.file.endswith("kernels.py") for source in known)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_triton_reads_what_the_passes_leave(shape: str, run: str, tmp_path: Path) -> None:
    text = _texts(shape)["ttgir"]
    new = run_passes(text, parse_passes(RUNS[run]))
    again = _parsed_by_triton(new, tmp_path)
    assert again.count('"// proton.') == new.count('"// proton.')
    verify(read_module(again))
    kept = [line for line in new.splitlines() if "proton" not in line]
    old = [line for line in text.splitlines() if line not in kept]
    assert old == [], "only lines of ours were added"
    if run == "cta":
        assert new.count("proton.init kind=cta") == 1


def test_the_passes_take_a_fraction_of_the_hundred_milliseconds_a_kernel_may_cost() -> None:
    text = _texts("matmul-90")["ttgir"]
    passes = recording_passes(parse_instrumentation("ops+loops"))
    best = 1.0
    for _ in range(5):
        begin = time.perf_counter()
        run_passes(text, passes)
        best = min(best, time.perf_counter() - begin)
    assert best < 0.1
