"""The tables that Proton adds to a Perfetto trace: base time, lanes, tracks and paths.

They are JSON in an annotation of the event that also carries the `proton` object. Other readers
show them as an argument; ours needs them to get back exactly what was recorded.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from proton.errors import FormatError
from proton.files.encoding.checks import is_integer, is_text
from proton.files.encoding.decode_json import decode_json
from proton.model.trace import Lane, LaneKind

SUMMARY = "proton"  # the annotation that holds the `proton` object, and the name of the event
TABLES = "proton_tables"
BASE_TIME = "baseTimeNanoseconds"


class Tables(NamedTuple):
    """What the annotation says."""

    base_time_ns: int | None
    zero_ns: int  # the time of the trace's clock at start_ns 0
    lanes: list[Lane]
    tracks: list[int]  # lane of each track
    paths: list[tuple[str, ...]]  # names from the root (left out) down; path 0 is the root


def read_tables(text: bytes, source: str) -> Tables:
    """The tables in `text`.

    Raises:
        FormatError: They are not as this module writes them.
    """
    found = decode_json(text, source)
    try:
        base, zero = found.get(BASE_TIME), found["zero_ns"]
        lanes = [_lane(*entry) for entry in found["lanes"]]
        tracks, numbers, names = found["tracks"], found["paths"], found["names"]
        _expect(base is None or is_integer(base))
        _expect(is_integer(zero) and all(map(is_text, names)))
        _expect(all(type(lane) is int and 0 <= lane < len(lanes) for lane in tracks))
        _expect(len(numbers) % 2 == 0 and all(type(part) is int for part in numbers))
        paths: list[tuple[str, ...]] = [()]
        for row in range(1, len(numbers) // 2):
            parent, name = numbers[2 * row], numbers[2 * row + 1]
            _expect(0 <= parent < row and 0 <= name < len(names))
            paths.append((*paths[parent], names[name]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise FormatError(f"{source}: {TABLES} of the trace is damaged") from None
    return Tables(base, zero, lanes, tracks, paths)


def _expect(is_so: bool) -> None:
    if not is_so:
        raise ValueError


def _lane(key: Any, name: Any, kind: Any, sort: Any) -> Lane:
    _expect(is_text(key) and is_text(name) and is_integer(sort))
    return Lane(key, name, LaneKind(kind), sort)


def tables_text(tables: Tables, *, parents: list[int], names: list[str]) -> str:
    """`tables` as JSON; path n is `names[n]` below path `parents[n]`."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    found: dict[str, Any] = {} if tables.base_time_ns is None else {BASE_TIME: tables.base_time_ns}
    found |= {
        "zero_ns": tables.zero_ns,
        "lanes": [[lane.key, lane.name, lane.kind.value, lane.sort] for lane in tables.lanes],
        "tracks": tables.tracks,
        "paths": [
            part
            for parent, name in zip(parents, names, strict=True)
            for part in (parent, numbers[name])
        ],
        "names": list(numbers),
    }
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
