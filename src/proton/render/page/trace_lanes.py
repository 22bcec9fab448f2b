"""Which lanes of a trace stand above which in the page, in which groups, under which names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from proton.analysis.device_work import stream_named
from proton.files.trace.lanes import row_of_key
from proton.model.trace import Lane, LaneKind

_RANK = re.compile(r"(rank \d+) ").match
_SM = re.compile(r"(?P<device>.*) SM (?P<number>\d+)").fullmatch
_CTA = re.compile(
    r"(?P<kernel>.*?)(?P<device> GPU \d+)? Core(?P<sm>\d+) CTA(?P<cta>\d+)", re.DOTALL
)
_DIGITS = re.compile(r"(\d+)")
_SMS = " SMs"
# Host threads on top, then devices with graphs above their stream, then the insides of kernels.
_PLACES = {
    LaneKind.HOST: 0,
    LaneKind.GRAPH: 1,
    LaneKind.DEVICE: 1,
    LaneKind.SM: 2,
    LaneKind.WARP: 3,
}


class ShownLane(NamedTuple):
    """A lane of the page: `number` is its place in the trace."""

    number: int
    group: str
    name: str
    kind: LaneKind


def shown_lanes(lanes: Sequence[Lane]) -> list[ShownLane]:
    """The lanes from top to bottom; lanes of a group are neighbours."""
    found = [_shown(number, lane) for number, lane in enumerate(lanes)]
    order = sorted(range(len(lanes)), key=lambda at: _key(lanes[at], found[at]))
    return [found[at] for at in order]


def _shown(number: int, lane: Lane) -> ShownLane:
    rank = match[1] if (match := _RANK(lane.name)) else ""
    name = lane.name[len(rank) + 1 :] if rank else lane.name
    group = "Host"
    if lane.kind in (LaneKind.DEVICE, LaneKind.GRAPH):
        group, stream = stream_named(name)
        if stream:
            name = f"graphs {stream}" if lane.kind is LaneKind.GRAPH else f"stream {stream}"
    elif lane.kind is LaneKind.SM:
        group = "SMs"
        if sm := _SM(name):
            group, name = f"{sm['device']}{_SMS}", f"SM {sm['number']}"
    elif lane.kind is LaneKind.WARP:
        row = row_of_key(lane.key)
        group, name = ("warps", name) if row is None else (_cta_name(str(row.pid)), str(row.tid))
    return ShownLane(number, f"{rank} {group}" if rank else group, name, lane.kind)


def _cta_name(name: str) -> str:
    """What tells CTAs apart comes first: kernels have long names."""
    match = _CTA.fullmatch(name)
    if match is None:
        return name
    return f"CTA {match['cta']} · SM {match['sm']}{match['device'] or ''} · {match['kernel']}"


def _key(lane: Lane, shown: ShownLane) -> tuple[object, ...]:
    by_group = (_PLACES[lane.kind], _natural(shown.group.removesuffix(_SMS)))
    if lane.kind in (LaneKind.DEVICE, LaneKind.GRAPH):
        _, stream = stream_named(lane.name)
        return (*by_group, _natural(stream), lane.kind is LaneKind.DEVICE, shown.number)
    return (*by_group, lane.sort, _natural(shown.name), shown.number)


def _natural(text: str) -> list[tuple[int, str]]:
    """Sorts 2 before 10."""
    parts = _DIGITS.split(text)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
