# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton._triton.interpreter import interpreter_parts
from proton.backends.interpreter.builder import make_builder_class
from proton.backends.interpreter.kernel_functions import KernelTable, LaunchTraits
from proton.backends.interpreter.patched_language import LanguagePatch

pytestmark = pytest.mark.matrix


@triton.jit
def scale(x, n, factor=2.0, BLOCK: tl.constexpr = 8):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, factor * tl.load(x + i, mask=i < n), mask=i < n)


@pytest.fixture
def table() -> KernelTable:
    parts = interpreter_parts()
    patch = LanguagePatch(parts, parts.interpreter.TritonSemantic(make_builder_class(parts)()))
    return KernelTable(parts, vars(parts.interpreter), patch)


def test_a_kernel_is_prepared_once(table: KernelTable) -> None:
    assert table.kernel(scale) is table.kernel(scale)


def test_defaults_are_filled_in_and_options_of_the_compiler_left_out(table: KernelTable) -> None:
    kernel = table.kernel(scale)
    bound = kernel.bind((1, 2), {"num_warps": 8, "num_stages": 2, "BLOCK": 4})
    assert bound == {"x": 1, "n": 2, "factor": 2.0, "BLOCK": 4}
    assert kernel.constexprs == {"BLOCK"}


def test_a_missing_argument_names_kernel_and_argument(sink: Any) -> None:
    with pytest.raises(TypeError, match="kernel 'scale': missing a required argument: 'n'"):
        scale[(1,)](np.ones(8, np.float32))


def test_options_of_the_compiler_are_accepted(sink: Any) -> None:
    x = np.ones(8, np.float32)
    scale[(1,)](x, 8, num_warps=8, num_stages=3, num_ctas=1, maxnreg=64)
    assert x.sum() == 16


def test_launch_traits_have_the_defaults_of_the_compiler() -> None:
    traits = LaunchTraits.of("k", {"num_warps": 8})
    assert (traits.name, traits.num_warps, traits.num_stages) == ("k", 8, 3)
    assert (traits.num_ctas, traits.shared, traits.cluster_dims) == (1, 0, (1, 1, 1))


def test_a_kernel_may_name_itself(sink: Any) -> None:
    @triton.jit(repr=lambda specialization: f"fill_{specialization.constants['BLOCK']}")
    def fill(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    fill[(1,)](np.zeros(4, np.float32), BLOCK=4)
    assert sink.launches[0].name == "fill_4"


def test_a_name_function_that_fails_leaves_the_name(
    sink: Any, caplog: pytest.LogCaptureFixture
) -> None:
    @triton.jit(repr=lambda specialization: specialization.missing)
    def fill(x, BLOCK: tl.constexpr):
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    fill[(1,)](np.zeros(4, np.float32), BLOCK=4)
    assert sink.launches[0].name == "fill"
    assert "repr of kernel 'fill' failed" in caplog.text
