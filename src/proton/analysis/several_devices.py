"""Work by device, where a process used several: totals, and whose a row or a lane is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from proton.model.device import Device
from proton.model.metric import COUNT, DEVICE_ID, DEVICE_TYPE, TIME_NS
from proton.model.profile import TreeProfile
from proton.model.trace import LaneKind, Trace
from proton.model.tree import Steps, Tree, row_at

_STREAM = re.compile(r"(?:rank \d+ )?(?P<what>GPU|Interpreter)(?: (?P<id>\d+))? Stream .*")
_INTERPRETER = "CPU"


@dataclass(frozen=True, slots=True)
class DeviceTotal:
    """What one of several devices did."""

    name: str  # `GPU 1`
    time_ns: float
    kernels: float


def device_totals(profile: TreeProfile) -> list[DeviceTotal]:
    """Times and kernels by device; none where all work ran on one, or on those of several ranks."""
    times: dict[str, float] = {}
    kernels: Counter[str] = Counter()
    for own in () if profile.ranks else profile.tree.own:
        time_ns, count = own.get(TIME_NS), own.get(COUNT)
        if DEVICE_ID in own and isinstance(time_ns, int | float):
            name = _name(own.get(DEVICE_TYPE), own[DEVICE_ID])
            times[name] = times.get(name, 0) + time_ns
            kernels[name] += int(count) if isinstance(count, int | float) else 0
    if len(times) < 2:
        return []
    ordered = sorted(times, key=lambda name: (len(name), name))  # GPU 2 before GPU 10
    return [DeviceTotal(name, times[name], kernels[name]) for name in ordered]


def device_marks(tree: Tree) -> list[str] | None:
    """A word for each row whose siblings of the same name ran elsewhere, or ""; None: for none."""
    places = [(parent, frame.name) for parent, frame in zip(tree.parents, tree.frames, strict=True)]
    devices: dict[tuple[int, str], set[object]] = {}
    for place, own in zip(places, tree.own, strict=True):
        if DEVICE_ID in own:
            devices.setdefault(place, set()).add(own[DEVICE_ID])
    if all(len(found) < 2 for found in devices.values()):
        return None
    return [
        f"({_name(own.get(DEVICE_TYPE), own[DEVICE_ID])})"
        if DEVICE_ID in own and len(devices[place]) > 1
        else ""
        for place, own in zip(places, tree.own, strict=True)
    ]


def of_device(tree: Tree, row: int, device_id: int | None) -> int:
    """The sibling of a row's name that ran on a device; the row itself where there is none."""
    if device_id is None or tree.own[row].get(DEVICE_ID) in (None, str(device_id)):
        return row
    place = tree.parents[row], tree.frames[row].name
    return next(
        (
            each
            for each in range(row + 1, len(tree))
            if tree.own[each].get(DEVICE_ID) == str(device_id)
            and (tree.parents[each], tree.frames[each].name) == place
        ),
        row,
    )


def _name(device_type: object, device_id: object) -> str:
    return f"{'interpreter' if device_type == _INTERPRETER else 'GPU'} {device_id}"


@dataclass(frozen=True, slots=True)
class LaneDevice:
    """The device that a lane is of, as rows name it."""

    device_type: str
    device_id: str


def lane_devices(trace: Trace, devices: Sequence[Device]) -> list[LaneDevice | None]:
    """The device of each lane that has work of one; None for all where there are not several."""
    found = [
        _STREAM.fullmatch(lane.name) if lane.kind is LaneKind.DEVICE else None
        for lane in trace.lanes
    ]
    named = [None if match is None else (match["what"], match["id"]) for match in found]
    if len({each for each in named if each is not None}) < 2:
        return [None] * len(named)
    return [None if each is None else _device(*each, devices) for each in named]


def _device(what: str, device_id: str | None, devices: Sequence[Device]) -> LaneDevice:
    """As the profile lists it; a lane without a number is of the first."""
    is_interpreted = what == "Interpreter"
    known = [each for each in devices if (each.device_type == _INTERPRETER) is is_interpreted]
    for each in known:
        if device_id in (None, each.device_id):
            return LaneDevice(each.device_type, each.device_id)
    return LaneDevice(_INTERPRETER if is_interpreted else "CUDA", device_id or "0")


class SpanRows:
    """The rows of a trace's tree by path and lane: work of one name has a row for each device."""

    def __init__(self, trace: Trace, tree: Tree, devices: Sequence[Device]) -> None:
        self._steps: Steps = tree.steps()
        self._lanes = [device and device.device_id for device in lane_devices(trace, devices)]
        self._known: dict[tuple[tuple[str, ...], object], int | None] = {}
        self._of_devices: dict[tuple[int, str, object], int] = {}
        if any(self._lanes):
            for row in range(1, len(tree)):
                if (device := tree.own[row].get(DEVICE_ID)) is not None:
                    place = tree.parents[row], tree.frames[row].name, device
                    self._of_devices.setdefault(place, row)

    @property
    def is_by_lane(self) -> bool:
        """Whether the lane matters."""
        return bool(self._of_devices)

    def find(self, path: tuple[str, ...], lane: int) -> int | None:
        """The row of a span with this path on a lane; None where there is none."""
        device = self._lanes[lane] if self._of_devices else None
        if (path, device) not in self._known:
            self._known[path, device] = self._look(path, device)
        return self._known[path, device]

    def _look(self, path: tuple[str, ...], device: object) -> int | None:
        above = None if device is None else row_at(self._steps, path[:-1])
        row = None if above is None else self._of_devices.get((above, path[-1], device))
        return row_at(self._steps, path) if row is None else row
