"""What fields say: how records are written and merged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from enum import Enum
from typing import Annotated, NamedTuple

import pytest

from proton.model.in_kernel import RecordedKernel, Region
from proton.model.schema import (
    EQUAL,
    LAST,
    LEAST,
    SAME,
    SUM,
    SUM_OF_ALL,
    Stored,
    identity,
    inner_type,
    merge_records,
    stored_fields,
    to_object,
    to_plain,
)


class Color(Enum):
    RED = "red"


class Row(NamedTuple):
    code: bytes
    counts: Mapping[int, int]


@dataclass(frozen=True)
class Inner:
    host: Annotated[str, Stored("", SAME)] = ""


@dataclass(frozen=True)
class Thing:
    name: Annotated[str, Stored("a name", SAME)]
    count: Annotated[int, Stored("", SUM, name="how_many")] = 0
    time: Annotated[float | None, Stored("", SUM_OF_ALL)] = None
    least: Annotated[int | None, Stored("", LEAST)] = None
    p50: Annotated[int | None, Stored("", EQUAL, sparse=True)] = None
    tags: Annotated[Sequence[str], Stored("", LAST, sparse=True)] = ()
    here: Annotated[Inner, Stored("", LAST, flat=True)] = Inner()
    private: int = 0


def test_only_stored_fields_are_known_with_name_and_default() -> None:
    fields = {field.attribute: field for field in stored_fields(Thing)}
    assert "private" not in fields
    assert fields["name"].default is MISSING
    assert (fields["count"].name, fields["count"].default) == ("how_many", 0)


def test_what_is_not_known_or_sparse_is_left_out_and_flat_fields_stand_beside() -> None:
    assert to_object(Thing("a")) == {"name": "a", "how_many": 0, "host": ""}
    whole = Thing("a", 1, 2.5, 3, 4, ("x",), Inner("h"))
    assert to_object(whole) == {
        "name": "a", "how_many": 1, "time": 2.5, "least": 3, "p50": 4, "tags": ["x"], "host": "h",
    }  # fmt: skip


def test_plain_values_are_those_of_json() -> None:
    plain = to_plain({1: Row(b"\0\1", {2: 3}), "color": Color.RED, "none": None})
    assert plain == {"1": ["AAE=", {"2": 3}], "color": "red", "none": None}
    assert json.loads(json.dumps(plain)) == plain


def test_the_type_inside_an_optional_one() -> None:
    assert inner_type(int | None) == (int, True)
    assert inner_type(Sequence[int]) == (Sequence[int], False)


def test_fields_say_how_records_are_merged() -> None:
    parts = [Thing("a", 1, 1.0, 5, 7, ("x",)), Thing("a", 2, None, 3, 8, ()), Thing("a", 4)]
    assert merge_records(parts) == Thing("a", 7, None, 3, None, ("x",))
    assert merge_records(parts, time=9.0).time == 9.0


def test_an_identity_is_what_was_not_measured() -> None:
    assert identity(Region("r", count=4)) == identity(Region("r", cycles=8.0))
    assert identity(Region("r", line=4)) != identity(Region("r"))
    assert identity(RecordedKernel("k", ["a"])) == identity(RecordedKernel("k", ("a",)))


def test_a_field_without_a_rule_must_be_merged_by_hand() -> None:
    with pytest.raises(KeyError):
        merge_records([RecordedKernel("k"), RecordedKernel("k")])
