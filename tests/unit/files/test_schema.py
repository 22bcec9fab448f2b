"""The constants of the format against each other."""

from __future__ import annotations

from proton import _native
from proton.files.encoding import schema
from proton.model.schema import FORMAT_VERSION


def test_every_format_holds_a_tree_or_a_trace() -> None:
    assert set(schema.FORMATS) == {*schema.TREE_FORMATS, *schema.TRACE_FORMATS}


def test_the_core_writes_the_version_that_is_read() -> None:
    assert _native.FORMAT_VERSION == FORMAT_VERSION
