from __future__ import annotations

import pytest

from proton.errors import FormatError
from proton.files.fields import Fields

FIELDS = Fields(
    "f",
    "place",
    {"text": "a", "number": 7, "texts": ["a"], "numbers": [1], "records": [{"a": [1]}], "map": {}},
)


def test_fields_are_what_they_are() -> None:
    assert (FIELDS.text("text"), FIELDS.integer("number")) == ("a", 7)
    assert (FIELDS.texts("texts"), FIELDS.integers("numbers")) == (("a",), (1,))
    assert (FIELDS.records("records"), FIELDS.mapping("map")) == (({"a": [1]},), {})
    assert FIELDS.listed("texts", "a list") == ["a"]


def test_a_missing_field_is_empty() -> None:
    assert (FIELDS.text("x"), FIELDS.integer("x"), FIELDS.texts("x")) == ("", None, ())
    assert (FIELDS.integers("x"), FIELDS.records("x"), FIELDS.mapping("x")) == ((), (), {})


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (lambda: FIELDS.text("number"), "place.number must be text, not 7"),
        (lambda: FIELDS.integer("text"), "place.text must be an integer, not 'a'"),
        (lambda: FIELDS.texts("numbers"), "place.numbers must be a list of texts"),
        (lambda: FIELDS.integers("texts"), "place.texts must be a list of integers"),
        (lambda: FIELDS.records("texts"), "place.texts must be a list of objects"),
        (lambda: FIELDS.mapping("texts"), "place.texts must be an object, not a list"),
        (lambda: FIELDS.listed("text", "a list of x"), "place.text must be a list of x, not 'a'"),
    ],
)
def test_a_field_of_another_type_is_named(read: object, wanted: str) -> None:
    assert callable(read)
    with pytest.raises(FormatError, match=f"^f: {wanted}"):
        read()
