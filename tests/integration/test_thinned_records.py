"""A kernel that is thinned out within a session, in its profile and in the terminal."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from typing import Any

import pytest
import triton
import triton.language as tl

import proton
from proton.files.detect import open_profile
from proton.inkernel.compiler.mode_passes import THINNING
from proton.inkernel.compiler.recording_choice import choice
from proton.render.text.region_tables import region_tables
from proton.render.text.style import Style

torch = pytest.importorskip("torch")


@triton.jit
def rows(x_ptr, y_ptr, n, B: tl.constexpr):
    at = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for row in range(n):
        total += tl.load(x_ptr + row * B + at)
    tl.store(y_ptr + at, total)


def _launch() -> None:
    rows[(2,)](torch.zeros(8, 64), torch.empty(64), 8, B=64)


def test_launches_before_and_after_stand_apart_and_say_what_they_are_of(launches: Any) -> None:
    session = proton.start("run", backend="instrumentation", mode="ops")
    for thinning in (0, 1, len(THINNING) - 1):
        choice.thin(rows, thinning)
        _launch()
    proton.finalize(session)
    profile = open_profile("run.hatchet")
    whole, some, none = profile.in_kernel
    assert [kernel.every for kernel in profile.in_kernel] == [1, 4, 0]
    assert {region.every for region in whole.regions} == {1}
    load, store = some.regions
    assert (load.name[:4], load.every, store.name[:5], store.every) == ("load", 4, "store", 1)
    assert [region.name for region in none.regions] == [store.name]
    text = "\n".join(region_tables(profile, "rows", Style(), full=False))
    assert f"{load.name} (1 of 4 iterations)" in text
    assert f"{store.name} (" not in text
    assert "! rows: thinned out for its budget: 1 of 4 iterations of loops is recorded" in text
    assert "! rows: thinned out for its budget: nothing in loops is recorded" in text
