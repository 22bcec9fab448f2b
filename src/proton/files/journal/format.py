"""What a journal is made of: chunks with lengths and checksums. Light: recording imports it too.

A journal holds the open phase of a session that is still being recorded: `recover` and the readers
use it when the process did not live to write its profile. It begins with MAGIC and a chunk of
facts; data chunks follow. A chunk that is torn or damaged ends what can be read.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SUFFIX = "partial"  # run.partial
MAGIC = b"proton journal 1\n"
FACTS = b"FACT"  # JSON: who records what
DATA = b"DATA"  # a whole hatchet_msgpack file, or a piece of a trace as a Perfetto file

_HEAD = struct.Struct("<4sIQ")  # kind, checksum of kind and content, length of content


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What could be read of a journal; `lost_bytes` at its end could not."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    chunks: tuple[bytes, ...] = ()
    lost_bytes: int = 0


def pack_chunk(kind: bytes, content: bytes) -> bytes:
    """A chunk as it stands in the file."""
    return chunk_head(kind, content) + content


def chunk_head(kind: bytes, content: bytes) -> bytes:
    """What stands before the content of a chunk; spares a copy of it, which would hold the GIL."""
    return _HEAD.pack(kind, _checksum(kind, content), len(content))


def _checksum(kind: bytes, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(kind))


def pack_facts(facts: Mapping[str, Any]) -> bytes:
    """How a journal begins."""
    return MAGIC + pack_chunk(FACTS, json.dumps(facts).encode())


def is_journal(data: bytes) -> bool:
    """Whether `data` is a journal, or the torn beginning of one."""
    return len(data) > 0 and data[: len(MAGIC)] == MAGIC[: len(data)]


def unpack(data: bytes) -> JournalContent:
    """Everything that is whole, up to the first chunk that is not."""
    facts: Mapping[str, Any] = {}
    chunks: list[bytes] = []
    at = len(MAGIC)
    while at + _HEAD.size <= len(data):
        kind, checksum, size = _HEAD.unpack_from(data, at)
        content = data[at + _HEAD.size : at + _HEAD.size + size]
        if len(content) < size or _checksum(kind, content) != checksum:
            break
        if kind == FACTS:
            facts = _read_facts(content)
        elif kind == DATA and facts:
            chunks.append(content)
        at += _HEAD.size + size
    return JournalContent(facts, tuple(chunks), max(0, len(data) - at))


def read_facts(path: str | os.PathLike[str]) -> Mapping[str, Any] | None:
    """The facts of the journal at `path`, empty where they are torn; None: it is no journal."""
    try:
        with open(path, "rb") as file:
            head = file.read(1 << 16)
    except OSError:
        return None
    return unpack(head).facts if is_journal(head) or not head else None


def _read_facts(content: bytes) -> Mapping[str, Any]:
    try:
        facts = json.loads(content)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def facts_of_process() -> dict[str, Any]:
    """What tells this process from others, also from later ones with its number."""
    pid = os.getpid()
    return {"pid": pid, "host": _host(), "process_start": _start_of(pid)}


def is_alive(facts: Mapping[str, Any]) -> bool:
    """Whether the process that wrote a journal still runs, on this machine."""
    pid = facts.get("pid")
    if not isinstance(pid, int) or pid <= 0 or facts.get("host") != _host():
        return False
    start = _start_of(pid)
    return start is not None and start == facts.get("process_start")


def is_elsewhere(facts: Mapping[str, Any]) -> bool:
    """Whether the journal is of another machine, where its process may be alive."""
    return facts.get("host") not in (None, _host())


def _host() -> str:
    import platform  # os.uname is not there on every system; and recording starts sooner

    return platform.node()


def _start_of(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None where there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # the name before it may hold anything
    return None if words[0] in "ZX" else int(words[19])  # the dead that nobody has buried
