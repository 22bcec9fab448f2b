"""The constants of the format against each other."""

from __future__ import annotations

from proton.files import schema


def test_every_format_holds_a_tree_or_a_trace() -> None:
    assert set(schema.FORMATS) == {*schema.TREE_FORMATS, *schema.TRACE_FORMATS}
