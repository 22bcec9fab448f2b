"""The layout as the passes see it, held against what the shared contract says in numbers."""

import pytest

from proton._native import DeviceBuffer
from proton.errors import UsageError
from proton.inkernel.ir import layout
from proton.inkernel.ir.layout import Geometry, RecordKind, pack_tag


def test_records_and_headers_have_the_sizes_of_the_contract() -> None:
    assert (layout.RECORD_BYTES, layout.HEADER_BYTES) == (8, 64)
    assert layout.MAGIC.to_bytes(4, "big") == b"PROT"
    assert (layout.REGION_LIMIT, DeviceBuffer.PAYLOAD_BITS) == (1 << 14, 16)


def test_a_tag_has_kind_and_region_from_the_top_down_above_its_payload() -> None:
    assert pack_tag(RecordKind.START, 0) == 0
    assert pack_tag(RecordKind.END, 5) == 1 << 30 | 5 << 16
    assert pack_tag(RecordKind.MARK, 1) == 2 << 30 | 1 << 16
    assert pack_tag(RecordKind.VALUE, 16383) == 0xFFFF0000


def test_header_fields_stand_where_kernels_write_them() -> None:
    fields = (
        *("MAGIC", "CTA", "WARP", "SM", "WRITTEN_BYTES", "RING_BYTES", "START_TIME"),
        *("START_CLOCK", "END_TIME", "END_CLOCK", "MAILBOX_WRITTEN", "MAILBOX_DRAINED"),
    )
    offsets = [getattr(DeviceBuffer, f"OFFSET_{field}") for field in fields]
    assert offsets == [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 56, 60]


@pytest.mark.parametrize("region", [-1, 1 << 14])
def test_a_region_id_that_does_not_fit_is_refused(region: int) -> None:
    with pytest.raises(UsageError, match=rf"region id {region} is out of range.*below 16384"):
        pack_tag(RecordKind.MARK, region)


def test_rings_come_first_then_headers() -> None:
    geometry = Geometry(cta_count=3, warp_count=4, ring_bytes=1024)
    assert geometry.slot_count == 12
    assert geometry.ring_offset(5) == 5 * 1024
    assert geometry.header_offset(0) == 12 * 1024
    assert geometry.header_offset(5) == 12 * 1024 + 5 * 64
    assert geometry.size_bytes == 12 * (1024 + 64)


def test_a_buffer_may_have_headers_only() -> None:
    assert Geometry(2, 4, 0).size_bytes == 8 * 64


@pytest.mark.parametrize("ring_bytes", [8, 24, 1000, -16])
def test_a_ring_is_a_power_of_two(ring_bytes: int) -> None:
    with pytest.raises(UsageError, match=f"a ring of {ring_bytes} bytes cannot be.*from 16 on"):
        Geometry(1, 1, ring_bytes)


@pytest.mark.parametrize(("ctas", "warps"), [(0, 4), (4, 0)])
def test_a_buffer_for_nobody_is_refused(ctas: int, warps: int) -> None:
    with pytest.raises(UsageError, match="holds nothing; both must be at least 1"):
        Geometry(ctas, warps, 1024)
