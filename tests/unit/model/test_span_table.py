"""Spans and flows as columns: they read like the lists of small traces."""

from __future__ import annotations

import pytest

from proton.model.span_table import (
    NOT_DRIVERS,
    FlowTable,
    Look,
    SpanTable,
    content_of,
    flow_numbers,
    flow_table,
    numbered_flows,
    span_table,
)
from proton.model.trace import Flow, Span, SpanKind

SPANS = [
    Span("a", SpanKind.SCOPE, 0, 1.0, 9.0, ("a",)),
    Span("k", SpanKind.KERNEL, 1, 2.0, 3.0, ("a", "k"), {"flops": 7}, {"grid": (1, 2, 3)}),
    Span("k", SpanKind.KERNEL, 1, 6.0, 0.5, ("a", "k"), {"flops": 7}, {"grid": (1, 2, 3)}),
    Span("k", SpanKind.KERNEL, 1, 8.0, 0.5, ("a", "k"), {"flops": 8}, {"grid": (1, 2, 3)}),
]
FLOWS = [Flow(0, 1), Flow(0, 2)]


def test_columns_read_like_the_list_they_were_made_of() -> None:
    table = span_table(SPANS)
    assert list(table) == SPANS
    assert [table[at] for at in (0, 3, -1)] == [SPANS[at] for at in (0, 3, -1)]
    assert table[1:3] == SPANS[1:3]
    assert len(table) == 4


def test_what_spans_share_stands_once() -> None:
    table = span_table(SPANS)
    assert list(table.look) == [0, 1, 1, 2]
    assert table.looks[1] == Look("k", SpanKind.KERNEL, ("a", "k"), {"flops": 7}, SPANS[1][7])


def test_whole_numbers_and_floats_of_the_same_value_are_kept_apart() -> None:
    first, second = (SPANS[1]._replace(metrics={"flops": value}) for value in (7, 7.0))
    flops = [span.metrics["flops"] for span in span_table([first, second])]
    assert list(map(type, flops)) == [int, float]


def test_tables_equal_lists_with_the_same_content_and_no_others() -> None:
    assert span_table(SPANS) == SPANS
    assert span_table(SPANS) != SPANS[:-1]
    assert span_table(SPANS) != [*SPANS[:-1], SPANS[0]]
    assert flow_table(FLOWS) == FLOWS
    assert flow_table(FLOWS) != 3


def test_flows_are_called_as_in_their_file_where_that_tells_them_apart() -> None:
    assert list(flow_numbers(numbered_flows([(4, 5, 9), (1, 2, 7)]), by_source=False)) == [7, 9]
    graph = numbered_flows([(1, 2, 7), (1, 3, 7)])
    assert list(flow_numbers(graph, by_source=True)) == [7, 7]
    made = [NOT_DRIVERS, NOT_DRIVERS + 1]
    assert list(flow_numbers(graph, by_source=False)) == made
    assert list(flow_numbers(numbered_flows([(1, 2, 7), (3, 4, 0)]), by_source=True)) == made
    assert list(flow_numbers(flow_table(FLOWS), by_source=True)) == made
    assert list(numbered_flows([(1, 2, 1 << 64)]).ids) == [0]


def test_columns_are_not_made_twice() -> None:
    spans, flows = span_table(SPANS), flow_table(FLOWS)
    assert span_table(spans) is spans
    assert flow_table(flows) is flows
    assert list(flows) == FLOWS
    assert flows[1] == FLOWS[1]


@pytest.mark.parametrize("place", [4, -5])
def test_a_place_that_is_not_there_is_an_error_as_in_a_list(place: int) -> None:
    with pytest.raises(IndexError):
        span_table(SPANS)[place]


def test_tables_are_empty_unless_told() -> None:
    assert SpanTable() == []
    assert FlowTable() == []


def test_values_are_told_apart_by_names_and_values() -> None:
    assert content_of({"a": 1}) == content_of({"a": 1})
    assert content_of({"a": 1}) != content_of({"a": 2})
