"""Compressed packets of a Perfetto trace: many packets in one."""

from __future__ import annotations

import zlib

from proton.errors import CutShort, FormatError

COMPRESSED = b"\x92\x03"  # the key of Packet.COMPRESSED_PACKETS
_MAX_BLOCK = 1 << 28  # bytes that one compressed packet may unpack to


def unpack(block: bytes, source: str) -> bytes:
    """The packets in `block`.

    Raises:
        FormatError: It is damaged, cut off or too large.
    """
    inflate = zlib.decompressobj()
    try:
        unpacked = inflate.decompress(block, _MAX_BLOCK)
    except zlib.error as error:
        raise FormatError(f"{source}: a compressed packet is damaged: {error}") from None
    if inflate.unconsumed_tail or not inflate.eof:
        raise CutShort(f"{source}: a compressed packet is cut off or too large")
    return unpacked
