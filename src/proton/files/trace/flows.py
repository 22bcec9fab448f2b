"""The arrows of a chrome trace: which two spans the ends of a flow belong to."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from proton.files.trace.lanes import Row
from proton.model.trace import Flow


class _End(NamedTuple):
    """One end: on which row and when, and the span it followed in the file, if that fits."""

    row: Row
    time_us: float
    span: int | None


class _Seen(NamedTuple):
    """A span that ends may lie in. Sorts by start."""

    start_us: float
    end_us: float
    span: int


class FlowEnds:
    """Collects the ends of flows and the spans they may belong to, in the order of the file."""

    def __init__(self) -> None:
        self._sources: dict[object, list[_End]] = {}
        self._targets: dict[object, list[_End]] = {}
        self._rows: dict[Row, list[_Seen]] = {}
        self.unbound = 0  # ends that no span or no other end was found for

    def see(self, row: Row, start_us: float, duration_us: float, span: int) -> None:
        """Note a span."""
        self._rows.setdefault(row, []).append(_Seen(start_us, start_us + duration_us, span))

    def add(self, identity: object, is_source: bool, row: Row, time_us: float) -> None:
        """Note an end. Written right behind its span and at its start, it surely belongs to it."""
        seen = self._rows.get(row)
        span = seen[-1].span if seen and seen[-1].start_us == time_us else None
        ends = self._sources if is_source else self._targets
        ends.setdefault(identity, []).append(_End(row, time_us, span))

    def flows(self) -> list[Flow]:
        """The flows whose both ends lie in a span, in the order of the spans."""
        for spans in self._rows.values():
            spans.sort()
        found = []
        self.unbound = 0
        for identity, sources in self._sources.items():
            targets = self._targets.pop(identity, [])
            if len(sources) == 1 and targets:
                sources = sources * len(targets)
            self.unbound += abs(len(sources) - len(targets))
            for source, target in zip(sources, targets, strict=False):
                ends = self._span_at(source), self._span_at(target)
                if ends[0] is None or ends[1] is None:
                    self.unbound += 2
                else:
                    found.append(Flow(ends[0], ends[1]))
        self.unbound += sum(map(len, self._targets.values()))
        return sorted(found)

    def _span_at(self, end: _End) -> int | None:
        """The innermost span around the end, else None."""
        if end.span is not None:
            return end.span
        spans = self._rows.get(end.row, [])
        position = bisect_right(spans, end.time_us, key=lambda seen: seen.start_us)
        # Spans nest, so few of those that start before can have ended: but a hostile file's may.
        for seen in reversed(spans[max(0, position - 64) : position]):
            if seen.end_us >= end.time_us:
                return seen.span
        return None
