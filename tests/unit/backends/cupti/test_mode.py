"""The mode string of the cupti backend."""

from __future__ import annotations

import pytest

from proton.backends.cupti.mode import CuptiMode, parse_mode
from proton.errors import BackendUnavailable, UsageError


@pytest.mark.parametrize(
    ("text", "graphs"), [("", "node"), ("graphs=node", "node"), ("graphs=graph", "graph")]
)
def test_graphs_are_told_by_node_or_as_a_whole(text: str, graphs: str) -> None:
    assert parse_mode(text) == CuptiMode(graphs)


def test_sampling_is_refused_with_the_remedy() -> None:
    with pytest.raises(BackendUnavailable, match="no mode 'pcsampling' yet; leave the mode out"):
        parse_mode("pcsampling:interval=64")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "unknown mode of backend 'cupti' 'x'"),
        ("graph=1", "unknown option of backend 'cupti' 'graph'; choose one of 'graphs'"),
        ("graphs=all", "unknown value of option 'graphs' 'all'; choose one of 'graph', 'node'"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_choices(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_mode(text)
