"""Names of metrics and their units."""

from __future__ import annotations

import pytest

from proton.model.metric import EMPTY, MetricKind, split_unit


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("time (ns)", ("time", "ns")),
        ("flops16", ("flops16", "")),
        ("load_bytes[a]", ("load_bytes[a]", "")),
        ("a (b) (c)", ("a (b)", "c")),
        ("open (ns", ("open (ns", "")),
        ("", ("", "")),
    ],
)
def test_a_unit_stands_in_brackets_at_the_end(name: str, parts: tuple[str, str]) -> None:
    assert split_unit(name) == parts


def test_nothing_measured_cannot_be_written_to() -> None:
    assert not hasattr(EMPTY, "__setitem__")


def test_kinds_have_the_names_that_files_use() -> None:
    assert {kind.value for kind in MetricKind} == {"inclusive", "exclusive", "property"}
