"""Records out of plain objects, by what their fields say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import pytest

from proton.errors import FormatError
from proton.files.encoding.codec import Codec, FieldError, first_cyclic
from proton.model.metric import MetricKind
from proton.model.schema import Stored, to_object


class Pair(NamedTuple):
    first: Annotated[int, Stored()]
    second: Annotated[str, Stored()]


@dataclass(frozen=True)
class Leaf:
    size: Annotated[int, Stored()]
    name: Annotated[str | None, Stored()] = None


@dataclass(frozen=True)
class Thing:
    name: Annotated[str, Stored()]
    number: Annotated[float, Stored(name="n")] = 0.0
    is_whole: Annotated[bool, Stored()] = False
    leaf: Annotated[Leaf | None, Stored()] = None
    leaves: Annotated[Sequence[Leaf], Stored(sparse=True)] = ()
    pairs: Annotated[Sequence[Pair], Stored(row="pairs", sparse=True)] = ()
    kinds: Annotated[Mapping[str, MetricKind], Stored(sparse=True)] = field(default_factory=dict)
    raw: Annotated[object, Stored()] = None


FULL = Thing(
    "a", 1.5, True, Leaf(1, "l"), (Leaf(2),), (Pair(1, "x"),), {"m": MetricKind.PROPERTY}, [1]
)


def read(value: object) -> Thing:
    return Codec().read(Thing, value, "f", "thing")


def test_what_is_written_reads_back_equal() -> None:
    assert read(to_object(FULL)) == FULL
    assert read({}) == Thing("")
    assert read({"leaf": {}, "unknown": 1}) == Thing("")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "thing must be an object, not a list"),
        ({"n": "1"}, "thing.n must be a number, not '1'"),
        ({"n": -1}, "thing.n must be zero or more, not -1"),
        ({"is_whole": 1}, "thing.is_whole must be true or false, not 1"),
        ({"leaf": {"name": "x"}}, "thing.leaf.size must be an integer, not None"),
        ({"leaves": [{"size": 1}, 2]}, "thing.leaves[1] must be an object, not 2"),
        ({"pairs": [[1]]}, "thing.pairs must be a list of pairs, not a list"),
        (
            {"kinds": {"m": "odd"}},
            "thing.kinds must be an object of exclusive, inclusive, property",
        ),
    ],
)
def test_a_message_names_the_place(value: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(value)
    assert str(caught.value).startswith(f"f: {message}")


def test_a_check_sees_whole_records_and_may_mend_them() -> None:
    def check(leaf: Leaf) -> Leaf:
        if leaf.size == 13:
            raise FieldError("has an unlucky size", ".size")
        return Leaf(leaf.size, "mended")

    codec = Codec(checks={Leaf: check})
    assert codec.read(Thing, {"leaf": {"size": 1}}, "f", "t").leaf == Leaf(1, "mended")
    with pytest.raises(FormatError, match=r"^f: t\.leaf\.size has an unlucky size$"):
        codec.read(Thing, {"leaf": {"size": 13}}, "f", "t")


def test_rows_and_records_may_have_readers_of_their_own() -> None:
    def refuse(_: object) -> tuple[Pair, ...]:
        raise FieldError("must have better pairs", up=1)

    with pytest.raises(FormatError, match=r"^f: t must have better pairs$"):
        Codec(rows={Pair: refuse}).read(Thing, {"pairs": []}, "f", "t")
    codec = Codec(readers={Leaf: lambda value: Leaf(int(value))})
    assert codec.read(Thing, {"leaf": "7"}, "f", "t").leaf == Leaf(7)


def test_the_first_of_a_cycle_of_parents_is_found() -> None:
    assert first_cyclic([-1, 0, 1], -1) is None
    assert first_cyclic([-1, 2, 1], -1) == 1
