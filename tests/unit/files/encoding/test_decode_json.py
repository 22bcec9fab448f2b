"""JSON text into objects: what the C parser does, at any depth, with places in messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.encoding import decode_json as module
from proton.files.encoding.decode_json import decode_json


def nested(levels: int, inside: str = "") -> bytes:
    return ("[" + '{"children":[' * levels + inside + "]}" * levels + "]").encode()


def depth_of(value: Any) -> int:
    depth = 0
    while value:
        value = value[0]["children"]
        depth += 1
    return depth


@pytest.fixture
def shallow_c_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text goes through the loop that is meant for deep ones."""

    class Shallow(json.JSONDecoder):
        def decode(self, *_: Any) -> Any:
            raise RecursionError

    monkeypatch.setattr(module, "JSONDecoder", Shallow)


@pytest.mark.parametrize("levels", [1, 400, 20_000])
def test_nodes_may_be_nested_to_any_depth(levels: int) -> None:
    assert depth_of(decode_json(nested(levels), "f")) == levels


@pytest.mark.usefixtures("shallow_c_parser")
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        ' [ 1 , "a\\u00e9" , null , {} , { "children" : [ ] , "k" : [ [ ] , { } ] } ]\n',
        '[{"children": [{"metrics": {"a": 1.5e3}, "children": []}, {}], "frame": {"name": "x"}}]',
        '[{"children": 7}, [1, [2]], {"children": {"children": []}}]',
    ],
)
def test_the_loop_for_deep_texts_gives_what_the_c_parser_gives(text: str) -> None:
    assert decode_json(text.encode(), "f") == json.loads(text)


@pytest.mark.usefixtures("shallow_c_parser")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[{},]", "malformed JSON at byte 4: expecting value"),
        ("[{} {}]", "malformed JSON at byte 4: expecting ',' delimiter"),
        ("[{1:2}]", "malformed JSON at byte 2: expecting property name enclosed in double quotes"),
        ('[{"a" 1}]', "malformed JSON at byte 6: expecting ':' delimiter"),
        ("[] []", "malformed JSON at byte 3: extra data"),
        ('[{"children":[', "truncated: the file ends at byte 14, inside a value"),
        ("[NaN]", "NaN is not a number that JSON allows"),
        ('{"a":1}', "not a profile: nested too deep outside of children"),
    ],
)
def test_the_loop_for_deep_texts_names_the_place_of_an_error(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode_json(text.encode(), "run.hatchet")
    assert str(caught.value) == f"run.hatchet: {message}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'[{"a": 1} 2]', "malformed JSON at byte 10: expecting ',' delimiter"),
        ('["é", x]'.encode(), "malformed JSON at byte 7: expecting value"),
        (b'["a\nb"]', "malformed JSON at byte 3: invalid control character"),
        (b'["a', "truncated: the file ends at byte 3, inside a value"),
        (b'[{"a": tru', "truncated: the file ends at byte 10, inside a value"),
        (b'[{"a": 1.5e', "truncated: the file ends at byte 11, inside a value"),
        (b'["\\u12', "truncated: the file ends at byte 6, inside a value"),
        (b"[1, ", "truncated: the file ends at byte 4, inside a value"),
        (b'["\xff"]', "not a profile: invalid UTF-8 at byte 2"),
        (b"[-Infinity]", "-Infinity is not a number that JSON allows"),
        (b"[" + b"9" * 5000 + b"]", "an integer has too many digits"),
        (b"[" * 200_000, "not a profile: nested too deep outside of children"),
        (b'{"a":' * 200_000, "not a profile: nested too deep outside of children"),
    ],
)
def test_bad_text_is_one_line_with_the_place(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode_json(data, "run.hatchet")
    assert str(caught.value) == f"run.hatchet: {message}"


def test_a_deep_text_that_was_cut_off_says_so() -> None:
    with pytest.raises(FormatError, match=r"truncated: the file ends at byte 26001, inside"):
        decode_json(nested(2000)[:26_001], "f")


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode_json(b"\xef\xbb\xbf[1]", "f") == [1]


def test_the_last_of_equal_keys_counts() -> None:
    assert decode_json(b'[{"a":1,"a":2}]', "f") == [{"a": 2}]
