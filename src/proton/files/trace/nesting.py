"""The spans of a trace as tracks of begins and ends, on which they nest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from proton.model.trace import Trace


class Mark(NamedTuple):
    """A span begins, or (None) the innermost open one ends."""

    time_ns: int
    span: int | None


@dataclass(slots=True)
class NestedTrack:
    """A track of one lane. Lanes whose spans overlap without nesting have several."""

    lane: int
    is_first_of_lane: bool
    marks: list[Mark] = field(default_factory=list)  # by time
    open_ends: list[int] = field(default_factory=list)  # of spans, innermost last

    def takes(self, start_ns: int, end_ns: int) -> bool:
        """Whether a span would nest here; spans that ended before it are ended."""
        self.close_until(start_ns)
        return not self.open_ends or end_ns <= self.open_ends[-1]

    def close_until(self, time_ns: int | None) -> None:
        """End what ends up to `time_ns`; None means everything."""
        ends = self.open_ends
        while ends and (time_ns is None or ends[-1] <= time_ns):
            self.marks.append(Mark(ends.pop(), None))


def nest_spans(trace: Trace) -> list[NestedTrack]:
    """Tracks lane by lane."""
    by_lane: dict[int, list[int]] = {}
    times = [
        (round(span.start_ns), round(span.start_ns) + max(0, round(span.duration_ns)))
        for span in trace.spans
    ]
    for index, span in enumerate(trace.spans):
        by_lane.setdefault(span.lane, []).append(index)
    tracks: list[NestedTrack] = []
    for lane in sorted(by_lane):
        found: list[NestedTrack] = []
        for index in sorted(by_lane[lane], key=lambda at: (times[at][0], -times[at][1])):
            start_ns, end_ns = times[index]
            track = next((one for one in found if one.takes(start_ns, end_ns)), None)
            if track is None:
                track = NestedTrack(lane, not found)
                found.append(track)
            track.marks.append(Mark(start_ns, index))
            track.open_ends.append(end_ns)
        for track in found:
            track.close_until(None)
        tracks += found
    return tracks
