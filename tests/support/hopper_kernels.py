"""Gluon, TMA and warp-specialised kernels with scopes of their own, for sm_90.

Each case is launched on a GPU and compiled without one from the same arguments.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
from triton.tools.tensor_descriptor import TensorDescriptor

import proton.language as pl
from tests.support.kernels import matmul, softmax
from tests.support.ten_kernels import tma_load, tma_store

BM, BN, BK = 128, 128, 64
SIZE, DEPTH = 256, 512  # of a matrix product: rows and columns, and what is summed over
TURNS, CTAS = DEPTH // BK, (SIZE // BM) * (SIZE // BN)
BLOCK, ROWS, GROUPS = 512, 8, 6
# The warp of `gluon_specialized` that produces. Triton fills partitions up to four warps with empty
# ones of two and one, and numbers larger ones first: warps 4 and 5 and warp 7 are empty.
PRODUCER = 6
barrier = getattr(gl, "thread_barrier", None) or gl.barrier  # Triton 3.9 has another name


@gluon.jit
def gluon_rows(x, y, rows, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.arange(0, BLOCK, layout)
    x += gl.program_id(0) * rows * BLOCK
    total = gl.zeros([BLOCK], gl.float32, layout)
    with pl.scope("rows"):
        for row in range(rows):
            with pl.scope("load"):
                v = gl.load(x + row * BLOCK + at)
            with pl.scope("exp"):
                total += gl.exp(v)
            pl.value("row", row)
    barrier()
    with pl.scope("store"):
        gl.store(y + gl.program_id(0) * BLOCK + at, total)


@gluon.jit
def gluon_tma(a, b, c, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    a_tiles = gl.allocate_shared_memory(a.dtype, [2, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [2, BK, BN], b.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16]
    )
    total = gl.zeros((BM, BN), gl.float32, layout)
    phase = 0
    for k in range(0, K, BK):
        slot = k // BK % 2
        with pl.scope("turn"):
            event = pl.allocate_event("tile")
            with pl.scope("issue"):
                pl.start_event(event)
                mbarrier.expect(full.index(slot), a.block_type.nbytes + b.block_type.nbytes)
                tma_load(a, [m, k], full.index(slot), a_tiles.index(slot))
                tma_load(b, [k, n], full.index(slot), b_tiles.index(slot))
            with pl.scope("wait"):
                mbarrier.wait(full.index(slot), phase=phase)
                pl.end_event(event)
            with pl.scope("mma"):
                total = hopper.warpgroup_mma(
                    a_tiles.index(slot), b_tiles.index(slot), total, is_async=True
                )
                total = hopper.warpgroup_mma_wait(num_outstanding=0, deps=(total,))
        phase ^= slot
    for i in gl.static_range(2):
        mbarrier.invalidate(full.index(i))
    with pl.scope("store"):
        c_tile = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
        c_tile.store(total.to(c.dtype))
        hopper.fence_async_shared()
        tma_store(c, [m, n], c_tile)
        tma.store_wait(pendings=0)


@gluon.jit
def _producer(a, b, a_tiles, b_tiles, full, empty, K, BM, BN, BK: gl.constexpr):
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    phase = 0
    for k in range(0, K, BK):
        slot = k // BK % 2
        with pl.scope("wait empty"):
            mbarrier.wait(empty.index(slot), phase=phase ^ 1)
        with pl.scope("issue"):
            pl.start_event(pl.allocate_event("tile"))
            mbarrier.expect(full.index(slot), a.block_type.nbytes + b.block_type.nbytes)
            tma_load(a, [m, k], full.index(slot), a_tiles.index(slot))
            tma_load(b, [k, n], full.index(slot), b_tiles.index(slot))
        phase ^= slot
        pl.value("k", k)


@gluon.jit
def _consumer(
    c, a_tiles, b_tiles, full, empty, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr
):
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, BN, 16]
    )
    total = gl.zeros((BM, BN), gl.float32, layout)
    phase = 0
    for k in range(0, K, BK):
        slot = k // BK % 2
        with pl.scope("wait full"):
            mbarrier.wait(full.index(slot), phase=phase)
            pl.end_event(pl.allocate_event("tile"))
        with pl.scope("mma"):
            total = hopper.warpgroup_mma(
                a_tiles.index(slot), b_tiles.index(slot), total, is_async=True
            )
            total = hopper.warpgroup_mma_wait(num_outstanding=0, deps=(total,))
        mbarrier.arrive(empty.index(slot), count=1)
        phase ^= slot
    with pl.scope("store"):
        c_tile = gl.allocate_shared_memory(c.dtype, [BM, BN], c.layout)
        c_tile.store(total.to(c.dtype))
        hopper.fence_async_shared()
        tma_store(c, [gl.program_id(0) * BM, gl.program_id(1) * BN], c_tile)
        tma.store_wait(pendings=0)


@gluon.jit
def gluon_specialized(a, b, c, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    a_tiles = gl.allocate_shared_memory(a.dtype, [2, BM, BK], a.layout)
    b_tiles = gl.allocate_shared_memory(b.dtype, [2, BK, BN], b.layout)
    full = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [2, 1], mbarrier.MBarrierLayout())
    for i in gl.static_range(2):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    with pl.scope("all"):
        gl.warp_specialize(
            [
                (_consumer, (c, a_tiles, b_tiles, full, empty, K, BM, BN, BK)),
                (_producer, (a, b, a_tiles, b_tiles, full, empty, K, BM, BN, BK)),
            ],
            [1],
            [24],
        )


@triton.jit
def _product(a, b, m, n, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    total = tl.zeros((BM, BN), tl.float32)
    with pl.scope("loop"):
        for k in range(0, K, BK):
            with pl.scope("load"):
                x = a.load([m, k])
                y = b.load([k, n])
            with pl.scope("dot"):
                total = tl.dot(x, y, total)
    return total.to(tl.float16)


@triton.jit
def _tile(m, n, N, BM: tl.constexpr, BN: tl.constexpr):
    return (m + tl.arange(0, BM))[:, None] * N + (n + tl.arange(0, BN))[None, :]


@triton.jit
def made_on_device(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_rows = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    c_rows = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = _product(a_rows, b_rows, m, n, K, BM, BN, BK)
    with pl.scope("store"):
        c_rows.store([m, n], total)


@triton.jit
def made_on_host(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = _product(a, b, m, n, K, BM, BN, BK)
    with pl.scope("store"):
        tl.store(c + _tile(m, n, N, BM, BN), total)


# Triton 3.6 gives each of two partitions half a tile, and no descriptor of half a tile where the
# host has made it: their barriers would wait for ever.
@triton.jit
def specialized(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_rows = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_rows = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        total = tl.dot(a_rows.load([m, k]), b_rows.load([k, n]), total)
    with pl.scope("store"):
        tl.store(c + _tile(m, n, N, BM, BN), total.to(tl.float16))


@dataclass
class Prepared:
    """Arguments of a launch, and the tensor that it writes."""

    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    result: Any
    expected: Any  # nearly what the result is

    def launch(self) -> Any:
        """Launch it once; a copy of the result."""
        self.result.fill_(-1)
        self.kernel[self.grid](*self.arguments, **self.options)
        return self.result.clone()

    def compile(self) -> Any:
        """Compile it for the GPU that Triton sees."""
        return self.kernel.warmup(*self.arguments, grid=self.grid, **self.options)


@dataclass(frozen=True)
class Case:
    """A kernel and what it records.

    Attributes:
        scopes: a name in the source -> passages of one CTA.
        parents: a region -> the region around it.
        moved: kind of access to global memory -> bytes of one CTA, as far as they are counted.
        tensors: the same -> which argument is accessed, where that can be known.
        warps: of a CTA, those of partitions included.
        made: who makes descriptors of matrices; "": no matrices.
    """

    kernel: Any
    ctas: int
    scopes: dict[str, int]
    parents: dict[str, str]
    moved: dict[str, int]
    tensors: dict[str, str] = field(default_factory=dict)
    warps: int = 4
    made: str = ""

    @property
    def name(self) -> str:
        """Of the kernel."""
        return str(self.kernel.fn.__name__)

    def prepare(self, torch: Any, device: str) -> Prepared:
        """Small arguments."""
        if self.made:
            return _product_of(self.kernel, self.made, torch, device, SIZE, DEPTH)
        torch.manual_seed(0)
        x = torch.randn(GROUPS, ROWS, BLOCK, device=device)
        y = torch.empty(GROUPS, BLOCK, device=device)
        options = {"BLOCK": BLOCK, "num_warps": 4}
        return Prepared(self.kernel, (GROUPS,), (x, y, ROWS), options, y, x.exp().sum(1))

    def larger(self, torch: Any, device: str) -> Prepared:
        """Matrices that keep a device busy."""
        return _product_of(self.kernel, self.made, torch, device, 16 * BM, 64 * BK)


def _product_of(kernel: Any, made: str, torch: Any, device: str, size: int, depth: int) -> Prepared:
    torch.manual_seed(0)
    halves = {"device": device, "dtype": torch.float16}
    a, b = torch.randn(size, depth, **halves), torch.randn(depth, size, **halves)
    c = torch.empty(size, size, **halves)
    blocks = ((a, [BM, BK]), (b, [BK, BN]), (c, [BM, BN]))
    arguments: tuple[Any, ...]
    if made == "gluon":
        arguments = tuple(
            GluonDescriptor.from_tensor(
                each, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16)
            )
            for each, block in blocks
        )
    elif made == "host":
        read = (TensorDescriptor.from_tensor(each, block) for each, block in blocks[:2])
        arguments = (*read, c, size)
    else:
        arguments = (a, b, c, size, size)
    options = {"BM": BM, "BN": BN, "BK": BK, "num_warps": 4}
    grid = (size // BM, size // BN)
    expected = (a.float() @ b.float()).to(torch.float16)
    return Prepared(kernel, grid, (*arguments, depth), options, c, expected)


def _softmax(torch: Any, device: str) -> Prepared:
    torch.manual_seed(0)
    x = torch.randn(64, 1000, device=device)
    y = torch.empty_like(x)
    options = {"BLOCK": 1024, "num_warps": 4}
    return Prepared(softmax, (64,), (x, y, 1000), options, y, x.softmax(1))


def _matmul(torch: Any, device: str) -> Prepared:
    return _product_of(matmul, "device", torch, device, SIZE, DEPTH)


_ALL = 4 * TURNS  # four warps, every turn
_COPIED = {"copy": TURNS * (BM * BK + BK * BN) * 2}
_STORED = {"store": BM * BN * 2}
CASES = {
    case.name: case
    for case in (
        Case(
            gluon_rows,
            GROUPS,
            {"rows": 4, "load": 4 * ROWS, "exp": 4 * ROWS, "store": 4},
            {"load": "rows", "exp": "rows"},
            {"load": ROWS * BLOCK * 4, "store": BLOCK * 4},
            {"load": "x", "store": "y"},
        ),
        Case(
            gluon_tma,
            CTAS,
            {**dict.fromkeys(("turn", "issue", "wait", "mma", "tile"), _ALL), "store": 4},
            dict.fromkeys(("issue", "wait", "mma"), "turn"),
            _COPIED,
            made="gluon",
        ),
        Case(
            gluon_specialized,
            CTAS,
            # one warp produces, four consume; a tile that was asked for once comes for each of them
            {
                **{"wait empty": TURNS, "issue": TURNS, "tile": _ALL},
                **{"all": 4, "wait full": _ALL, "mma": _ALL, "store": 4},
            },
            dict.fromkeys(("wait full", "mma", "store"), "all"),
            _COPIED,
            warps=8,
            made="gluon",
        ),
        *(
            Case(
                kernel,
                CTAS,
                {"loop": 4, "load": _ALL, "dot": _ALL, "store": 4},
                {"load": "loop", "dot": "loop"},
                _COPIED | stored,
                dict.fromkeys(stored, "c"),
                made=made,
            )
            for kernel, made, stored in (
                (made_on_device, "device", {}),
                (made_on_host, "host", _STORED),
            )
        ),
        Case(
            specialized,
            CTAS,
            {},  # Triton moves what its scope is around
            {},
            _COPIED | _STORED,
            {"store": "c"},
            warps=12,
            made="device",
        ),
    )
}
ORDINARY = {"softmax": _softmax, "matmul": _matmul}
