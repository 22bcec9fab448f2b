"""Counters of bytes and heat maps on a GPU, held against what kernels are known to do.

Nothing of the runtime takes part: the tests give the profile buffer and read it themselves.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from proton.inkernel.memory_counts import MemoryReport, TensorRange, read_memory, tensor_ranges
from proton.inkernel.passes.count_bytes import CountBytes
from proton.inkernel.passes.record_memory import RecordMemory
from proton.inkernel.tool import Tool, launch
from proton.inkernel.tool_layouts import MemoryLayout, ToolBuffer
from tests.gpu.tools import CountedByCallback

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

PAGE = 4096
BOTH = pytest.mark.parametrize(
    "first", [CountBytes(), RecordMemory()], ids=["count-bytes", "record-memory"]
)


class Buffer:
    """The profile buffer of a launch."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.bytes: Any = None
        self.is_kept = False  # give the same again, as it is: clearing it would be timed

    def __call__(self, size: int, alignment: int, stream: Any) -> Any:
        if self.is_kept and self.bytes is not None:
            return self.bytes
        raw = self.torch.zeros(size + alignment, dtype=self.torch.uint8, device="cuda")
        self.raw = raw
        self.bytes = raw[-raw.data_ptr() % alignment :][:size]
        return self.bytes


@dataclass
class Launched:
    """A kernel that was compiled with counters in it; each call is a launch."""

    torch: Any
    launch: Callable[[], Any]
    buffer: Buffer
    seen: dict[str, Any]
    grid_ctas: int
    tensors: tuple[TensorRange, ...]

    def report(self) -> MemoryReport:
        """Launch once and read what that left."""
        self.torch.cuda.synchronize()
        self.launch()
        self.torch.cuda.synchronize()
        data = self.buffer.bytes.cpu().numpy().tobytes()
        return read_memory(data, self.seen["lowering"].record_map, self.grid_ctas, self.tensors)


@pytest.fixture
def prepare(torch: Any) -> Iterator[Callable[..., Launched]]:
    """Compile a kernel of tests.support.memory_kernels with `first` and the lowering after it."""
    import triton
    from triton.runtime._allocation import set_profile_allocator

    from tests.support import carrier_kernels, memory_kernels

    def make(
        name: str, first: tuple[Any, ...], grid: tuple[int, ...], *arguments: Any, **options: Any
    ) -> Launched:
        allocation = options.pop("allocation", {})
        passes = memory_kernels.lowered(first, "cuda", **allocation) if first else ()
        seen, edit = carrier_kernels.editor(lambda metadata: passes)
        kernel = triton.jit(getattr(memory_kernels, name).fn)  # no other kernel's cache
        buffer = Buffer(torch)

        def launch() -> None:
            with carrier_kernels.stages_edited(edit):
                set_profile_allocator(buffer)
                kernel[grid](*arguments, **options)

        launch()  # compiles
        ctas = grid[0] * (grid[1] if len(grid) > 1 else 1)
        ranges = tensor_ranges(kernel.arg_names, arguments)
        return Launched(torch, launch, buffer, seen, ctas, ranges)

    yield make
    set_profile_allocator(None)


def bytes_by_kind(report: MemoryReport) -> dict[str, int]:
    found: dict[str, int] = {}
    for counter in report.counters:
        found[counter.kind] = found.get(counter.kind, 0) + counter.bytes
    return found


@BOTH
@pytest.mark.parametrize("count", [1 << 20, 1000003, 5, 1], ids=["even", "odd", "five", "one"])
def test_adding_n_floats_reads_8_n_bytes_and_writes_4_n(
    torch: Any, prepare: Callable[..., Launched], first: Any, count: int
) -> None:
    x, y = (torch.rand(count, device="cuda") for _ in range(2))
    z = torch.zeros(count, device="cuda")
    grid = ((count + 255) // 256,)
    launched = prepare("add", (first,), grid, x, y, z, count, BLOCK=256)
    report = launched.report()
    assert torch.equal(z, x + y), "the result is bit-identical"
    assert bytes_by_kind(report) == {"load": 8 * count, "store": 4 * count}, report.counters
    assert report.losses == {}
    assert [counter.bytes for counter in report.counters] == [4 * count] * 3


def test_a_heat_map_has_every_page_once(torch: Any, prepare: Callable[..., Launched]) -> None:
    count = 100 * PAGE // 4
    whole = torch.zeros(3 * count + 1024, device="cuda")
    whole = whole[-whole.data_ptr() % PAGE // 4 :]  # tensors begin at a page
    x, y, z = (whole[at * count : (at + 1) * count] for at in range(3))
    launched = prepare("add", (RecordMemory(),), (count // 256,), x, y, z, count, BLOCK=256)
    report = launched.report()
    assert [heat.tensor for heat in report.heat] == ["x_ptr", "y_ptr", "z_ptr"]
    for heat in report.heat:
        assert heat.byte_bins == (PAGE,) * 100
        assert heat.bytes == 4 * count
    assert report.heat[0].store_bytes == report.heat[2].load_bytes == 0
    assert report.losses == {}


@pytest.mark.parametrize("stride", [1, 16, 1024, 4096], ids=lambda stride: f"stride {stride}")
def test_a_strided_gather_lights_the_pages_it_touches(
    torch: Any, prepare: Callable[..., Launched], stride: int
) -> None:
    lanes, ctas = 256, 4
    x = torch.rand(lanes * ctas * stride + 1024, device="cuda")
    x = x[-x.data_ptr() % PAGE // 4 :]
    y = torch.zeros(lanes * ctas, device="cuda")
    launched = prepare("gather", (RecordMemory(),), (ctas,), x, y, stride, BLOCK=lanes)
    report = launched.report()
    assert torch.equal(y, x[: lanes * ctas * stride : stride])
    heat = {each.tensor: each for each in report.heat}["x_ptr"]
    assert heat.start == x.data_ptr()
    expected = [0] * len(heat.byte_bins)
    for lane in range(lanes * ctas):  # bytes, for Triton joins neighbours into one access
        expected[lane * stride * 4 // heat.bin_bytes] += 4
    wrong = [
        (at, got, want)
        for at, (got, want) in enumerate(zip(heat.byte_bins, expected, strict=True))
        if got != want
    ]
    is_right = not wrong
    assert is_right, f"{len(wrong)} bins of {heat.bin_bytes} bytes are wrong: {wrong[:5]}"
    assert heat.bytes == lanes * ctas * 4
    assert heat.accesses == sum(heat.bins)
    assert report.losses == {}


def test_loops_and_atomics_count_as_often_as_they_run(
    torch: Any, prepare: Callable[..., Launched]
) -> None:
    ctas, block = 40, 256
    x = torch.ones(ctas * block, device="cuda")
    y = torch.zeros(block, device="cuda")
    launched = prepare("rows", (RecordMemory(),), (ctas,), x, y, 0, BLOCK=block)
    y.zero_()
    report = launched.report()
    rows = ctas * (ctas + 1) // 2
    assert torch.equal(y, torch.full_like(y, rows))
    found = bytes_by_kind(report)
    assert found == {"load": rows * block * 4, "atomic": ctas * block * 4}
    heat = {each.tensor: each for each in report.heat}
    assert heat["x_ptr"].load_bytes == rows * block * 4
    assert heat["y_ptr"].store_bytes == ctas * block * 4
    bins = heat["x_ptr"].bins
    half = len(bins) // 2
    assert sum(bins[:half]) > 2 * sum(bins[-half:]) > 0, f"the first rows are the hottest: {bins}"


def test_every_warp_says_its_first_address(torch: Any, prepare: Callable[..., Launched]) -> None:
    count = 64 * 256
    x, y, z = (torch.zeros(count, device="cuda") for _ in range(3))
    report = prepare("add", (RecordMemory(),), (64,), x, y, z, count, BLOCK=256).report()
    first = {(site, cta, warp): at for site, cta, warp, at in report.first_addresses}
    width = report.counters[0].bytes // report.counters[0].accesses
    lanes = 256 * 4 // width  # that have something to load
    assert len([key for key in first if key[0] == 0]) == 64 * max(1, lanes // 32)
    for (site, cta, warp), address in first.items():
        base = (x, y, z)[site].data_ptr()
        assert address == base + cta * 1024 + warp * 32 * width


def test_a_small_table_has_larger_bins_and_loses_nothing(
    torch: Any, prepare: Callable[..., Launched]
) -> None:
    count = 1024 * PAGE // 4
    x, y, z = (torch.zeros(count, device="cuda") for _ in range(3))
    first = RecordMemory(bins=16, bin_bytes=16)  # far fewer rows than pieces of 16 bytes
    report = prepare("add", (first,), (count // 256,), x, y, z, count, BLOCK=256).report()
    assert [heat.bytes for heat in report.heat] == [4 * count] * 3
    for heat in report.heat:
        assert heat.bin_bytes > 16
        assert set(heat.byte_bins) == {4 * count // len(heat.byte_bins)}
    assert report.losses == {}


@pytest.mark.parametrize("stride", [1, 4096], ids=lambda stride: f"stride {stride}")
def test_memory_behind_a_pointer_that_is_loaded_counts_for_its_tensor(
    torch: Any, prepare: Callable[..., Launched], stride: int
) -> None:
    lanes, ctas = 256, 8
    x = torch.rand(lanes * ctas * stride + PAGE, device="cuda")
    x = x[-x.data_ptr() % PAGE // 4 :]
    address = torch.tensor([x.data_ptr()], device="cuda")
    y = torch.zeros(lanes * ctas, device="cuda")
    launched = prepare("through", (RecordMemory(),), (ctas,), address, y, stride, BLOCK=lanes)
    launched.tensors = (*launched.tensors, TensorRange("x", x.data_ptr(), x.numel() * 4))
    report = launched.report()
    assert torch.equal(y, x[: lanes * ctas * stride : stride])
    heat = {each.tensor: each for each in report.heat}
    assert heat["y_ptr"].store_bytes == lanes * ctas * 4
    assert heat["address_ptr"].load_bytes == sum(
        counter.bytes for counter in report.counters if counter.argument == 0
    )
    dropped = report.losses.get("dropped_bytes", 0)
    assert heat["x"].load_bytes + dropped == lanes * ctas * 4
    # eight CTAs have 512 hashed bins; a stride of four pages asks for 2048
    assert (dropped > 0) == (stride > 1)
    assert heat["x"].load_bytes > 0


def test_only_recorded_ctas_count(torch: Any, prepare: Callable[..., Launched]) -> None:
    count = 64 * 256
    x, y, z = (torch.zeros(count, device="cuda") for _ in range(3))
    launched = prepare(
        "add", (RecordMemory(),), (64,), x, y, z, count, BLOCK=256, allocation={"cta_every": 4}
    )
    report = launched.report()
    assert bytes_by_kind(report) == {"load": 8 * count // 4, "store": 4 * count // 4}
    assert sum(heat.bytes for heat in report.heat) == 12 * count // 4


@dataclass(frozen=True)
class Heat(Tool):
    """The heat map as a tool."""

    name: str = field(default="heat", init=False)
    passes: ClassVar[Any] = ("record-ctas", "record-memory")
    layout: ClassVar[Any] = MemoryLayout()
    seen: ClassVar[list[MemoryReport]] = []

    def on_buffer(self, buffer: ToolBuffer) -> None:
        self.seen.append(buffer.contents)


@pytest.mark.parametrize("kind", [CountedByCallback, Heat])
def test_a_tool_gets_what_its_kernels_wrote(
    torch: Any, kind: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import triton

    from tests.support import memory_kernels

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    count = 100_000
    x, y = (torch.rand(count, device="cuda") for _ in range(2))
    z = torch.zeros(count, device="cuda")
    kernel = triton.jit(memory_kernels.add.fn)
    kind.seen.clear()
    launch(kind(), kernel, (-(-count // 256),), x, y, z, count, BLOCK=256)
    assert torch.equal(z, x + y)
    (found,) = kind.seen
    if kind is Heat:
        assert bytes_by_kind(found) == {"load": 8 * count, "store": 4 * count}
        assert {heat.tensor: heat.bytes for heat in found.heat} == dict.fromkeys(
            ("x_ptr", "y_ptr", "z_ptr"), 4 * count
        )
    else:
        assert found == (8 * count, 4 * count)
    z.zero_()
    kernel[(-(-count // 256),)](x, y, z, count, BLOCK=256)
    assert torch.equal(z, x + y), "the plain kernel is itself again"
    assert len(kind.seen) == 1


def test_a_session_says_where_warps_began_and_what_each_bin_moved(
    torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import triton

    import proton
    from proton.files.detect import open_profile
    from tests.support import memory_kernels

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    count = 64 * 256
    x, y, z = (torch.zeros(count, device="cuda") for _ in range(3))
    kernel = triton.jit(memory_kernels.add.fn)
    session = proton.start(str(tmp_path / "run"), backend="instrumentation", mode="memory")
    kernel[(64,)](x, y, z, count, BLOCK=256)
    proton.finalize(session)
    (found,) = open_profile(tmp_path / "run.hatchet").in_kernel
    for site in found.accesses:
        width = site.bytes // site.accesses
        assert 0 < len(site.first) <= 64 <= site.first_of, site
        for first in site.first:
            assert first.tensor == site.tensor, first
            assert first.offset == first.cta * 1024 + first.warp * 32 * width, first
    for heat in found.heat:
        assert sum(heat.byte_bins) == heat.bytes == 4 * count, heat
        assert len(heat.byte_bins) == len(heat.bins)


HEADS, LENGTH, DEPTH = 64, 1024, 64


def attention(torch: Any, prepare: Callable[..., Launched], *first: Any) -> tuple[Any, Launched]:
    torch.manual_seed(0)
    q, k, v = (
        torch.randn(HEADS, LENGTH, DEPTH, device="cuda", dtype=torch.float16) for _ in range(3)
    )
    out = torch.empty_like(q)
    options = {"N": LENGTH, "D": DEPTH, "BLOCK": 64, "num_warps": 4, "num_stages": 3}
    grid = (LENGTH // 64, HEADS)
    return out, prepare("attention", first, grid, q, k, v, out, DEPTH**-0.5, **options)


def test_attention_reads_keys_and_values_once_for_each_block_of_queries(
    torch: Any, prepare: Callable[..., Launched]
) -> None:
    plain, launched = attention(torch, prepare)
    launched.launch()
    out, counted = attention(torch, prepare, RecordMemory())
    report = counted.report()
    assert torch.equal(out, plain), "the result is bit-identical"
    size = HEADS * LENGTH * DEPTH * 2
    heat = {each.tensor: each.bytes for each in report.heat}
    assert heat == {
        "q_ptr": size,
        "k_ptr": size * LENGTH // 64,
        "v_ptr": size * LENGTH // 64,
        "out_ptr": size,
    }
    assert report.losses == {}


@pytest.mark.parametrize(
    ("first", "bar"), [(CountBytes(), 1.1), (RecordMemory(), 2.5)], ids=["bytes", "heat map"]
)
def test_attention_is_slowed_by_no_more_than_its_bar(
    torch: Any, prepare: Callable[..., Launched], first: Any, bar: float
) -> None:
    _, plain = attention(torch, prepare)
    _, counted = attention(torch, prepare, first)
    counted.buffer.is_kept = True
    stamps = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(2)]
    ratios = []
    for _ in range(15):
        times = []
        for each, (start, end) in zip((plain, counted), stamps, strict=True):
            each.launch()
            torch.cuda.synchronize()
            torch.cuda._sleep(2_000_000)  # the host is ahead: allocation is not timed
            start.record()
            each.launch()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        ratios.append(times[1] / times[0])
    print(f"attention with {first.name}: {statistics.median(ratios):.3f}x, {sorted(ratios)}")
    assert statistics.median(ratios) <= bar, sorted(ratios)
