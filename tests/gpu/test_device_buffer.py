"""A kernel in CUDA C writes our records: the decoder against real clocks, no passes needed."""

from __future__ import annotations

from typing import Any

import pytest

from proton._native import DecodedBuffer, DeviceBuffer
from proton.inkernel.ir.layout import MAGIC, Geometry, RecordKind, pack_tag

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(120)]

SPIN_CYCLES = 20_000
PASSAGES = 6
REGIONS = [{"name": "outer", "kind": "scope"}, {"name": "spin", "kind": "scope"}]
RECORD_MAP = {"regions": REGIONS}
TAGS = {
    "OUTER_START": pack_tag(RecordKind.START, 0),
    "OUTER_END": pack_tag(RecordKind.END, 0),
    "SPIN_START": pack_tag(RecordKind.START, 1),
    "SPIN_END": pack_tag(RecordKind.END, 1),
    "MAGIC": MAGIC,
}
SOURCE = r"""
__device__ unsigned long long global_time() {
  unsigned long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t;
}
__device__ unsigned sm_id() { unsigned s; asm volatile("mov.u32 %0, %smid;" : "=r"(s)); return s; }
__device__ void record(unsigned* ring, unsigned mask, unsigned& bytes, unsigned tag) {
  unsigned at = (bytes & mask) / 4;
  ring[at] = tag;
  ring[at + 1] = (unsigned)clock64();
  bytes += 8;
}
extern "C" __global__ void spin(unsigned char* buffer, unsigned ring_bytes, int passages,
                                long long cycles) {
  unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32;
  if (threadIdx.x % 32 != 0) return;
  unsigned long long slots = (unsigned long long)gridDim.x * warps;
  unsigned long long slot = (unsigned long long)blockIdx.x * warps + warp;
  unsigned* ring = (unsigned*)(buffer + slot * ring_bytes);
  unsigned char* header = buffer + slots * ring_bytes + slot * 64;
  unsigned bytes = 0, mask = ring_bytes - 1;
  ((unsigned long long*)header)[3] = global_time();
  ((unsigned long long*)header)[4] = clock64();
  record(ring, mask, bytes, OUTER_START);
  for (int i = 0; i < passages; ++i) {
    record(ring, mask, bytes, SPIN_START);
    long long until = clock64() + cycles;
    while (clock64() < until) {}
    record(ring, mask, bytes, SPIN_END);
  }
  record(ring, mask, bytes, OUTER_END);
  ((unsigned long long*)header)[5] = global_time();
  ((unsigned long long*)header)[6] = clock64();
  unsigned* words = (unsigned*)header;
  words[1] = blockIdx.x; words[2] = warp; words[3] = sm_id();
  words[4] = bytes; words[5] = ring_bytes; words[0] = MAGIC;
}
"""


def launch(geometry: Geometry, passages: int = PASSAGES) -> tuple[DecodedBuffer, float]:
    """What one launch recorded, and its milliseconds by events around it."""
    cupy: Any = pytest.importorskip("cupy")
    try:
        device_count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        device_count = 0
    if device_count == 0:
        pytest.skip("needs a GPU")
    options = tuple(f"-D{name}={value}u" for name, value in TAGS.items())
    kernel = cupy.RawKernel(SOURCE, "spin", options=options)
    buffer = cupy.zeros(geometry.size_bytes, dtype=cupy.uint8)
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    arguments = (buffer, cupy.uint32(geometry.ring_bytes), passages, cupy.int64(SPIN_CYCLES))
    for _ in range(2):  # the first is slower than its work
        begin.record()
        kernel((geometry.cta_count,), (32 * geometry.warp_count,), arguments)
        end.record()
        end.synchronize()
    milliseconds = float(cupy.cuda.get_elapsed_time(begin, end))
    data = buffer.get().tobytes()
    kernel_ns = (10**9, 10**9 + int(milliseconds * 1e6))
    return DeviceBuffer.decode(
        data, geometry, RECORD_MAP, kernel_ns=kernel_ns, spans=True
    ), milliseconds


def test_every_record_of_a_real_kernel_is_matched() -> None:
    geometry = Geometry(cta_count=264, warp_count=4, ring_bytes=256)
    decoded, _ = launch(geometry)
    assert decoded.losses() == {}
    outer, spin = decoded.regions()
    assert (outer.count, spin.count) == (1056, 1056 * PASSAGES)
    assert spin.parent == 0
    assert spin.min_cycles >= SPIN_CYCLES
    assert spin.cycles / spin.count == pytest.approx(SPIN_CYCLES, rel=0.02)


def test_the_frequency_is_that_of_the_machine_and_sms_agree() -> None:
    decoded, _ = launch(Geometry(cta_count=264, warp_count=4, ring_bytes=256))
    print(f"{decoded.cycles_per_ns:.4f} GHz, steps of {decoded.time_step_ns} ns")
    assert 0.2 < decoded.cycles_per_ns < 4
    for sm, warps, cycles_per_ns, residual_ns in decoded.sms():
        what = f"SM {sm} of {warps} warps: {cycles_per_ns} cycles per ns, {residual_ns} ns off"
        assert cycles_per_ns == pytest.approx(decoded.cycles_per_ns, rel=0.05), what
        assert residual_ns < 1000 + decoded.time_step_ns, what


def test_warps_lie_within_the_kernel_as_the_host_saw_it() -> None:
    decoded, milliseconds = launch(Geometry(cta_count=132, warp_count=4, ring_bytes=256))
    assert decoded.is_host_time
    end_ns = 10**9 + int(milliseconds * 1e6)
    assert min(warp.start_ns for warp in decoded.warps()) >= 10**9
    assert max(warp.end_ns for warp in decoded.warps()) <= end_ns
    for _, _, _, start_ns, stop_ns, _ in decoded.spans():
        assert 10**9 - 1000 <= start_ns <= stop_ns <= end_ns + 1000


def test_an_overwritten_ring_keeps_its_last_records_at_their_times() -> None:
    decoded, _ = launch(Geometry(cta_count=8, warp_count=2, ring_bytes=64))
    losses = decoded.losses()
    assert losses == {"overwritten_records": 16 * 6, "overwritten_starts": 16 * 2}
    regions = {region.region: region for region in decoded.regions()}
    assert regions[1].count == 16 * 3
    assert SPIN_CYCLES <= regions[1].min_cycles < 1.1 * SPIN_CYCLES
