"""The door to Triton's compiler."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import triton

from proton import _triton
from proton._triton import compiler as _triton_compiler
from tests.support.kernels import softmax
from tests.support.recording import absent_gpu

pytestmark = pytest.mark.matrix


def test_a_kernel_is_found_inside_what_was_put_around_it() -> None:
    tuned = triton.autotune(configs=[triton.Config({"BLOCK": 128})], key=["n"])(softmax)
    assert _triton_compiler.jit_function_of(softmax) is softmax
    assert _triton_compiler.jit_function_of(tuned) is softmax
    assert _triton_compiler.jit_function_of(SimpleNamespace(fn=softmax)) is softmax
    for other in (None, 3, "softmax", print, SimpleNamespace(fn=None)):
        assert _triton_compiler.jit_function_of(other) is None


def test_what_wraps_itself_is_not_followed_for_ever() -> None:
    loop = SimpleNamespace()
    loop.fn = loop
    assert _triton_compiler.jit_function_of(loop) is None


def test_the_salt_is_in_keys_of_triton_36_and_gone_afterwards() -> None:
    knobs = triton.knobs.compilation
    undo = _triton_compiler.salt_keys(lambda: "-salt")
    try:
        if _triton.version_pair() < (3, 7):
            assert knobs.instrumentation_mode == "-salt"
            with knobs.scope():
                knobs.instrumentation_mode = "theirs"
                assert knobs.instrumentation_mode == "theirs"
                assert _triton_compiler.own_instrumentation() == "theirs"
        assert _triton_compiler.own_instrumentation() == ""
    finally:
        undo()
    assert knobs.instrumentation_mode == ""
    assert isinstance(vars(type(knobs))["instrumentation_mode"], str)


def _one_more(inner: Any) -> Any:
    return lambda self: inner(self) + 1


def test_a_wrapped_function_is_put_back_unless_somebody_wrapped_it_again() -> None:
    owner: Any = type("Owner", (), {"f": lambda self: 1})
    original = owner.f
    undo = _triton_compiler.wrap_function(owner, "f", _one_more)
    assert owner().f() == 2
    undo()
    assert owner.f is original
    undo = _triton_compiler.wrap_function(owner, "f", _one_more)
    theirs = owner.f
    owner.f = lambda self: theirs(self) * 10
    undo()
    assert owner().f() == 20


def test_text_that_triton_refuses_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    ir = _triton_compiler.ir_module()
    context = ir.context()
    ir.load_dialects(context)
    module = _triton_compiler.parse_module("module {\n}\n", context)
    assert str(module).startswith("module {")
    with pytest.raises(RuntimeError):
        _triton_compiler.parse_module("module {", context)
    capfd.readouterr()


def test_a_driver_without_events_is_said_to_have_no_clock() -> None:
    with absent_gpu(), pytest.raises(_triton_compiler.NoClockError, match="has no events"):
        _triton_compiler.event_maker()
