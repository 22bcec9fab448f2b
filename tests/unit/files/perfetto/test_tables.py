"""The tables that we add to Perfetto traces."""

from __future__ import annotations

import json

import pytest

from proton.errors import FormatError
from proton.files.perfetto.assemble import Tables, read_tables
from proton.model.trace import Lane, LaneKind

LANE = Lane("[0, 7]", "GPU Stream 7", LaneKind.DEVICE, 2)


def test_tables_read_back() -> None:
    tables = Tables(5, 5, [LANE], [0, 0], [(), ("a",), ("a", "b"), ("b",)])
    text = {
        "baseTimeNanoseconds": 5,
        "zero_ns": 5,
        "lanes": [["[0, 7]", "GPU Stream 7", "device", 2]],
        "tracks": [0, 0],
        "paths": [0, 0, 0, 1, 1, 2, 0, 2],
        "names": ["ROOT", "a", "b"],
    }
    assert read_tables(json.dumps(text).encode(), "run") == tables


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("zero_ns", None),
        ("lanes", [["a", "b", "nowhere", 0]]),
        ("lanes", [[1, "b", "host", 0]]),
        ("lanes", 3),
        ("tracks", [1]),
        ("paths", [0, 0, 5, 0]),
        ("paths", [0, 0, 0, 9]),
        ("paths", [0, 0, 0]),
        ("names", [1]),
    ],
)
def test_damaged_tables_are_refused(key: str, value: object) -> None:
    good = {"zero_ns": 0, "lanes": [], "tracks": [], "paths": [0, 0], "names": ["ROOT"]}
    assert read_tables(json.dumps(good).encode(), "run").paths == [()]
    with pytest.raises(FormatError, match="run: proton_tables of the trace is damaged"):
        read_tables(json.dumps(good | {key: value}).encode(), "run")
