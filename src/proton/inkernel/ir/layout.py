"""Where a kernel's records stand in memory: tags, headers and the parts of a launch's buffer.

The numbers are those of the native decoder (`backends/device_buffer/layout.h`); passes that emit
records and the runtime that allocates buffers take them from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from proton._native import DeviceBuffer
from proton.errors import UsageError

RecordMap = Mapping[str, Any]  # JSON: how the buffers of a kernel are read

RECORD_BYTES = DeviceBuffer.RECORD_BYTES
HEADER_BYTES = DeviceBuffer.HEADER_BYTES
MAGIC = DeviceBuffer.MAGIC
REGION_LIMIT = DeviceBuffer.REGION_LIMIT
MIN_RING_BYTES = 2 * RECORD_BYTES


class RecordKind(IntEnum):
    """What a record says.

    The payload of a tag is 0, or bits 32 to 47 of the clock. A VALUE takes two records: word 0 of
    the second is the high word of 64 bits, or the tag again, with no payload, where the value has
    32; word 1 is the low word.
    """

    START = DeviceBuffer.KIND_START
    END = DeviceBuffer.KIND_END
    MARK = DeviceBuffer.KIND_MARK
    VALUE = DeviceBuffer.KIND_VALUE


def pack_tag(kind: RecordKind, region: int) -> int:
    """Word 0 of a record with no payload, as an unsigned number of 32 bits."""
    if not 0 <= region < REGION_LIMIT:
        raise UsageError(
            f"region id {region} is out of range; a kernel has ids below {REGION_LIMIT}"
        )
    return kind << DeviceBuffer.KIND_SHIFT | region << DeviceBuffer.REGION_SHIFT


@dataclass(frozen=True, slots=True)
class Geometry:
    """How the buffer of one launch is divided: all rings, then all headers.

    A slot is a recorded warp of a CTA: `cta * warp_count + warp`, where `warp` counts the recorded
    warps only. Rings stand at multiples of their size, so a buffer aligned to it has aligned rings.
    """

    cta_count: int
    warp_count: int  # recorded warps of a CTA
    ring_bytes: int  # of a warp; 0: headers only

    def __post_init__(self) -> None:
        if self.cta_count < 1 or self.warp_count < 1:
            raise UsageError(
                f"a buffer of {self.cta_count} CTAs with {self.warp_count} warps holds nothing; "
                "both must be at least 1"
            )
        check_ring_bytes(self.ring_bytes)

    @property
    def slot_count(self) -> int:
        """Recorded warps of the launch."""
        return self.cta_count * self.warp_count

    @property
    def size_bytes(self) -> int:
        """The size of the whole buffer."""
        return self.header_offset(self.slot_count)

    def ring_offset(self, slot: int) -> int:
        """Where the ring of a slot begins, in bytes."""
        return slot * self.ring_bytes

    def header_offset(self, slot: int) -> int:
        """Where the header of a slot begins, in bytes."""
        return self.slot_count * self.ring_bytes + slot * HEADER_BYTES


def check_ring_bytes(ring_bytes: int) -> None:
    """Raise UsageError for a size that no ring can have."""
    if ring_bytes == 0:
        return
    if ring_bytes < MIN_RING_BYTES or ring_bytes & (ring_bytes - 1):
        raise UsageError(
            f"a ring of {ring_bytes} bytes cannot be; give 0 or a power of two "
            f"from {MIN_RING_BYTES} on"
        )
