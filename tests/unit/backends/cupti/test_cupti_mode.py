"""The mode string of the cupti backend."""

from __future__ import annotations

import pytest

from proton.backends.cupti.cupti_mode import CuptiMode, parse_mode
from proton.backends.cupti.sampling_mode import PCSampling
from proton.errors import UsageError


@pytest.mark.parametrize(
    ("text", "graphs"), [("", "node"), ("graphs=node", "node"), ("graphs=graph", "graph")]
)
def test_graphs_are_told_by_node_or_as_a_whole(text: str, graphs: str) -> None:
    assert parse_mode(text) == CuptiMode(graphs)


def test_sampling_carries_its_options() -> None:
    mode = parse_mode("pcsampling:interval=64:graphs=graph")
    assert mode == CuptiMode("graph", PCSampling(interval=64, graphs="graph"))


def test_the_detail_of_graphs_may_stand_beside_sampling() -> None:
    assert parse_mode("graphs=graph+pcsampling") == parse_mode("pcsampling:graphs=graph")


def test_migrations_of_unified_memory_may_stand_beside_any_mode() -> None:
    assert parse_mode("unified_memory=on") == CuptiMode(unified_memory="on")
    mode = parse_mode("pcsampling:interval=64+unified_memory=on")
    assert mode == CuptiMode("node", PCSampling(interval=64), "on")
    assert parse_mode("unified_memory=off") == CuptiMode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "graphs=graph",
        "pcsampling",
        "pcsampling:interval=64",
        "unified_memory=on",
        "copies=off",
        "unified_memory=on:copies=off",
        "graphs=graph:unified_memory=on",
        "pcsampling:interval=64+unified_memory=on",
    ],
)
def test_a_mode_is_read_back_from_its_text(text: str) -> None:
    assert str(parse_mode(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pcsampling+pcsampling", "mode 'pcsampling' is given twice"),
        ("pcsampling:interval=1", "interval must be 32 to"),
        ("x", "unknown mode of backend 'cupti' 'x'"),
        (
            "graph=1",
            "unknown option of backend 'cupti' 'graph'; choose one of 'copies', 'graphs', 'un",
        ),
        ("graphs=all", "unknown value of option 'graphs' 'all'; choose one of 'graph', 'node'"),
        ("unified_memory=1", "unknown value of option 'unified_memory' '1'; choose one of 'off'"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_choices(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_mode(text)
