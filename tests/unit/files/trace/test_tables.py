"""What spans of a chrome trace have in columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.read import read_profile
from proton.files.trace.tables import Row, SpanTables, has_row, read_rows
from proton.files.write import to_bytes
from proton.model.metric import EMPTY
from proton.model.span_table import span_table
from proton.model.trace import Span, SpanKind
from tests.support.profiles import trace_in

LAUNCH = {"function": "cuLaunchKernel"}
SPANS = [
    Span("launch k", SpanKind.LAUNCH, 0, 0, 1, ("s", "launch k"), EMPTY, LAUNCH),
    Span("k", SpanKind.KERNEL, 1, 1, 1, ("s", "k"), EMPTY, {"grid": (1, 2, 3)}),
    Span("k", SpanKind.KERNEL, 1, 3, 1, ("s", "k"), EMPTY, {"grid": (1, 2, 3)}),
    Span("<memset>", SpanKind.COPY, 1, 5, 1, ("<memset>",)),
]
EVENTS = [{"ph": "X", "cat": span.kind.value} for span in SPANS]


def tables_of(spans: list[Span]) -> Any:
    tables = SpanTables()
    table = span_table(spans)
    for look in table.look:
        tables.add(table.looks[look])
    return json.loads(json.dumps(tables.to_object()["spans"]))


def test_equal_attributes_stand_once() -> None:
    assert tables_of(SPANS) == {
        "attributes": [LAUNCH, {"grid": [1, 2, 3]}],
        "attributes_of": [1, 2, 2, 0],
        "names": ["launch k"],
        "names_of": [0],
    }


def test_rows_read_back_as_the_spans_had_them() -> None:
    rows = read_rows(tables_of(SPANS), EVENTS, "f")
    assert rows is not None
    grid = Row({"grid": (1, 2, 3)})
    assert list(rows) == [Row(LAUNCH, "launch k"), grid, grid, Row()]


def test_only_work_and_its_launches_have_rows() -> None:
    scope = {"ph": "X", "cat": "scope"}
    assert [has_row(event) for event in (EVENTS[0], EVENTS[1], scope, 3)] == [
        True,
        True,
        False,
        False,
    ]
    assert SpanTables().to_object() == {}


def test_tables_of_other_events_are_not_read() -> None:
    assert read_rows(tables_of(SPANS), EVENTS[1:], "f") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": 1}, "attributes that are a list of objects"),
        ({"names": [1]}, "names that are a list of texts"),
        ({"attributes_of": ["a"]}, "attributes_of that is a list of numbers"),
        ({"attributes_of": [3, 0, 0, 0]}, "attributes_of below 3, not 3"),
        ({"names_of": [-1]}, "names_of below 1"),
    ],
)
def test_damaged_tables_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError, match=f"f: proton.spans must have {message}"):
        read_rows(tables_of(SPANS) | change, EVENTS, "f")
    with pytest.raises(FormatError, match="must be an object"):
        read_rows([], EVENTS, "f")


def test_somebody_else_s_changes_are_said_and_the_rest_is_read() -> None:
    path = Path(__file__).parents[3] / "data" / "h200" / "gpt2.pftrace"
    file = json.loads(to_bytes(read_profile(path.read_bytes(), "f"), "chrome_trace"))
    gone = next(at for at, event in enumerate(file["traceEvents"]) if event.get("cat") == "launch")
    del file["traceEvents"][gone]
    profile = read_profile(json.dumps(file).encode(), "f")
    assert "launch attributes not read: somebody changed the events" in profile.warnings
    launches = [span for span in trace_in(profile).spans if span.kind is SpanKind.LAUNCH]
    assert "cuLaunchKernel" in {span.name for span in launches}
    assert {span.attributes for span in launches if span.attributes is not EMPTY} == set()
