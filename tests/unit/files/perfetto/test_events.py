"""Events and annotations of Perfetto traces."""

from __future__ import annotations

import pytest

from proton.files.encoding.protobuf import bytes_field, number_field, text_field
from proton.files.perfetto.events import EventReader, InternedTexts, read_annotation
from proton.files.perfetto.fields import Annotation, Event, Interned
from tests.support.perfetto import double_field, fixed64_field


@pytest.fixture
def texts() -> InternedTexts:
    known = InternedTexts()
    for field, iid, text in [
        (Interned.NAMES, 1, "matmul"),
        (Interned.CATEGORIES, 1, "kernel"),
        (Interned.ANNOTATION_NAMES, 1, "grid"),
        (Interned.ANNOTATION_STRINGS, 1, "4x4x1"),
    ]:
        entry = number_field(Interned.IID, iid) + text_field(Interned.TEXT, text)
        known.take(bytes_field(field, entry))
    return known


def test_numbers_stand_for_texts(texts: InternedTexts) -> None:
    grid = number_field(Annotation.NAME_IID, 1) + number_field(Annotation.STRING_IID, 1)
    event = EventReader().read(
        number_field(Event.TYPE, 1)
        + number_field(Event.NAME_IID, 1)
        + number_field(Event.CATEGORY_IID, 1)
        + bytes_field(Event.ANNOTATION, grid)
        + fixed64_field(Event.FLOW_ID, 5),
        texts,
    )
    assert (event.type, event.name, event.name_iid, event.category) == (1, "matmul", 1, "kernel")
    assert event.annotations == {"grid": "4x4x1"}
    assert (event.flows, event.ending_flows, event.track) == ((5,), (), None)


def test_equal_bytes_of_two_sequences_may_mean_different_things(texts: InternedTexts) -> None:
    reader = EventReader()
    grid = number_field(Annotation.NAME_IID, 1) + number_field(Annotation.INT, 1)
    message = bytes_field(Event.ANNOTATION, grid)
    assert reader.read(message, texts).annotations == {"grid": 1}
    assert reader.read(message, InternedTexts()).annotations == {"": 1}


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        (number_field(Annotation.INT, -4), -4),
        (number_field(Annotation.UINT, 2**63), 2**63),
        (double_field(Annotation.DOUBLE, 0.5), 0.5),
        (number_field(Annotation.BOOL, 1), True),
        (text_field(Annotation.STRING, "é"), "é"),
        (b"", None),
        (bytes_field(Annotation.ARRAY_VALUE, number_field(Annotation.INT, 1)), (1,)),
        (
            bytes_field(
                Annotation.DICT_ENTRY,
                text_field(Annotation.NAME, "k") + number_field(Annotation.INT, 2),
            ),
            {"k": 2},
        ),
    ],
)
def test_annotations_have_values_of_every_kind(fields: bytes, value: object) -> None:
    name = text_field(Annotation.NAME, "n")
    assert read_annotation(name + fields, InternedTexts()) == ("n", value)
