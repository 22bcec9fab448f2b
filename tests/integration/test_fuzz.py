"""Damaged files: each gives a Profile or one line of FormatError, soon, and nothing else.

Seeded mutations of the recordings: flipped bytes, cuts, and edits of the structure itself, in
which a value of the file becomes something hostile.
"""

from __future__ import annotations

import copy
import json
import random
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from proton.errors import FormatError, WriteError
from proton.files.encoding.protobuf import bytes_field, parse
from proton.files.perfetto.fields import TRACE_PACKET, Packet
from proton.files.perfetto.read import is_perfetto
from proton.files.read import read_profile
from proton.files.write import formats_of, to_bytes
from tests.support.traces import as_held

DATA = Path(__file__).parents[1] / "data"
RECORDINGS = [
    path.read_bytes()
    for path in sorted(DATA.iterdir())
    if path.is_file() and path.suffix not in (".py", ".md") and path.stat().st_size < 20_000
]
MAX_SECONDS = 5.0  # for one input of some kilobytes, on a machine that is busy
HOSTILE: list[Any] = [
    None, True, False, 0, -1, 2**63, 2**64, -(2**80), 10**400, 0.5, -0.0, 1e308, 5e-324,
    float("nan"), float("inf"), "", "0", "ROOT", "a\x00b", "\ud800", "x" * 5000, "r", "1e999",
    [], [[]], [0], [[[[]]]], [None], ["a"], [float("nan")], {}, {"": 0}, {"frame": {}},
    {"name": "x"}, {"frame": {"name": "x"}}, {"ph": "X"}, {"traceEvents": []},
]  # fmt: skip
KEYS = ["frame", "name", "metrics", "children", "proton", "kinds", "ph", "ts", "dur", "tid", ""]


def flip_bytes(data: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))]


def splice(data: bytes, chance: random.Random) -> bytes:
    """A slice of the file again, somewhere else in it, or gone."""
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randint(1, 200)]
    place = chance.randrange(len(data))
    return data[:place] + piece * chance.randint(0, 3) + data[place + chance.randint(0, 50) :]


def edit(data: bytes, chance: random.Random) -> bytes:
    """The same structure with some of its values or keys replaced."""
    if is_perfetto(data):
        return edit_packets(data, chance)
    is_json = data.lstrip()[:1] in (b"[", b"{")
    value = json.loads(data) if is_json else msgpack.unpackb(data)
    for _ in range(chance.randint(1, 3)):
        replace_somewhere(value, chance)
    if is_json:
        return json.dumps(value).encode()
    try:
        return bytes(msgpack.packb(value, unicode_errors="surrogatepass"))
    except (OverflowError, ValueError):  # msgpack has no such integers
        return data


def edit_packets(data: bytes, chance: random.Random) -> bytes:
    """The packets of a trace, unpacked and damaged before they are packed again."""
    blocks = [dict(parse(packet))[Packet.COMPRESSED_PACKETS] for _, packet in parse(data)]
    unpacked = b"".join(zlib.decompress(block) for block in blocks if isinstance(block, bytes))
    damaged = chance.choice([flip_bytes, cut, splice])(unpacked, chance)
    if chance.random() < 0.5:
        return damaged
    packed = bytes_field(Packet.COMPRESSED_PACKETS, zlib.compress(damaged))
    return bytes_field(TRACE_PACKET, packed)


def replace_somewhere(value: Any, chance: random.Random) -> None:
    """Go down at random and put something hostile in place of what is there."""
    while True:
        inner = list(value.values()) if isinstance(value, dict) else list(value)
        deeper = [part for part in inner if isinstance(part, (dict, list)) and part]
        if deeper and chance.random() < 0.85:
            value = chance.choice(deeper)
            continue
        hostile = copy.deepcopy(chance.choice(HOSTILE))
        if isinstance(value, list):
            value[chance.randrange(len(value))] = hostile
        elif not value or chance.random() < 0.2:
            value[chance.choice(KEYS)] = hostile
        elif chance.random() < 0.2:
            del value[chance.choice(list(value))]
        else:
            value[chance.choice(list(value))] = hostile
        return


Mutation = Callable[[bytes, random.Random], bytes]
MUTATIONS: list[Mutation] = [flip_bytes, cut, splice, edit, edit]


def check(data: bytes) -> bool:
    """Whether `data` is read; a failure must be one FormatError of one line, in time."""
    begun = time.perf_counter()
    try:
        profile = read_profile(data, "fuzzed.hatchet")
    except FormatError as error:
        message = str(error)
        assert message.startswith("fuzzed.hatchet: ")
        assert "\n" not in message
        assert len(message) < 500
        return False
    finally:
        assert time.perf_counter() - begun < MAX_SECONDS
    for output_format in formats_of(profile):  # what was taken in is sound all through
        try:
            written = to_bytes(profile, output_format)
        except WriteError:
            assert output_format == "perfetto"  # which has times of 64 bits
            continue
        found = read_profile(written, profile.source)
        if output_format == "chrome_trace" and is_perfetto(data):
            continue  # its rows are numbers: lanes with odd keys get others
        assert found == as_held(profile, output_format)
    return True


def fuzz(
    seed: int,
    count: int,
    recordings: list[bytes] = RECORDINGS,
    mutations: list[Mutation] = MUTATIONS,
) -> None:
    chance = random.Random(seed)
    read = 0
    for number in range(count):
        data = chance.choice(mutations)(chance.choice(recordings), chance)
        try:
            read += check(data)
        except Exception as error:
            error.add_note(f"input {number} of seed {seed}: {data!r}")
            raise
    assert 0 < read < count


@pytest.mark.parametrize("seed", range(4))
def test_500_damaged_files_are_read_or_refused(seed: int) -> None:
    fuzz(seed, 500)


def test_100_damaged_deep_files_are_read_or_refused() -> None:
    recordings = [
        (DATA / f"deep.{suffix}").read_bytes() for suffix in ("hatchet", "hatchet_msgpack")
    ]
    fuzz(7, 100, recordings, [flip_bytes, cut, splice])


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_5000_damaged_files_are_read_or_refused(seed: int) -> None:
    fuzz(seed, 5000)
