"""The CTAs of a trace by launch: when and where each ran, and the regions that its warps recorded.

A trace has CTAs on lanes of multiprocessors and regions on lanes of warps; which launch they are of
is said by their path, and by time where a kernel was launched often. Traces of other tools have
regions only: there a CTA is as long as they are, and all launches of a kernel are one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from proton.files.trace.lanes import row_of_key
from proton.model.ctas import CtaTime
from proton.model.trace import Lane, LaneKind, Span, SpanKind, Trace

# Numbers have as many digits as devices can have of them, so that a file cannot ask for memory.
_LANE = re.compile(
    r"(?:rank (?P<rank>\d{1,9}) )?GPU (?:(?P<device>\d{1,9}) )?(?:SM (?P<sm>\d{1,5})|Stream .*)"
).fullmatch
_CTA = re.compile(
    r"(?:rank (?P<rank>\d{1,9}) )?(?P<kernel>.*?)(?: GPU (?P<device>\d{1,9}))?"
    r" Core(?P<sm>\d{1,5}) CTA(?P<cta>\d{1,9})",
    re.DOTALL,
).fullmatch
_WARP = re.compile(r"warp (?P<warp>\d{1,4})(?: \(line (?P<line>\d{1,4})\))?.*").fullmatch
_NUMBER = re.compile(r"CTA (\d{1,9})").fullmatch

Path = tuple[str, ...]


class Owner(NamedTuple):
    """Whose a lane is; the first device of a trace, and a trace of one rank, need no number."""

    rank: int | None = None
    device: int = 0


class WarpRegion(NamedTuple):
    """One passage of a warp through a region. Events overlap: they have lines of their own."""

    warp: int
    line: int
    name: str
    start_ns: float
    end_ns: float


@dataclass(slots=True)
class CtaLaunch:
    """One launch, with its CTAs by start. Times are those of the trace."""

    path: Path  # the kernel's name last
    owner: Owner
    start_ns: float
    end_ns: float
    is_timed: bool = False  # the trace has the kernel itself
    ctas: list[CtaTime] = field(default_factory=list)
    regions: dict[int, list[WarpRegion]] = field(default_factory=dict)  # place of a CTA -> its


class _Warp(NamedTuple):
    owner: Owner
    kernel: str
    sm: int
    cta: int
    warp: int
    line: int


def cta_launches(trace: Trace) -> list[CtaLaunch]:
    """Every launch whose CTAs are known, in the order of their starts."""
    warps = {at: found for at, lane in enumerate(trace.lanes) if (found := _warp_of(lane))}
    sms: dict[int, tuple[Owner, int]] = {}
    streams: dict[int, Owner] = {}
    for at, lane in enumerate(trace.lanes):
        if lane.kind in (LaneKind.SM, LaneKind.DEVICE) and (match := _LANE(lane.name)):
            owner = _owner(match)
            if lane.kind is LaneKind.SM and match["sm"]:
                sms[at] = (owner, int(match["sm"]))
            elif lane.kind is LaneKind.DEVICE:
                streams[at] = owner
    if not sms and not warps:
        return []
    ctas: dict[tuple[Path, Owner], list[CtaTime]] = {}
    kernels: dict[tuple[Path, Owner], list[Span]] = {}
    regions: list[tuple[Span, _Warp]] = []
    for span in trace.spans:
        if span.kind is SpanKind.CTA:
            if (place := sms.get(span.lane)) and (number := _NUMBER(span.name)):
                time = CtaTime(int(number[1]), place[1], span.start_ns, _end(span))
                ctas.setdefault((span.path[:-1], place[0]), []).append(time)
        elif span.kind is SpanKind.KERNEL and span.lane in streams:
            kernels.setdefault((span.path, streams[span.lane]), []).append(span)
        elif (warp := warps.get(span.lane)) is not None:
            regions.append((span, warp))
    launches = [
        launch for key, found in ctas.items() for launch in _split(*key, found, kernels.get(key))
    ]
    left = _add_regions(launches, regions)
    launches += _from_regions(left)
    return sorted(launches, key=lambda launch: launch.start_ns)


def _end(span: Span) -> float:
    return span.start_ns + span.duration_ns


def _owner(match: re.Match[str]) -> Owner:
    return Owner(int(match["rank"]) if match["rank"] else None, int(match["device"] or 0))


def _warp_of(lane: Lane) -> _Warp | None:
    row = row_of_key(lane.key) if lane.kind is LaneKind.WARP else None
    if row is None:
        return None
    cta, warp = _cta_of(str(row.pid)), _WARP(str(row.tid))
    if cta is None or warp is None:
        return None
    return _Warp(*cta, int(warp["warp"]), int(warp["line"] or 0))


@lru_cache(maxsize=1 << 16)  # a CTA has many lanes
def _cta_of(process: str) -> tuple[Owner, str, int, int] | None:
    found = _CTA(process)
    if found is None:
        return None
    return _owner(found), found["kernel"], int(found["sm"]), int(found["cta"])


def _split(
    path: Path, owner: Owner, ctas: list[CtaTime], kernels: list[Span] | None
) -> list[CtaLaunch]:
    """The launches that CTAs of one path are of: those of the trace, else one a repeated number."""
    ctas.sort(key=lambda one: one.start_ns)
    groups: list[list[CtaTime]] = []
    if kernels:
        kernels.sort(key=lambda span: span.start_ns)
        starts = [span.start_ns for span in kernels]
        groups = [[] for _ in kernels]
        for one in ctas:
            # The middle: clocks of devices and hosts are a little apart.
            at = bisect_right(starts, (one.start_ns + one.end_ns) / 2) - 1
            groups[max(at, 0)].append(one)
    else:
        known: set[int] = set()
        for one in ctas:
            if not groups or one.number in known:
                groups.append([])
                known.clear()
            known.add(one.number)
            groups[-1].append(one)
    launches = []
    for at, group in enumerate(groups):
        if not group:
            continue
        start, end = group[0].start_ns, max(one.end_ns for one in group)
        if kernels:
            start, end = min(start, kernels[at].start_ns), max(end, _end(kernels[at]))
        launches.append(CtaLaunch(path, owner, start, end, bool(kernels), group))
    return launches


def _add_regions(
    launches: list[CtaLaunch], regions: list[tuple[Span, _Warp]]
) -> list[tuple[Span, _Warp]]:
    """Put regions into the CTAs that ran them; returns those of kernels without CTAs."""
    places: dict[tuple[Path, Owner, int], list[tuple[float, CtaLaunch, int]]] = {}
    for launch in launches:
        for at, one in enumerate(launch.ctas):
            key = (launch.path, launch.owner, one.number)
            places.setdefault(key, []).append((one.start_ns, launch, at))
    for found in places.values():
        found.sort(key=lambda place: place[0])
    paths = _Prefixes({launch.path for launch in launches})
    left = []
    for span, warp in regions:
        path = paths.longest(span.path)
        candidates = places.get((path, warp.owner, warp.cta)) if path is not None else None
        if candidates is None:
            left.append((span, warp))
            continue
        middle = span.start_ns + span.duration_ns / 2
        at = bisect_right(candidates, middle, key=lambda place: place[0]) - 1
        _, launch, cta = candidates[max(at, 0)]
        launch.regions.setdefault(cta, []).append(_region(span, warp))
    return left


class _Prefixes:
    """Which of some paths is the beginning of another; remembers what it was asked."""

    def __init__(self, paths: set[Path]) -> None:
        self._paths = paths
        self._known: dict[Path, Path | None] = {}

    def longest(self, path: Path) -> Path | None:
        if path not in self._known:
            starts = (path[:length] for length in range(len(path), 0, -1))
            self._known[path] = next((one for one in starts if one in self._paths), None)
        return self._known[path]


def _from_regions(regions: list[tuple[Span, _Warp]]) -> list[CtaLaunch]:
    """Launches of which only regions are known: a CTA lasts from its first to its last."""
    grouped: dict[tuple[Path, Owner], dict[tuple[int, int], list[WarpRegion]]] = {}
    for span, warp in regions:
        ctas = grouped.setdefault((_kernel_path(span.path, warp.kernel), warp.owner), {})
        ctas.setdefault((warp.cta, warp.sm), []).append(_region(span, warp))
    launches = []
    for (path, owner), ctas in grouped.items():
        boxes = [
            (CtaTime(*place, min(r.start_ns for r in found), max(r.end_ns for r in found)), found)
            for place, found in ctas.items()
        ]
        boxes.sort(key=lambda box: box[0].start_ns)
        end = max(box.end_ns for box, _ in boxes)
        launch = CtaLaunch(path, owner, boxes[0][0].start_ns, end)
        launch.ctas = [box for box, _ in boxes]
        launch.regions = {at: found for at, (_, found) in enumerate(boxes)}
        launches.append(launch)
    return launches


def _kernel_path(path: Path, kernel: str) -> Path:
    """The part of a region's path that is its launch."""
    for length in range(len(path) - 1, 0, -1):
        if path[length - 1] == kernel:
            return path[:length]
    return (*path[:-1], kernel)


def _region(span: Span, warp: _Warp) -> WarpRegion:
    return WarpRegion(warp.warp, warp.line, span.name, span.start_ns, _end(span))
