"""The clocks of a Perfetto trace: timestamps of any of them as nanoseconds of one."""

from __future__ import annotations

from dataclasses import dataclass, field

from proton.files.encoding.protobuf import parse
from proton.files.perfetto.fields import Clock, ClockId, Snapshot

_FIRST_OF_SEQUENCE = 64  # clocks from here on are those of one sequence


@dataclass(slots=True)
class _SequenceClock:
    """A clock that only one sequence uses."""

    last: int  # the latest timestamp, in its own unit
    multiplier: int
    is_incremental: bool
    offset_ns: int  # what is added to get the time of the trace


@dataclass(slots=True)
class SequenceClocks:
    """The clocks of one sequence."""

    default: int | None = None
    own: dict[int, _SequenceClock] = field(default_factory=dict)


class TraceClocks:
    """The clocks of a whole trace. Times are those of its primary clock."""

    def __init__(self) -> None:
        self._primary = ClockId.BOOTTIME
        self._offsets: dict[int, int] = {}

    def take(self, snapshot: int | bytes, sequence: SequenceClocks) -> None:
        """Take a ClockSnapshot message."""
        clocks: dict[int, dict[int, int]] = {}
        for number, value in parse(snapshot):
            if number == Snapshot.PRIMARY_CLOCK and isinstance(value, int):
                self._primary = value
            elif number == Snapshot.CLOCKS and isinstance(value, bytes):
                fields = {key: part for key, part in parse(value) if isinstance(part, int)}
                clocks[fields.get(Clock.ID, 0)] = fields
        now = {clock: fields.get(Clock.TIMESTAMP, 0) for clock, fields in clocks.items()}
        shared = [clock for clock in now if clock < _FIRST_OF_SEQUENCE]
        if self._primary in now:
            for clock in shared:
                self._offsets[clock] = now[self._primary] - now[clock]
        known = [now[clock] + self._offsets.get(clock, 0) for clock in shared]
        for clock, fields in clocks.items():
            if clock >= _FIRST_OF_SEQUENCE:
                multiplier = fields.get(Clock.MULTIPLIER, 1)
                offset_ns = known[0] - now[clock] * multiplier if known else 0
                is_incremental = bool(fields.get(Clock.IS_INCREMENTAL, 0))
                sequence.own[clock] = _SequenceClock(
                    now[clock], multiplier, is_incremental, offset_ns
                )

    def time_ns(self, value: int, clock: int | None, sequence: SequenceClocks) -> int | None:
        """A timestamp as a time of the trace; None on a clock that the trace does not explain."""
        if clock is None:
            clock = sequence.default if sequence.default is not None else self._primary
        own = sequence.own.get(clock)
        if own is not None:
            own.last = own.last + value if own.is_incremental else value
            return own.last * own.multiplier + own.offset_ns
        if clock >= _FIRST_OF_SEQUENCE:
            return None
        return value + self._offsets.get(clock, 0)

    def unix_offset_ns(self) -> int | None:
        """What is added to a time of the trace to get Unix time; None where it does not say."""
        if self._primary == ClockId.REALTIME:
            return 0
        offset = self._offsets.get(ClockId.REALTIME)
        return None if offset is None else -offset
