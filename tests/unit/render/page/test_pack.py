"""The container of a page: JSON and columns come out as they went in."""

from __future__ import annotations

import base64
import gzip
import math
from array import array
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from proton.model.frame import FrameKind
from proton.render.page.pack import Columns, compress, pack_page, to_json
from tests.support.pages import unpack


@dataclass(frozen=True, slots=True)
class Pair:
    left: float
    right: FrameKind


def test_columns_come_back_with_type_and_values() -> None:
    columns = Columns()
    first = columns.add("u8", [1, 2, 3])
    second = columns.add("f64", [0.5, -1e300])
    third = columns.add("i32", array("i", [-1]))
    head, read = unpack(pack_page({"a": "ü", "columns": columns.table}, columns))
    assert head["a"] == "ü"
    assert read(first) == [1, 2, 3]
    assert read(second) == [0.5, -1e300]
    assert read(third) == [-1]
    assert all(offset % 8 == 0 for _, offset, _ in head["columns"].values())


def test_an_array_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="f32"):
        Columns().add("f32", array("d", [1.0]))


def test_the_same_data_compresses_to_the_same_text() -> None:
    data = bytes(range(256)) * 40
    assert compress(data) == compress(data)
    assert gzip.decompress(base64.b64decode(compress(data))) == data


def test_values_of_the_model_become_plain() -> None:
    assert to_json(MappingProxyType({"a": (1, 2)})) == b'{"a":[1,2]}'
    assert to_json([Pair(1.5, FrameKind.COPY)]) == b'[{"left":1.5,"right":"c"}]'


def test_numbers_that_json_cannot_hold_are_missing() -> None:
    value = {"a": (1.5, math.nan, "x"), "b": MappingProxyType({"c": -math.inf}), "d": 2**70}
    assert to_json(Pair(math.inf, FrameKind.COPY)) == b'{"left":null,"right":"c"}'
    assert to_json(value) == b'{"a":[1.5,null,"x"],"b":{"c":null},"d":1180591620717411303424}'


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(TypeError, match="object cannot go into a page"):
        to_json(object())
