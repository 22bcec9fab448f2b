from pathlib import Path

import pytest

from proton import _triton
from proton.errors import FormatError
from proton.inkernel.ir.parse import is_generic, to_usual_form

GENERIC = (Path(__file__).parents[3] / "passes/generic-form.ttgir").read_text(encoding="utf-8")
USUAL = 'module {\n  tt.func public @k() {\n    "tt.reduce"(%x) ({\n    }) : () -> ()\n  }\n}\n'


def test_only_modules_and_functions_tell_the_form() -> None:
    assert is_generic(GENERIC)
    assert not is_generic(USUAL), "Triton prints some operations so in the usual form"


@pytest.mark.matrix
def test_triton_prints_the_usual_form_and_places_stay_those_of_the_file() -> None:
    pytest.importorskip("triton")
    text = to_usual_form(GENERIC, "mine.ttgir")
    assert not is_generic(text)
    assert "tt.func public @k(" in text
    assert 'loc("mine.ttgir":15:3)' in text
    assert "proton-ir" not in text


@pytest.mark.matrix
def test_what_triton_cannot_read_is_said() -> None:
    pytest.importorskip("triton")
    with pytest.raises(FormatError, match=r"mine\.ttgir: Triton cannot read it: "):
        to_usual_form(GENERIC.replace('"tt.load"', '"tt.nothing"'), "mine.ttgir")


def test_without_triton_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_triton, "is_supported", lambda: False)
    with pytest.raises(FormatError, match=r"generic form, which takes Triton 3\.6 to 3\.9"):
        to_usual_form(GENERIC, "mine.ttgir")
