"""The spans that the ends of a flow belong to."""

from __future__ import annotations

from proton.files.trace.events import FlowEnds
from proton.files.trace.lanes import Row
from proton.model.trace import Flow

HOST, STREAM = Row(0, 0), Row(0, 200_000)


def test_an_end_belongs_to_the_innermost_span_around_it() -> None:
    ends = FlowEnds()
    ends.see(HOST, 0, 100, 0)
    ends.see(HOST, 10, 20, 1)
    ends.see(STREAM, 40, 5, 2)
    ends.add(1, True, HOST, 15)
    ends.add(1, False, STREAM, 40)
    assert ends.flows() == [Flow(1, 2)]
    assert ends.unbound == 0


def test_an_end_right_behind_its_span_belongs_to_it_even_if_others_start_then() -> None:
    ends = FlowEnds()
    ends.see(HOST, 0, 100, 0)
    ends.add(1, True, HOST, 0)
    ends.see(HOST, 0, 50, 1)
    ends.see(STREAM, 40, 5, 2)
    ends.add(1, False, STREAM, 40)
    assert ends.flows() == [Flow(0, 2)]


def test_one_launch_may_lead_to_many_kernels() -> None:
    ends = FlowEnds()
    for start, span in ((0, 0), (10, 1), (20, 2)):
        ends.see(HOST, start, 5, span)
    ends.add("g", True, HOST, 0)
    ends.add("g", False, HOST, 10)
    ends.add("g", False, HOST, 20)
    assert ends.flows() == [Flow(0, 1), Flow(0, 2)]


def test_ends_may_come_before_their_spans_and_in_any_order() -> None:
    ends = FlowEnds()
    ends.add(1, False, STREAM, 41)
    ends.add(1, True, HOST, 1)
    ends.see(STREAM, 40, 5, 0)
    ends.see(HOST, 0, 5, 1)
    assert ends.flows() == [Flow(1, 0)]


def test_ends_that_belong_nowhere_are_counted() -> None:
    ends = FlowEnds()
    ends.see(HOST, 0, 5, 0)
    ends.add(1, True, HOST, 2)  # no target
    ends.add(2, False, HOST, 2)  # no source
    ends.add(3, True, HOST, 2)
    ends.add(3, False, STREAM, 2)  # no span there
    assert ends.flows() == []
    assert ends.unbound == 4
