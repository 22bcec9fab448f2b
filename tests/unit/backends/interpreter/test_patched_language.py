# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language import arange, store
from triton.language.math import exp2

from proton._triton.interpreter import interpreter_parts
from proton.backends.interpreter.builder import make_builder_class
from proton.backends.interpreter.patched_language import LanguagePatch

pytestmark = pytest.mark.matrix


@pytest.fixture
def patch() -> LanguagePatch:
    parts = interpreter_parts()
    return LanguagePatch(parts, parts.interpreter.TritonSemantic(make_builder_class(parts)()))


def test_making_a_patch_changes_nothing(patch: LanguagePatch) -> None:
    with pytest.raises(ValueError, match="_semantic"):
        tl.arange(0, 4)


def test_the_language_works_outside_the_compiler_while_applied(patch: LanguagePatch) -> None:
    patch.apply()
    try:
        assert tl.arange(0, 4).handle.data.tolist() == [0, 1, 2, 3]
    finally:
        patch.restore()


def test_restoring_brings_every_attribute_back(patch: LanguagePatch) -> None:
    owners = (tl, tl.core, tl.tensor, tl.math, tl.core.dtype, tl.core.tensor_descriptor_base)
    before = [dict(vars(owner)) for owner in owners]
    patch.apply()
    assert [dict(vars(owner)) for owner in owners] != before
    patch.restore()
    assert [dict(vars(owner)) for owner in owners] == before


def test_an_inner_restore_leaves_the_outer_patch_in_place(patch: LanguagePatch) -> None:
    patch.apply()
    patch.apply()
    patch.restore()
    try:
        assert tl.arange(0, 2).handle.data.tolist() == [0, 1]
    finally:
        patch.restore()


def test_a_loop_may_run_to_a_computed_bound(sink: Any) -> None:
    @triton.jit
    def count(dst, n, BLOCK: tl.constexpr):
        total = 0
        for _ in range(0, tl.cdiv(n, BLOCK)):
            total += 1
        tl.store(dst, total)

    dst = np.zeros(1, np.int32)
    count[(1,)](dst, 10, BLOCK=4)
    assert dst[0] == 3


def test_functions_imported_by_name_from_the_language_work(sink: Any) -> None:
    @triton.jit
    def powers(dst, BLOCK: tl.constexpr):
        i = arange(0, BLOCK)
        store(dst + i, exp2(i.to(tl.float32)))

    dst = np.zeros(4, np.float32)
    powers[(1,)](dst, BLOCK=4)
    assert dst.tolist() == [1, 2, 4, 8]
