"""The kernels that say how accurate regions are: truth and record must come from the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.support.nvdisasm import triton_tool
from tests.support.sass_loops import loops_of
from tests.support.wide import combinations

pytestmark = pytest.mark.skipif(triton_tool("nvdisasm") is None, reason="needs Triton's nvdisasm")

# what a part's loop consists of, in SASS
INSTRUCTIONS = {
    "SPIN": "CS2R",
    "MULTIPLY_ADD": "FFMA",
    "TIGHT": "FFMA",
    "WIDE": "FFMA",
    "INVERSE_ROOT": "MUFU.RSQ",
    "LOAD": "LDG",
    "CHASE_NEAR": "LDG",
    "CHASE_FAR": "LDG",
    "COPY": "LDGSTS",
}
LENGTHS = {
    "MULTIPLY_ADD": 64,
    "TIGHT": 4,
    "WIDE": 64,
    "INVERSE_ROOT": 10,
    "CHASE_NEAR": 10,
    "CHASE_FAR": 4,
}
TYPES = {
    "start": "i64",
    "sink_ptr": "*i64",
    "cycles_ptr": "*i32",
    "count": "i32",
    "turns": "i32",
    "steps": "i32",
}


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[1] / "gpu"))
    return import_module("accuracy_suite")


@pytest.fixture
def compile_kernel(suite: Any) -> Iterator[Callable[..., bytes]]:
    """Compile a kernel of the suite as its session does; the cubin."""
    assert find_spec("triton") is not None
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from proton.inkernel.compiler.instrument import begin
    from proton.inkernel.modes.mode_table import parse_instrumentation

    def compile_it(kernel: Any, *, num_warps: int, **constants: Any) -> bytes:
        names = [name for name in kernel.arg_names if name not in constants]
        signature = {name: TYPES[name] for name in names} | dict.fromkeys(constants, "constexpr")
        aligned = {(list(signature).index("sink_ptr"),): [["tt.divisibility", 16]]}
        source = ASTSource(kernel, signature, constants, aligned)
        target = GPUTarget("cuda", 90, 32)
        compiled = triton.compile(source, target=target, options={"num_warps": num_warps})
        cubin: bytes = compiled.asm["cubin"]
        return cubin

    said: list[str] = []
    handle = begin(parse_instrumentation(suite.MODE), warn=said.append)
    try:
        yield compile_it
    finally:
        handle.end()
    assert said == []


def test_every_part_has_its_instruction(suite: Any) -> None:
    assert {part.code for part in suite.ALL.values()} - {"NOTHING"} == set(INSTRUCTIONS)


@pytest.mark.parametrize("code", combinations(INSTRUCTIONS, kept=("SPIN", "TIGHT").__contains__))
def test_truth_and_record_run_the_same_instructions_at_the_same_pace(
    code: str, suite: Any, compile_kernel: Callable[..., bytes]
) -> None:
    """What is between two records is what is between two reads of the clock."""
    kernels = import_module("accuracy_kernels")
    shapes = {
        (bool(part.steps), part.is_event, part.warps)
        for part in suite.ALL.values()
        if part.code == code
    }
    for has_steps, is_event, warps in sorted(shapes):
        constants = {"PART": getattr(kernels, code).value, "THREADS": 32 * warps}
        timed = kernels.timed if has_steps else kernels.timed_once
        plain = kernels.recorded_event if is_event else kernels.recorded
        recorded = kernels.recorded_steps if has_steps else plain
        truth = compile_kernel(timed, num_warps=warps, **constants)
        record = compile_kernel(recorded, num_warps=warps, NAME=code, **constants)
        (expected,) = loops_of(truth, INSTRUCTIONS[code])
        (found,) = loops_of(record, INSTRUCTIONS[code])
        assert found == expected, (has_steps, is_event)
        if code in LENGTHS:
            counted = sum(INSTRUCTIONS[code] in each for each in found)
            assert counted == LENGTHS[code], "nothing was folded or unrolled"


def test_a_loop_with_another_instruction_or_pace_is_another_loop(
    suite: Any, compile_kernel: Callable[..., bytes]
) -> None:
    kernels = import_module("accuracy_kernels")
    loops = set()
    for code in ("TIGHT", "MULTIPLY_ADD"):
        constants = {"PART": getattr(kernels, code).value, "THREADS": 32}
        cubin = compile_kernel(kernels.timed_once, num_warps=1, **constants)
        (loop,) = loops_of(cubin, "FFMA")
        loops.add(loop)
        assert loops_of(cubin, "MUFU.RSQ") == []
    assert len(loops) == 2
