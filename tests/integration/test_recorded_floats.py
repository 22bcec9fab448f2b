"""Kernels that record floats compile for every target, and a float costs what an integer does."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import proton.language as pl
from proton.inkernel.compiler.compile_hook import read_records
from tests.support.carrier_kernels import sass
from tests.support.kernels import compiled
from tests.support.recording import recording

pytestmark = pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")

TARGETS = ("80", "90", "100", "gfx90a", "gfx942", "gfx950")
ARGUMENTS = {"x": "*fp32", "h": "*fp16", "b": "*bf16", "d": "*fp64", "q": "*fp8e5", "n": "i32"}
TYPES = {
    "single": "f32",
    "half": "f32",
    "brain": "f32",
    "double": "f64",
    "quarter": "f32",
    "sum": "f32",
    "constant": "f32",
    "either": "f64",
    "wide": "i64",
    "fine": "f64",
}


@triton.jit
def floats(x, h, b, d, q, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    pl.value("single", tl.load(x + at))
    pl.value("half", tl.load(h + at))
    pl.value("brain", tl.load(b + at))
    pl.value("double", tl.load(d + at))
    pl.value("quarter", tl.load(q + at))
    pl.value("sum", tl.sum(tl.load(x + tl.arange(0, BLOCK))))
    pl.value("constant", -1.5)
    if at > 0:
        pl.value("either", n)
        pl.value("wide", n)
        pl.value("fine", tl.load(h + at))
    else:
        pl.value("either", tl.load(x + at))
        pl.value("wide", n.to(tl.int64))
        pl.value("fine", tl.load(d + at))
    tl.store(x, n)


@gluon.jit
def gluon_floats(x, h, b, d, q, n, BLOCK: gl.constexpr):
    at = gl.program_id(0)
    pl.value("single", gl.load(x + at))
    pl.value("half", gl.load(h + at))
    pl.value("brain", gl.load(b + at))
    pl.value("double", gl.load(d + at))
    gl.store(x, n)


def _record_map(kernel: Any, target: str) -> dict[str, Any]:
    with recording("default") as warnings:
        made = compiled(kernel, ARGUMENTS, {"BLOCK": 128}, target)
    assert warnings == []
    assert (made.asm.get("cubin") or made.asm.get("hsaco"))[:4] == b"\x7fELF"
    records = read_records(made.metadata)
    assert records is not None
    return dict(records.record_map)


@pytest.mark.matrix
@pytest.mark.parametrize("target", TARGETS)
def test_floats_of_every_width_reach_the_binary(target: str) -> None:
    regions = _record_map(floats, target)["regions"]
    assert {region["name"]: region["value_type"] for region in regions} == TYPES
    assert all(region["bits"] == int(region["value_type"][1:]) for region in regions)
    assert all(region["line"] > 0 for region in regions)


@pytest.mark.matrix
@pytest.mark.parametrize("target", ["90", "100", "gfx942"])
def test_gluon_kernels_record_floats_too(target: str) -> None:
    regions = _record_map(gluon_floats, target)["regions"]
    names = ("single", "half", "brain", "double")
    assert {region["name"]: region["value_type"] for region in regions} == {
        name: TYPES[name] for name in names
    }


@triton.jit
def copied(x, y, n):
    number = tl.load(x + tl.program_id(0))
    pl.value("number", number)
    tl.store(y + tl.program_id(0), number)


@pytest.mark.parametrize("target", ["80", "90", "100"])
@pytest.mark.parametrize(("real", "whole"), [("*fp32", "*i32"), ("*fp64", "*i64")])
def test_a_float_is_as_many_instructions_as_an_integer(
    real: str, whole: str, target: str, tmp_path: Path
) -> None:
    counts = []
    for kind in (real, whole):
        with recording("default") as warnings:
            made = compiled(copied, {"x": kind, "y": kind, "n": "i32"}, {}, target)
        assert warnings == []
        counts.append(len(sass(made.asm["cubin"], tmp_path)))
    assert counts[0] == counts[1]
