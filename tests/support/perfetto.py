"""Perfetto traces as Perfetto's own protobuf classes see them, and fields made by hand."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest

from proton.files.encoding.protobuf import FIXED64, varint


def fixed64_field(number: int, value: int) -> bytes:
    """A field that is a number of 8 bytes."""
    return varint(number << 3 | FIXED64) + value.to_bytes(8, "little")


def double_field(number: int, value: float) -> bytes:
    """A field that is a double."""
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def protos() -> Any:
    """Perfetto's generated classes; skips the test where they are not installed."""
    return pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


def packets_of(data: bytes) -> list[Any]:
    """Every packet of a trace, those in compressed ones too."""
    pb = protos()
    found = []
    for packet in pb.Trace.FromString(data).packet:
        if packet.HasField("compressed_packets"):
            found += pb.Trace.FromString(zlib.decompress(packet.compressed_packets)).packet
        else:
            found.append(packet)
    return found


def descriptors_of(packets: list[Any]) -> dict[int, Any]:
    """The tracks by their uuid."""
    found = [p.track_descriptor for p in packets if p.HasField("track_descriptor")]
    return {track.uuid: track for track in found}


def title(track: Any) -> str:
    """What a viewer calls a track."""
    return str(track.thread.thread_name or track.process.process_name or track.name)


def slices_of(packets: list[Any]) -> list[tuple[str, str, int, int]]:
    """(track, name, start, duration) of every slice, by following the protocol step by step."""
    tracks = descriptors_of(packets)
    names: dict[tuple[int, int], str] = {}
    clocks: dict[int, int] = {}
    defaults: dict[int, int] = {}
    open_slices: dict[int, list[tuple[str, int]]] = {}
    slices = []
    for packet in packets:
        sequence = packet.trusted_packet_sequence_id
        for clock in packet.clock_snapshot.clocks:
            if clock.is_incremental:
                clocks[sequence] = clock.timestamp
        if packet.HasField("trace_packet_defaults"):
            assert packet.sequence_flags == 1
            assert packet.trace_packet_defaults.timestamp_clock_id == 64
            defaults[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        for entry in packet.interned_data.event_names:
            names[sequence, entry.iid] = entry.name
        if not packet.HasField("track_event") or sequence not in defaults:
            continue
        assert packet.sequence_flags == 2
        clocks[sequence] += packet.timestamp
        event, uuid = packet.track_event, defaults[sequence]
        if event.type == event.TYPE_SLICE_BEGIN:
            name = event.name or names[sequence, event.name_iid]
            open_slices.setdefault(uuid, []).append((name, clocks[sequence]))
        elif event.type == event.TYPE_SLICE_END:
            name, start = open_slices[uuid].pop()
            slices.append((title(tracks[uuid]), name, start, clocks[sequence] - start))
    assert not any(open_slices.values())
    return slices
