"""Records that the passes on LLVM text put into kernels, read back from the GPU word by word.

Nothing of the runtime takes part: the tests give the profile buffer and read it themselves.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proton.inkernel.ir.layout import HEADER_BYTES, MAGIC, RECORD_BYTES
from proton.inkernel.passes.allocate_global import AllocateGlobal
from proton.inkernel.passes.allocate_shared import AllocateShared
from proton.inkernel.passes.lower_records_circular import LowerRecordsCircular
from proton.inkernel.passes.lower_records_flush import LowerRecordsFlush
from proton.inkernel.passes.lower_to_nvidia import LowerToNvidia

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

CTAS, STEPS, TURNS = 6, 4, 20
RECORDS = 2 * STEPS * TURNS  # of a warp of `looped`
DEAD = 0xFFFFFFFF


class Buffer:
    """The profile buffer of one launch, and what stands in it."""

    def __init__(self, torch: Any, is_pinned: bool) -> None:
        self.torch, self.is_pinned = torch, is_pinned
        self.bytes: Any = None
        self.ready = threading.Event()

    def __call__(self, size: int, alignment: int, stream: Any) -> Any:
        place = {"pin_memory": True} if self.is_pinned else {"device": "cuda"}
        raw = self.torch.zeros(size + alignment, dtype=self.torch.uint8, **place)
        self.raw = raw
        self.bytes = raw[-raw.data_ptr() % alignment :][:size]
        self.torch.cuda.synchronize()
        self.ready.set()
        return self.bytes

    def words(self) -> Any:
        return self.bytes.cpu().numpy().view("uint32")


class Warp:
    """One slot: its header by name, its records as (kind, id, payload, clock) in order."""

    def __init__(self, words: Any, slot: int, slots: int, ring: int) -> None:
        at = (slots * ring + slot * HEADER_BYTES) // 4
        header = [int(word) for word in words[at : at + HEADER_BYTES // 4]]
        self.magic, self.cta, self.warp, self.sm, self.written, self.ring = header[:6]
        pair = [low | high << 32 for low, high in zip(header[6::2], header[7::2], strict=True)]
        self.start_ns, self.start_clock, self.end_ns, self.end_clock = pair[:4]
        self.mailbox = header[14:16]
        ring_words = [int(word) for word in words[slot * ring // 4 : (slot + 1) * ring // 4]]
        count = self.written // RECORD_BYTES
        kept = range(max(0, count - ring // RECORD_BYTES), count) if ring else range(0)
        places = [2 * (number % (ring // RECORD_BYTES)) for number in kept]
        self.records = [
            (word >> 30, word >> 16 & 0x3FFF, word & 0xFFFF, ring_words[place + 1])
            for place in places
            for word in (ring_words[place],)
        ]


class Launched:
    """What a launch left: the warps of its slots, and what the passes decided."""

    def __init__(self, buffer: Buffer, lowering: Any, cta_count: int) -> None:
        self.map = lowering.record_map
        ring, streams = self.map["ring_bytes"], len(self.map["warps"])
        slots = cta_count * streams
        words = buffer.words()
        self.warps = [Warp(words, slot, slots, ring) for slot in range(slots)]


@pytest.fixture
def launch(torch: Any) -> Iterator[Callable[..., Launched]]:
    """Launch a kernel with records: passes, CTAs that are recorded, arguments."""
    import triton
    from triton.runtime._allocation import set_profile_allocator

    from tests.support import carrier_kernels

    def run(
        name: str,
        passes: tuple[Any, ...],
        *arguments: Any,
        recorded: int = CTAS,
        host: Callable[[Buffer], None] | None = None,
        **constants: Any,
    ) -> Launched:
        buffer = Buffer(torch, is_pinned=host is not None)
        set_profile_allocator(buffer)
        seen, edit = carrier_kernels.editor(lambda metadata: passes)
        kernel = triton.jit(getattr(carrier_kernels, name).fn)  # no other kernel's cache
        draining = threading.Thread(target=host, args=(buffer,)) if host else None
        if draining:
            draining.start()
        with carrier_kernels.stages_edited(edit):
            kernel[(CTAS,)](*arguments, **constants, num_warps=4)
            torch.cuda.synchronize()
        if draining:
            draining.join(timeout=20)
            assert not draining.is_alive()
        return Launched(buffer, seen["lowering"], recorded)

    yield run
    set_profile_allocator(None)


def expected_result(torch: Any) -> Any:
    x = torch.ones(CTAS, device="cuda")
    for _ in range(STEPS * TURNS):
        x = x * 1.5 + 2.0
    return x + 1


def check_header(warp: Warp, cta: int, number: int) -> None:
    assert warp.magic == MAGIC
    assert (warp.cta, warp.warp) == (cta, number)
    assert warp.sm < 1024
    assert warp.start_ns < warp.end_ns + 1000, "the global timer went backwards"
    assert 0 < warp.end_clock - warp.start_clock < 1 << 32


def check_records(warp: Warp, count: int) -> None:
    kinds = [record[0] for record in warp.records]
    assert len(kinds) == count
    assert kinds == [0, 1] * (count // 2)
    clocks = [record[3] for record in warp.records]
    steps = [(later - earlier) & 0xFFFFFFFF for earlier, later in itertools.pairwise(clocks)]
    assert all(0 < step < 1 << 24 for step in steps), steps
    from_start = (clocks[0] - warp.start_clock) & 0xFFFFFFFF
    to_end = (warp.end_clock - clocks[-1]) & 0xFFFFFFFF
    assert from_start < 1 << 28
    assert to_end < 1 << 28


@pytest.mark.parametrize("late", [False, True], ids=["one piece", "sched_stores"])
@pytest.mark.parametrize("clock32", [True, False], ids=["clock32", "clock48"])
@pytest.mark.parametrize(
    ("passes", "kept"),
    [
        ((LowerRecordsCircular(), AllocateGlobal()), RECORDS),
        ((LowerRecordsCircular(), AllocateGlobal(ring_bytes=256)), 32),
        ((LowerRecordsCircular(), AllocateShared(stage_bytes=256)), 32),
        ((LowerRecordsCircular(), AllocateShared(stage_bytes=2048)), RECORDS),
        ((LowerRecordsFlush(), AllocateShared(stage_bytes=256, ring_bytes=2048)), RECORDS),
        ((LowerRecordsFlush(), AllocateShared(stage_bytes=64, ring_bytes=512)), 64),
    ],
    ids=["global", "global wraps", "shared wraps", "shared", "flush", "flush wraps"],
)
def test_every_record_arrives_and_the_result_stays(
    torch: Any,
    launch: Callable[..., Launched],
    passes: tuple[Any, ...],
    kept: int,
    clock32: bool,
    late: bool,
) -> None:
    x = torch.ones(CTAS, device="cuda")
    last = LowerToNvidia(clock32=clock32, sched_stores=late)
    launched = launch("looped", (*passes, last), x, TURNS, COUNT=STEPS)
    assert torch.allclose(x, expected_result(torch), rtol=1e-5)
    assert len(launched.warps) == CTAS * 4
    for slot, warp in enumerate(launched.warps):
        check_header(warp, *divmod(slot, 4))
        assert warp.written == RECORDS * RECORD_BYTES
        check_records(warp, kept)
        if not clock32:
            above = {record[2] for record in warp.records}
            assert above <= {warp.start_clock >> 32 & 0xFFFF, warp.end_clock >> 32 & 0xFFFF}


def test_only_chosen_warps_and_ctas_write(torch: Any, launch: Callable[..., Launched]) -> None:
    x = torch.ones(CTAS, device="cuda")
    allocate = AllocateGlobal(units=(1, 3), cta_every=4)
    passes = (LowerRecordsCircular(), allocate, LowerToNvidia())
    launched = launch("looped", passes, x, TURNS, COUNT=STEPS, recorded=2)
    assert [(warp.cta, warp.warp) for warp in launched.warps] == [(0, 1), (0, 3), (4, 1), (4, 3)]
    for warp in launched.warps:
        check_records(warp, RECORDS)


@pytest.mark.parametrize("shared", [False, True], ids=["global", "shared"])
def test_listed_ctas_have_slots_of_their_own(
    torch: Any, launch: Callable[..., Launched], shared: bool
) -> None:
    x = torch.ones(CTAS, device="cuda")
    kind: Any = AllocateShared if shared else AllocateGlobal
    passes = (LowerRecordsCircular(), kind(granularity="cta", ctas=(1, 5)), LowerToNvidia())
    launched = launch("looped", passes, x, TURNS, COUNT=STEPS, recorded=2)
    assert [(warp.cta, warp.warp) for warp in launched.warps] == [(1, 0), (5, 0)]
    assert all(warp.written == RECORDS * RECORD_BYTES for warp in launched.warps)


def test_values_arrive_in_both_widths(torch: Any, launch: Callable[..., Launched]) -> None:
    x = torch.zeros(1, device="cuda", dtype=torch.int32)
    number = 123_456_789
    passes = (LowerRecordsCircular(), AllocateGlobal(), LowerToNvidia())
    launched = launch("numbers", passes, x, number)
    small, large = number, number * number
    for warp in launched.warps:
        kinds = [record[0] for record in warp.records]
        assert (kinds[0], kinds[2]) == (3, 3)
        low = warp.records[1][3]
        kind, region, payload, word = warp.records[3]
        assert low == small
        assert (kind << 30 | region << 16 | payload) << 32 | word == large


def test_a_host_that_is_dead_delays_a_kernel_once_and_is_counted(
    torch: Any, launch: Callable[..., Launched]
) -> None:
    x = torch.ones(CTAS, device="cuda")
    passes = (LowerRecordsFlush(spin=1000), AllocateGlobal(ring_bytes=256), LowerToNvidia())
    began = time.monotonic()
    launched = launch("looped", passes, x, TURNS, COUNT=STEPS)
    assert time.monotonic() - began < 30
    assert torch.allclose(x, expected_result(torch), rtol=1e-5)
    for warp in launched.warps:
        assert warp.written == RECORDS * RECORD_BYTES
        assert warp.mailbox[1] == DEAD
        check_records(warp, 32)


def test_a_host_that_drains_gets_every_record(torch: Any, launch: Callable[..., Launched]) -> None:
    ring, slots = 256, CTAS * 4
    taken: dict[int, list[int]] = {slot: [] for slot in range(slots)}
    whole = RECORDS * RECORD_BYTES // ring * ring  # what fills rings; the rest stays in them

    def drain(buffer: Buffer) -> None:
        assert buffer.ready.wait(60)
        words = buffer.bytes.numpy().view("uint32")
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            for slot in range(slots):
                mailbox = (slots * ring + slot * HEADER_BYTES + 56) // 4
                written = int(words[mailbox])
                if written != int(words[mailbox + 1]):
                    taken[slot] += words[slot * ring // 4 : (slot + 1) * ring // 4].tolist()
                    words[mailbox + 1] = written
            if all(len(each) * 4 >= whole for each in taken.values()):
                return

    x = torch.ones(CTAS, device="cuda")
    passes = (LowerRecordsFlush(spin=1 << 22), AllocateGlobal(ring_bytes=ring), LowerToNvidia())
    launched = launch("looped", passes, x, TURNS, COUNT=STEPS, host=drain)
    assert torch.allclose(x, expected_result(torch), rtol=1e-5)
    for slot, warp in enumerate(launched.warps):
        assert warp.mailbox[1] == whole
        assert [tag >> 30 for tag in taken[slot][::2]] == [0, 1] * (whole // ring * ring // 16)
