"""Numbers of Perfetto's trace protos, by message; no code. Python's side of `perfetto_fields.h`."""

from __future__ import annotations

TRACE_PACKET = 1  # of Trace and TracePackets


class Packet:
    """TracePacket: one event, or what events refer to."""

    CLOCK_SNAPSHOT = 6
    TIMESTAMP = 8
    SEQUENCE_ID = 10
    TRACK_EVENT = 11
    INTERNED_DATA = 12
    SEQUENCE_FLAGS = 13
    COMPRESSED_PACKETS = 50
    CLOCK_ID = 58
    DEFAULTS = 59
    TRACK_DESCRIPTOR = 60


class Flags:
    """Bits of TracePacket.sequence_flags."""

    STATE_CLEARED = 1
    NEEDS_STATE = 2


class Snapshot:
    """ClockSnapshot: one moment on several clocks."""

    CLOCKS = 1
    PRIMARY_CLOCK = 2


class Clock:
    """ClockSnapshot.Clock."""

    ID = 1
    TIMESTAMP = 2
    IS_INCREMENTAL = 3
    MULTIPLIER = 4


class ClockId:
    """Clocks; those from 64 on belong to a sequence."""

    REALTIME = 1
    MONOTONIC = 3
    BOOTTIME = 6
    INCREMENTAL = 64


class Defaults:
    """TracePacketDefaults: what packets of a sequence leave out."""

    TRACK_EVENT = 11
    CLOCK_ID = 58


class Track:
    """TrackDescriptor."""

    UUID = 1
    NAME = 2
    PROCESS = 3
    THREAD = 4
    PARENT_UUID = 5
    COUNTER = 8
    CHILD_ORDERING = 11
    SIBLING_RANK = 12
    EXPLICIT_ORDER = 3


class Process:
    """ProcessDescriptor."""

    PID = 1
    COMMAND = 2
    NAME = 6


class Thread:
    """ThreadDescriptor."""

    PID = 1
    TID = 2
    NAME = 5


class Event:
    """TrackEvent."""

    CATEGORY_IID = 3
    ANNOTATION = 4
    TYPE = 9
    NAME_IID = 10
    TRACK_UUID = 11
    NAME = 23
    COUNTER_VALUE = 30
    DOUBLE_COUNTER_VALUE = 44
    FLOW_ID = 47
    TERMINATING_FLOW_ID = 48


class EventType:
    """TrackEvent.Type."""

    BEGIN = 1
    END = 2
    INSTANT = 3
    COUNTER = 4


class Annotation:
    """DebugAnnotation: an argument of an event."""

    NAME_IID = 1
    BOOL = 2
    UINT = 3
    INT = 4
    DOUBLE = 5
    STRING = 6
    JSON = 9
    NAME = 10
    DICT_ENTRY = 11
    ARRAY_VALUE = 12
    STRING_IID = 17


class Interned:
    """InternedData, and the messages in it."""

    CATEGORIES = 1
    NAMES = 2
    ANNOTATION_NAMES = 3
    ANNOTATION_STRINGS = 29
    IID = 1
    TEXT = 2
