"""Names of profile files."""

from __future__ import annotations

import pytest

from proton.errors import UsageError
from proton.runtime.options import file_name, fill, pick_format


def test_placeholders_are_filled_in() -> None:
    values = {"pid": 12, "rank": 3, "host": "box"}
    assert fill("run_{host}_{rank}.{pid}", values) == "run_box_3.12"


def test_other_braces_stay() -> None:
    assert fill("{run}_{}", {"pid": 12}) == "{run}_{}"


def test_the_default_format_follows_the_data_kind() -> None:
    assert pick_format("", "tree") == "hatchet"
    assert pick_format("", "trace") == "chrome_trace"
    assert pick_format("perfetto", "trace") == "perfetto"


def test_an_unknown_format_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="unknown output format 'xml'; choose one of 'chrome_tr"):
        pick_format("xml", "tree")


@pytest.mark.parametrize(
    ("output_format", "data"), [("chrome_trace", "tree"), ("hatchet", "trace")]
)
def test_a_format_that_cannot_hold_the_data_is_refused(output_format: str, data: str) -> None:
    with pytest.raises(ValueError, match=f"'{output_format}' cannot hold a {data} session"):
        pick_format(output_format, data)


def test_a_file_is_named_by_stem_and_format() -> None:
    assert file_name("a/run", "hatchet") == "a/run.hatchet"
    assert file_name("run", "perfetto") == "run.pftrace"


def test_a_part_is_named_by_its_phase() -> None:
    assert file_name("run", "hatchet_msgpack", 3) == "run.part_3.hatchet_msgpack"
