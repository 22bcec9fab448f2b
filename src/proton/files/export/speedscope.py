"""Speedscope's JSON: a tree as one profile a metric, a trace as one profile a lane.

Both are written as frames that open and close, whose size does not grow with the depth of stacks.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from proton._version import __version__
from proton.errors import DataKindError
from proton.files.export.stacks import (
    UNITS,
    Exported,
    Place,
    Weights,
    loss_notes,
    place_of,
    stacks_of,
)
from proton.model.profile import TraceProfile, TreeProfile
from proton.model.trace import Trace
from proton.model.tree import Tree

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class _Frames:
    """The frames of a file, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Place, int] = {}

    def number(self, place: Place) -> int:
        return self._numbers.setdefault(place, len(self._numbers))

    def listed(self) -> list[dict[str, Any]]:
        return [
            {"name": place.name}
            | ({"file": place.file} if place.file else {})
            | ({"line": place.line} if place.line else {})
            for place in self._numbers
        ]


def export(profile: TreeProfile | TraceProfile, metric: str | None = None) -> Exported:
    """`profile` as a file that speedscope opens; `metric` picks one of a tree.

    Raises:
        MetricNotFound: There is no such metric, or none that adds up.
        DataKindError: A metric was asked for of a trace.
    """
    frames = _Frames()
    notes: tuple[str, ...] = ()
    if isinstance(profile, TreeProfile):
        weights, notes = stacks_of(profile, profile.tree, metric)
        numbers = [frames.number(place_of(frame)) for frame in profile.tree.frames]
        profiles = [_of_tree(profile.tree, each, numbers) for each in weights]
    else:
        if metric is not None:
            raise DataKindError(
                f"{profile.source}: a trace, whose lanes show time; metric {metric!r} can be "
                "picked of a tree only"
            )
        profiles = _of_trace(profile.trace, frames)
    document = {
        "$schema": SCHEMA,
        "shared": {"frames": frames.listed()},
        "profiles": profiles,
        "name": profile.header.session or profile.source,
        "activeProfileIndex": 0,
        "exporter": f"proton@{__version__}",
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Exported(text.encode(), notes + loss_notes(profile))


def _of_tree(tree: Tree, weights: Weights, numbers: list[int]) -> dict[str, Any]:
    """Contexts side by side, each as wide as what it and all below it measured."""
    totals = list(weights.own)
    for row in range(len(totals) - 1, 0, -1):
        totals[tree.parents[row]] += totals[row]
    events: list[dict[str, Any]] = []
    open_rows: list[int] = []
    at: float = 0
    for row, parent in enumerate(tree.parents):
        if not totals[row]:
            continue
        while open_rows and open_rows[-1] != parent:
            events.append({"type": "C", "frame": numbers[open_rows.pop()], "at": at})
        if row:  # the root stands for the whole, which a viewer draws by itself
            events.append({"type": "O", "frame": numbers[row], "at": at})
            open_rows.append(row)
        at += weights.own[row]
    while open_rows:
        events.append({"type": "C", "frame": numbers[open_rows.pop()], "at": at})
    unit = UNITS.get(weights.unit) or ("bytes" if weights.name == "bytes" else "none")
    return _evented(weights.name, unit, 0, at, events)


@dataclass(slots=True)
class _Track:
    """Spans of one lane that nest, as frames that open and close."""

    events: list[dict[str, Any]] = field(default_factory=list)  # by time
    _open: list[tuple[int, int]] = field(default_factory=list)  # end and frame, innermost last

    def takes(self, start_ns: int, end_ns: int) -> bool:
        """Whether a span would nest here; what ended before it is closed."""
        self.close_until(start_ns)
        return not self._open or end_ns <= self._open[-1][0]

    def open(self, frame: int, start_ns: int, end_ns: int) -> None:
        self.events.append({"type": "O", "frame": frame, "at": start_ns})
        self._open.append((end_ns, frame))

    def close_until(self, time_ns: float) -> None:
        while self._open and self._open[-1][0] <= time_ns:
            end_ns, frame = self._open.pop()
            self.events.append({"type": "C", "frame": frame, "at": end_ns})


def _of_trace(trace: Trace, frames: _Frames) -> list[dict[str, Any]]:
    """A profile a lane; spans that overlap without nesting get more of them."""
    by_lane: list[list[tuple[int, int, str]]] = [[] for _ in trace.lanes]
    for span in trace.spans:
        start_ns = round(span.start_ns)
        end_ns = start_ns + max(0, round(span.duration_ns))
        by_lane[span.lane].append((start_ns, end_ns, span.name))
    profiles = []
    number_of: Counter[str] = Counter()
    for lane, spans in zip(trace.lanes, by_lane, strict=True):
        tracks: list[_Track] = []
        for start_ns, end_ns, name in sorted(spans, key=lambda span: (span[0], -span[1])):
            track = next((one for one in tracks if one.takes(start_ns, end_ns)), None)
            if track is None:
                track = _Track()
                tracks.append(track)
            track.open(frames.number(Place(name, "", 0)), start_ns, end_ns)
        for track in tracks:
            track.close_until(math.inf)
            number_of[lane.name] += 1
            count = number_of[lane.name]
            title = lane.name if count == 1 else f"{lane.name} ({count})"
            first_ns, last_ns = track.events[0]["at"], track.events[-1]["at"]
            profiles.append(_evented(title, "nanoseconds", first_ns, last_ns, track.events))
    return profiles


def _evented(
    name: str, unit: str, start: float, end: float, events: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "type": "evented",
        "name": name,
        "unit": unit,
        "startValue": start,
        "endValue": end,
        "events": events,
    }
