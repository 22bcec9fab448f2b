"""Perfetto's own format -> trace through the native core: columns, and no object for each span.

What packets say between events (clocks, tracks, sequences) is read as in `packets.py`; the events
are the core's. Where a trace has something that the core does not know, `read.py` takes all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proton import _core
from proton.errors import FormatError
from proton.files.encoding.protobuf import WireError, integer, parse, read_varint
from proton.files.perfetto.assemble import (
    TABLES,
    Lanes,
    Measured,
    Tables,
    home_of,
    look_of,
    measured_of,
    with_own_ids,
    zero_of,
)
from proton.files.perfetto.blocks import COMPRESSED, unpack
from proton.files.perfetto.events import InternedTexts, read_annotation, to_text
from proton.files.perfetto.fields import TRACE_PACKET, Flags, Packet
from proton.files.perfetto.packets import PacketReader
from proton.files.trace.columns import UnknownToCoreError, tables_of
from proton.files.trace.read import TraceFile
from proton.model.span_table import Look
from proton.model.trace import Lane, Trace

_PACKET = TRACE_PACKET << 3 | 2
_CLOCKS = {Packet.CLOCK_SNAPSHOT, Packet.DEFAULTS}
_CATEGORY, _NAME, _ANNOTATION_NAME, _STRING = range(4)  # as the core numbers kinds of texts


def read_columns(data: bytes, source: str) -> TraceFile | None:
    """The trace in a file of Perfetto's format; None where it takes `PacketReader` to read it."""
    scanner = _core.packet_scanner()
    if scanner is None:
        return None
    reader = _ColumnReader(scanner, source)
    try:
        reader.scan(data)
        return reader.file()
    except (UnknownToCoreError, WireError, FormatError, RecursionError):
        return None  # if it is wrong, then reading it the long way says so, and where


class _ColumnReader:
    """Takes the blocks of a file one by one and puts the trace together."""

    def __init__(self, scanner: Any, source: str) -> None:
        self._scanner = scanner
        self._source = source
        self._packets = PacketReader(source)
        self._sequences: set[int] = set()  # ids of those that the core knows
        self._tracks: list[int] = []  # by the core's number of the sequence
        self._shared: list[tuple[int, int]] = []  # sequences on clocks of the whole trace; offsets

    def scan(self, block: bytes, *, is_inner: bool = False) -> None:
        """Take the packets of `block`; those in compressed ones too."""
        at = 0
        while at < len(block):
            stopped = self._scanner.scan(block, at)
            if stopped is None:
                raise UnknownToCoreError
            at = stopped
            if at < len(block):
                at = self._take(block, at, is_inner=is_inner)

    def _take(self, block: bytes, at: int, *, is_inner: bool) -> int:
        """Take the packet that the core stopped at; the place to go on from."""
        if block[at] != _PACKET:
            raise UnknownToCoreError
        size, begin = read_varint(block, at + 1, len(block))
        end = begin + size
        if end > len(block):
            raise UnknownToCoreError
        if block.startswith(COMPRESSED, begin):
            if is_inner:
                raise UnknownToCoreError
            for _, packed in parse(block, begin, end):
                if type(packed) is bytes:
                    self.scan(unpack(packed, self._source), is_inner=True)
            return end
        packet = block[begin:end]
        fields = dict(parse(packet))
        number = integer(fields.get(Packet.SEQUENCE_ID, 0))
        is_cleared = bool(integer(fields.get(Packet.SEQUENCE_FLAGS, 0)) & Flags.STATE_CLEARED)
        if Packet.TRACK_EVENT in fields and TABLES.encode() not in packet:
            if number in self._sequences or is_cleared or fields.keys() & _CLOCKS:
                raise UnknownToCoreError
            self._begin(number)
            return at  # the core knows the sequence now, and takes the event
        if Packet.INTERNED_DATA in fields:
            raise UnknownToCoreError
        changes = is_cleared or bool(fields.keys() & _CLOCKS)
        if changes and number in self._sequences and not is_cleared:
            raise UnknownToCoreError  # the core has moved its clock on
        summaries = len(self._packets.summaries)
        self._packets.take(packet)
        if Packet.TRACK_EVENT in fields and len(self._packets.summaries) == summaries:
            raise UnknownToCoreError
        if changes and Packet.DEFAULTS in fields:
            self._begin(number)
        self._check_clocks()
        return end

    def _begin(self, number: int) -> None:
        """Tell the core what a sequence has said so far."""
        state = self._packets.sequence(number)
        default = state.clocks.default
        own = None if default is None else state.clocks.own.get(default)
        if own is not None:
            if own.multiplier != 1:
                raise UnknownToCoreError
            is_incremental, last_ns, offset_ns = own.is_incremental, own.last, own.offset_ns
        else:
            is_incremental, last_ns, offset_ns = False, 0, self._offset_ns(number)
            self._shared.append((number, offset_ns))
        self._scanner.begin_sequence(
            id=number,
            track=state.track,
            has_counter_track=state.track in self._packets.tracks,
            is_incremental=is_incremental,
            last_ns=last_ns,
            offset_ns=offset_ns,
        )
        self._sequences.add(number)
        self._tracks.append(state.track)

    def _offset_ns(self, number: int) -> int:
        clocks = self._packets.sequence(number).clocks
        offset_ns = self._packets.clocks.time_ns(0, None, clocks)
        if offset_ns is None:
            raise UnknownToCoreError
        return offset_ns

    def _check_clocks(self) -> None:
        if any(self._offset_ns(number) != offset_ns for number, offset_ns in self._shared):
            raise UnknownToCoreError

    def file(self) -> TraceFile:
        """The file, once every block was taken."""
        packets, scanner = self._packets, self._scanner
        other_types, lone_ends, unclosed = scanner.skipped()
        for what, count in (
            ("track events of other types", other_types),
            ("ends without a begin", lone_ends),
            ("begins without an end", unclosed),
        ):
            if count:
                packets.skipped[what] += count
        zero_ns, base_ns = zero_of(
            scanner.first_ns(), packets.tables, packets.clocks.unix_offset_ns()
        )
        shapes = scanner.shapes()
        looks = _Looks(scanner, self._tracks, packets.tables).of(shapes)
        lanes = Lanes(packets.tracks, packets.tables)
        lane_of = [0] * len(self._tracks)
        for sequence in dict.fromkeys(shape[0] for shape in shapes):
            lane_of[sequence] = lanes.of(self._tracks[sequence])
        spans = scanner.spans(zero_ns=zero_ns, lanes=lane_of, ranks=_ranks(lanes.found))
        table, flows = tables_of(looks, spans)
        trace = Trace(
            [lanes.found[lane] for lane in spans["lanes"]],
            table,
            with_own_ids(flows, packets.tables),
            base_ns,
        )
        return packets.file_of(trace)


def _ranks(lanes: list[Lane]) -> list[int]:
    """The place of each lane in the order of their keys."""
    ranks = [0] * len(lanes)
    for rank, lane in enumerate(sorted(range(len(lanes)), key=lambda at: lanes[at].key)):
        ranks[lane] = rank
    return ranks


class _CoreTexts(dict[int, str]):
    """Texts of a sequence, taken from the core when they are asked for."""

    def __init__(self, scanner: Any, sequence: int, kind: int) -> None:
        super().__init__()
        self._place = (scanner, sequence, kind)

    def get(self, iid: int, default: Any = "") -> Any:
        """The text that `iid` stands for."""
        if (known := super().get(iid)) is None:
            scanner, sequence, kind = self._place
            found = scanner.text(sequence, kind, iid)
            known = self[iid] = default if found is None else to_text(found)
        return known


class _Looks:
    """Makes looks of what the core found spans to share."""

    def __init__(self, scanner: Any, tracks: list[int], tables: Mapping[int, Tables]) -> None:
        self._scanner = scanner
        self._literals = list(map(to_text, scanner.literals()))
        self._annotations: list[bytes] = scanner.annotations()
        self._tables = [tables.get(home_of(track)) for track in tracks]
        self._texts: dict[int, InternedTexts] = {}
        self._known: dict[tuple[int, int], Measured] = {}

    def of(self, shapes: list[tuple[int, int, int, int, int]]) -> list[Look]:
        """The look of every shape."""
        if any(TABLES.encode() in found for found in self._annotations):
            raise UnknownToCoreError  # a summary that stands where spans do
        return [self._look(*shape) for shape in shapes]

    def _look(
        self, sequence: int, name_iid: int, category_iid: int, literal: int, annotations: int
    ) -> Look:
        if (texts := self._texts.get(sequence)) is None:
            texts = self._texts[sequence] = InternedTexts()
            texts.names = _CoreTexts(self._scanner, sequence, _NAME)
            texts.categories = _CoreTexts(self._scanner, sequence, _CATEGORY)
            texts.annotation_names = _CoreTexts(self._scanner, sequence, _ANNOTATION_NAME)
            texts.strings = _CoreTexts(self._scanner, sequence, _STRING)
        ours = self._tables[sequence]
        is_in_tables = ours is not None and 0 < name_iid <= len(ours.paths)
        name = self._literals[literal] or ("" if is_in_tables else texts.names.get(name_iid, ""))
        return look_of(
            name,
            name_iid or None,
            texts.categories.get(category_iid, ""),
            self._measured(sequence, annotations, texts),
            ours,
        )

    def _measured(self, sequence: int, number: int, texts: InternedTexts) -> Measured:
        place = (sequence, number)
        if (known := self._known.get(place)) is None:
            fields = parse(self._annotations[number])
            known = measured_of(dict(read_annotation(value, texts) for _, value in fields))
            self._known[place] = known
        return known
