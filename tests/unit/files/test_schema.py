"""The constants of the format against each other."""

from __future__ import annotations

from proton.files import schema


def test_every_format_holds_a_tree_or_a_trace() -> None:
    assert set(schema.FORMATS) == {*schema.TREE_FORMATS, *schema.TRACE_FORMATS}


def test_a_node_has_the_three_known_keys_and_ours_on_the_root() -> None:
    assert set(schema.NodeObject.__annotations__) == {"frame", "metrics", "children"}
    assert schema.RootObject.__optional_keys__ == {schema.PROTON_KEY}


def test_every_key_of_ours_is_optional_for_readers() -> None:
    assert not schema.ProtonObject.__required_keys__
