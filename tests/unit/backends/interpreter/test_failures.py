# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import inspect
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.backends.interpreter.interpreted_launch import kernel_error, library_folders
from proton.errors import KernelError

pytestmark = pytest.mark.matrix


@triton.jit
def broken_helper(v):
    return tl.reshape(v, (3, 5))


@triton.jit
def broken(x, BLOCK: tl.constexpr):
    if tl.program_id(0) == 1:
        broken_helper(tl.load(x + tl.arange(0, BLOCK)))


def _line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function.fn)
    return first + next(i for i, line in enumerate(lines) if text in line)


def test_the_error_names_kernel_program_and_the_users_line(sink: Any) -> None:
    with pytest.raises(KernelError) as caught:
        broken[(2,)](np.ones(8, np.float32), BLOCK=8)
    where = f"{__file__}:{_line_of(broken_helper, 'tl.reshape')}"
    assert str(caught.value).startswith(f"kernel 'broken' failed in program (1, 0, 0) at {where}: ")
    assert caught.value.__cause__ is not None


def test_long_texts_are_one_line_and_shortened() -> None:
    error = kernel_error("k", (0, 0, 0), ValueError("a\n" * 1000), library_folders=())
    assert "\n" not in str(error)
    assert len(str(error)) < 500


def test_an_error_without_text_says_so() -> None:
    error = kernel_error("k", (0, 1, 2), ValueError(), library_folders=())
    assert str(error) == "kernel 'k' failed in program (0, 1, 2): ValueError: no message"


def test_frames_of_libraries_are_not_the_users() -> None:
    try:
        np.concatenate([np.ones((2, 2)), np.ones(3)])
    except ValueError as raised:
        error = kernel_error("k", (0, 0, 0), raised, library_folders=library_folders())
    assert f" at {__file__}:" in str(error)
