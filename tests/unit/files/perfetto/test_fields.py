"""The numbers of Perfetto's protos are those of the core, and those that Perfetto gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proton.files.perfetto import fields as perfetto_fields
from tests.support.perfetto import protos

HEADER = Path(__file__).parents[4] / "src" / "native" / "files" / "perfetto_fields.h"
CLASSES = ("Packet", "Flags", "Snapshot", "Clock", "ClockId", "Defaults", "Track", "Process",
           "Thread", "Event", "EventType", "Annotation", "Interned")  # fmt: skip
# Our name -> message and field of Perfetto's, where they are not the same word.
KNOWN = {
    "Packet": ("TracePacket", {"CLOCK_SNAPSHOT": "clock_snapshot", "TIMESTAMP": "timestamp",
        "SEQUENCE_ID": "trusted_packet_sequence_id", "TRACK_EVENT": "track_event",
        "INTERNED_DATA": "interned_data", "SEQUENCE_FLAGS": "sequence_flags",
        "COMPRESSED_PACKETS": "compressed_packets", "CLOCK_ID": "timestamp_clock_id",
        "DEFAULTS": "trace_packet_defaults", "TRACK_DESCRIPTOR": "track_descriptor"}),
    "Track": ("TrackDescriptor", {"UUID": "uuid", "NAME": "name", "PROCESS": "process",
        "THREAD": "thread", "PARENT_UUID": "parent_uuid", "COUNTER": "counter",
        "CHILD_ORDERING": "child_ordering", "SIBLING_RANK": "sibling_order_rank"}),
    "Event": ("TrackEvent", {"CATEGORY_IID": "category_iids", "ANNOTATION": "debug_annotations",
        "TYPE": "type", "NAME_IID": "name_iid", "TRACK_UUID": "track_uuid", "NAME": "name",
        "COUNTER_VALUE": "counter_value", "DOUBLE_COUNTER_VALUE": "double_counter_value",
        "FLOW_ID": "flow_ids", "TERMINATING_FLOW_ID": "terminating_flow_ids"}),
    "Annotation": ("DebugAnnotation", {"NAME_IID": "name_iid", "BOOL": "bool_value",
        "UINT": "uint_value", "INT": "int_value", "DOUBLE": "double_value",
        "STRING": "string_value", "JSON": "legacy_json_value", "NAME": "name",
        "DICT_ENTRY": "dict_entries", "ARRAY_VALUE": "array_values",
        "STRING_IID": "string_value_iid"}),
    "Interned": ("InternedData", {"CATEGORIES": "event_categories", "NAMES": "event_names",
        "ANNOTATION_NAMES": "debug_annotation_names",
        "ANNOTATION_STRINGS": "debug_annotation_string_values"}),
}  # fmt: skip


def numbers(name: str) -> dict[str, int]:
    found = vars(getattr(perfetto_fields, name))
    return {key: value for key, value in found.items() if key.isupper()}


@pytest.mark.parametrize("name", CLASSES)
def test_the_core_has_the_same_numbers(name: str) -> None:
    space = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
    text = HEADER.read_text().split(f"namespace {space} {{")[1].split("}")[0]
    native = {
        re.sub(r"(?<!^)([A-Z])", r"_\1", key).upper(): int(value)
        for key, value in re.findall(r"k(\w+) = (\d+);", text)
    }
    assert native
    assert native.items() <= numbers(name).items()


@pytest.mark.parametrize("name", KNOWN)
def test_perfetto_has_the_same_numbers(name: str) -> None:
    message, fields = KNOWN[name]
    descriptor = getattr(protos(), message).DESCRIPTOR
    for ours, theirs in fields.items():
        assert numbers(name)[ours] == descriptor.fields_by_name[theirs].number


def test_perfetto_has_the_same_types_of_events() -> None:
    types = protos().TrackEvent
    assert perfetto_fields.EventType.BEGIN == types.TYPE_SLICE_BEGIN
    assert perfetto_fields.EventType.END == types.TYPE_SLICE_END
    assert perfetto_fields.EventType.INSTANT == types.TYPE_INSTANT
    assert perfetto_fields.EventType.COUNTER == types.TYPE_COUNTER
