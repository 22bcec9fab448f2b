"""Spans by time: the order of traces whose format does not keep one."""

from __future__ import annotations

from collections.abc import Sequence

from proton.model.trace import Flow, Lane, Span, Trace


def in_order(
    lanes: Sequence[Lane],
    spans: Sequence[Span],
    flows: Sequence[Flow] = (),
    base_time_ns: int | None = None,
) -> Trace:
    """A trace with spans by start, the longer first, then by lane; lanes as spans first use them.

    What is equal in all of that stays in the order given.
    """
    keys = [lane.key for lane in lanes]
    order = sorted(
        range(len(spans)),
        key=lambda at: (spans[at].start_ns, -spans[at].duration_ns, keys[spans[at].lane]),
    )
    place = [0] * len(order)
    moved: dict[int, int] = {}
    sorted_spans = []
    for new, old in enumerate(order):
        place[old] = new
        span = spans[old]
        lane = moved.setdefault(span.lane, len(moved))
        sorted_spans.append(span if lane == span.lane else span._replace(lane=lane))
    sorted_flows = sorted(Flow(place[flow.source], place[flow.target]) for flow in flows)
    return Trace([lanes[lane] for lane in moved], sorted_spans, sorted_flows, base_time_ns)
