"""Where warps stand in a Perfetto trace: below their CTA, and that below its multiprocessor.

Rows of warps have texts for ids, as in chrome traces: `kernel Core3 CTA5` and `warp 0 (line 0)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proton.files.trace.lanes import row_of_key
from proton.model.trace import Lane, LaneKind

_CTA = re.compile(r".*?(?P<device> GPU \d+)? Core(?P<sm>\d+) CTA\d+", re.DOTALL).fullmatch


class CtaTrack(NamedTuple):
    """A track with no events of its own."""

    uuid: int
    parent_uuid: int
    name: str
    rank: int


class CtaTracks:
    """The CTAs of a trace; tracks get uuids from `first_uuid` on."""

    def __init__(
        self, lanes: Sequence[Lane], tracks: Mapping[int, int], process: int, first_uuid: int
    ) -> None:
        """`tracks`: lane -> uuid of its first track; `process`: the uuid all others stand below."""
        self.all: list[CtaTrack] = []
        self._places: dict[int, tuple[int, str]] = {}
        sms = {lane.name: tracks[at] for at, lane in enumerate(lanes) if at in tracks}
        known: dict[str, int] = {}
        for at, lane in enumerate(lanes):
            row = row_of_key(lane.key)
            if lane.kind is not LaneKind.WARP or row is None or at not in tracks:
                continue
            name = str(row.pid)
            uuid = known.setdefault(name, first_uuid + len(known))
            if len(known) > len(self.all):
                cta = _CTA(name)
                sm = f"GPU{(cta['device'] or '')[4:]} SM {cta['sm']}" if cta else ""
                self.all.append(CtaTrack(uuid, sms.get(sm, process), name, lane.sort))
            self._places[at] = (uuid, str(row.tid))

    def place(self, lane: int, otherwise: tuple[int, str]) -> tuple[int, str]:
        """The uuid of the track that a lane's stands below, and its name there."""
        return self._places.get(lane, otherwise)
