"""Occupancy in files against what the CUDA driver says for the same function and launch."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


def blocks_of_driver(function: int, threads: int, dynamic_shared_bytes: int) -> int:
    """cuOccupancyMaxActiveBlocksPerMultiprocessor."""
    cuda = ctypes.CDLL("libcuda.so.1")
    blocks = ctypes.c_int()
    code = cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        ctypes.byref(blocks),
        ctypes.c_void_p(function),
        ctypes.c_int(threads),
        ctypes.c_size_t(dynamic_shared_bytes),
    )
    assert code == 0, code
    return blocks.value


def attributes_of(recorded: Any) -> dict[str, dict[str, Any]]:
    """Kernel -> its launch attributes."""
    names: list[str] = []
    pending = [recorded.file.root]
    while pending:
        node = pending.pop()
        names.append(node["frame"]["name"])
        pending += reversed(node["children"])
    found: dict[str, dict[str, Any]] = {}
    entries = recorded.file.header["kernels"]
    for row, *_, attributes in entries:
        shared = attributes if isinstance(attributes, dict) else entries[attributes][-1]
        found[names[row]] = shared
    return found


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 16])
def test_occupancy_of_triton_kernels_is_the_drivers(
    torch: Any, record: Any, num_warps: int
) -> None:
    from tests.gpu.kernels import add_one

    x = torch.ones(1 << 16, device="cuda")
    kernel = add_one[(16,)](x, 1 << 16, BLOCK=4096, num_warps=num_warps)
    recorded = record(lambda: add_one[(16,)](x, 1 << 16, BLOCK=4096, num_warps=num_warps))
    attributes = attributes_of(recorded)["add_one"]
    blocks = blocks_of_driver(kernel.function, 32 * num_warps, kernel.metadata.shared)
    limit = torch.cuda.get_device_properties(0).max_threads_per_multi_processor // 32
    assert attributes["occupancy"] == pytest.approx(blocks * num_warps / limit, abs=1e-4), (
        attributes,
        blocks,
    )


def test_a_matmul_with_much_shared_memory_agrees(torch: Any, record: Any) -> None:
    """cuBLAS kernels: limited by registers and shared memory; checked for plausibility."""
    a = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
    a @ a
    found = attributes_of(record(lambda: a @ a))
    (attributes,) = found.values()
    limit = torch.cuda.get_device_properties(0).max_threads_per_multi_processor // 32
    block = attributes["block"]
    warps = -(-block[0] * block[1] * block[2] // 32)
    resident = attributes["occupancy"] * limit / warps
    assert resident == pytest.approx(round(resident), abs=0.02), attributes
    assert 0 < attributes["occupancy"] <= 1


def test_the_kernels_of_torch_have_one(torch: Any, record: Any) -> None:
    x = torch.ones(1 << 20, device="cuda")

    def work() -> None:
        x.add_(1)
        x.sum()
        torch.softmax(x.view(1024, 1024), dim=1)

    found = attributes_of(record(work))
    kernels = {name: found[name] for name in found if not name.startswith("<")}  # no memsets
    assert len(kernels) >= 3
    for name, attributes in kernels.items():
        assert 0 < attributes["occupancy"] <= 1, (name, attributes)
