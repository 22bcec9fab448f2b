from collections.abc import Callable
from typing import Any

import pytest

from proton import mode
from proton.inkernel.modes.instrumentation_mode import InstrumentationMode
from proton.inkernel.modes.mode_table import MODES, load_mode_class, parse_instrumentation


def test_every_mode_has_its_object() -> None:
    there = [getattr(mode, name) for name in mode.__all__]
    for name in MODES:
        kind = load_mode_class(name)
        assert kind in there, f"{name} exists only as text"
        assert issubclass(kind, InstrumentationMode)
    assert {*mode.__all__} <= {*dir(mode)}


def test_objects_are_what_their_text_is() -> None:
    assert parse_instrumentation("memory:bins=64") == mode.Memory(bins=64)
    assert parse_instrumentation("bytes") == mode.Bytes()


def test_a_name_that_is_no_mode_is_said() -> None:
    missing = "Heat"
    with pytest.raises(AttributeError, match=r"module 'proton\.mode' has no attribute 'Heat'"):
        getattr(mode, missing)


def test_sampling_needs_nothing_of_the_passes(run_python: Callable[..., Any]) -> None:
    result = run_python(
        "import sys, proton\nproton.mode.PCSampling()\n"
        "print('proton.inkernel.passes' in sys.modules)"
    )
    assert result.stdout == "False\n", result.stderr
