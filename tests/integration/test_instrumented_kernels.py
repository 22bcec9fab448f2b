"""Kernels of the kinds people profile compile with records, and nothing is said against it."""

from __future__ import annotations

import pytest

from proton.inkernel.compiler.compile_hook import read_records
from tests.support.kernels import compiled
from tests.support.recording import recording
from tests.support.ten_kernels import GLUON, TEN

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]


@pytest.mark.parametrize("name", TEN)
@pytest.mark.parametrize("target", ["90", "gfx942"])
def test_each_of_ten_kernels_records_its_scope_and_all_else(name: str, target: str) -> None:
    case = TEN[name]
    with recording("default+ops+loops+mma+cta+memory") as warnings:
        kernel = compiled(case.kernel, case.arguments, case.constants, target)
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    regions = {region["name"]: region for region in records.record_map["regions"]}
    assert case.regions <= set(regions)
    assert len(regions) > 1
    assert {region["file"].rpartition("/")[2] for region in regions.values()} <= {
        "ten_kernels.py",
        "",
    }


@pytest.mark.parametrize("mode", ["default", "ops", "mma", "async-wait"])
def test_a_gluon_kernel_with_tma_and_wgmma_is_recorded(mode: str) -> None:
    with recording(mode) as warnings:
        kernel = compiled(GLUON.kernel, GLUON.arguments, GLUON.constants, "90")
    assert warnings == []
    records = read_records(kernel.metadata)
    assert records is not None
    kinds = {region["kind"] for region in records.record_map["regions"]}
    assert (
        kinds
        == {
            "default": {"scope", "event"},
            "ops": {"copy", "wait", "dot"},
            "mma": {"mma", "wait"},
            "async-wait": {"copy", "wait", "iteration"},
        }[mode]
    )
