# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from proton.errors import KernelError

pytestmark = pytest.mark.matrix


def _bytes_of(sink: Any) -> dict[str, int]:
    return {name: value for name, value in sink.metrics.items() if "bytes[" in name}


@triton.jit
def add(x, y, dst, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(dst + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def test_bytes_are_counted_per_argument_without_masked_lanes(sink: Any) -> None:
    x, y, dst = np.ones(100, np.float32), np.ones(100, np.float16), np.ones(100, np.float64)
    add[(4,)](x, y, dst, 100, BLOCK=32)
    assert _bytes_of(sink) == {"load_bytes[x]": 400, "load_bytes[y]": 200, "store_bytes[dst]": 800}
    assert sink.metrics["counted_load_bytes"] == 600
    assert sink.metrics["counted_store_bytes"] == 800
    assert sink.metrics["counted_bytes"] == 1400


def test_one_array_passed_twice_is_counted_by_the_name_it_was_used_under(sink: Any) -> None:
    x = np.ones(32, np.float32)
    add[(1,)](x, x, x, 32, BLOCK=32)
    assert _bytes_of(sink) == {"load_bytes[x]": 128, "load_bytes[y]": 128, "store_bytes[dst]": 128}


def test_pointers_selected_from_two_arguments_are_placed_by_address(sink: Any) -> None:
    @triton.jit
    def pick(x, y, dst, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(dst + i, tl.load(tl.where(i < 2, x + i, y + i)))

    x, y, dst = np.ones(8, np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    pick[(1,)](x, y, dst, BLOCK=8)
    assert dst.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert _bytes_of(sink) == {"load_bytes[x]": 8, "load_bytes[y]": 24, "store_bytes[dst]": 32}


def test_pointers_loaded_from_memory_count_in_the_totals(sink: Any) -> None:
    @triton.jit
    def follow(table, BLOCK: tl.constexpr):
        x = tl.load(table).to(tl.pointer_type(tl.float32))
        tl.store(x + tl.arange(0, BLOCK), 1.0)

    x = np.zeros(4, np.float32)
    follow[(1,)](np.array([x.ctypes.data], np.int64), BLOCK=4)
    assert x.sum() == 4
    assert sink.metrics["counted_store_bytes"] == 16
    assert _bytes_of(sink) == {"load_bytes[table]": 8}


def test_an_atomic_reads_and_writes_its_set_lanes(sink: Any) -> None:
    @triton.jit
    def histogram(keys, counts, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        key = tl.load(keys + i, mask=i < n, other=0)
        tl.atomic_add(counts + key, 1.0, mask=i < n)

    keys, counts = np.array([0, 1, 1, 1, 0], np.int32), np.zeros(2, np.float32)
    histogram[(1,)](keys, counts, 5, BLOCK=8)
    assert counts.tolist() == [2, 3]
    assert sink.metrics["load_bytes[counts]"] == sink.metrics["store_bytes[counts]"] == 20
    assert sink.metrics["counted_flops"] == 5


def test_a_lock_by_compare_and_swap_is_counted(sink: Any) -> None:
    @triton.jit
    def with_lock(lock, total):
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
        tl.store(total, tl.load(total) + 1)
        tl.atomic_xchg(lock, 0)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    with_lock[(5,)](lock, total)
    assert (lock[0], total[0]) == (0, 5)
    assert sink.metrics["store_bytes[lock]"] == 5 * 2 * 4


def test_an_atomic_on_bfloat16_is_refused_by_name(sink: Any) -> None:
    @triton.jit
    def accumulate(x):
        tl.atomic_add(x, tl.load(x))

    with pytest.raises(KernelError, match="an atomic on bf16 is not computed"):
        accumulate[(1,)](triton.reinterpret(np.zeros(1, np.uint16), tl.bfloat16))


@pytest.mark.skipif(triton.__version__ >= "3.8", reason="block pointers are gone from Triton 3.8")
@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
def test_accesses_through_a_block_pointer_belong_to_its_base(sink: Any) -> None:
    @triton.jit
    def tile(x, dst, BLOCK: tl.constexpr):
        source = tl.make_block_ptr(x, (6, 6), (6, 1), (0, 4), (BLOCK, BLOCK), (1, 0))
        target = tl.make_block_ptr(dst, (4, 4), (4, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
        tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"))

    x, dst = np.ones((6, 6), np.float32), np.full((4, 4), 9, np.float32)
    tile[(1,)](x, dst, BLOCK=4)
    assert dst.sum() == 8
    assert _bytes_of(sink) == {"load_bytes[x]": 32, "store_bytes[dst]": 64}
    assert sink.metrics["masked_lanes"] == 8
