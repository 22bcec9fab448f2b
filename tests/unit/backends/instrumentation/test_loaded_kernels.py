"""Which kernels record, by their function in the driver."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proton._triton import launch as _triton_launch
from proton.backends.instrumentation.loaded_kernels import LoadedKernels, ProbeCost

RECORD_MAP: dict[str, Any] = {
    "strategy": "circular",
    "memory": "global",
    "ring_bytes": 64,
    "warps": [0, 1],
    "ctas": [],
    "cta_every": 1,
    "regions": [{"name": "load", "kind": "scope"}],
}


def metadata(**changed: Any) -> dict[str, Any]:
    described = {
        "version": 1,
        "mode": "default",
        "thinning": 0,
        "scratch_bytes": 256,
        "scratch_align": 128,
        "record_map": RECORD_MAP | changed,
        "num_warps": 2,
        "options": {},
    }
    return {"proton": json.dumps(described)}


@pytest.fixture
def kernels() -> LoadedKernels:
    return LoadedKernels(lambda records: ProbeCost(20.0))


def load(kernels: LoadedKernels, folder: Path, function: int, content: dict[str, Any]) -> None:
    path = folder / "k.json"
    path.write_text(json.dumps(content))
    kernels.on_load(None, function, "k", {"k.json": str(path), "k.cubin": "elsewhere"}, "hash")


def test_a_loaded_kernel_is_known_by_its_function(kernels: LoadedKernels, tmp_path: Path) -> None:
    load(kernels, tmp_path, 0x100, metadata())
    found = kernels.find(0x100)
    assert found is not None
    assert (found.records.mode, found.cost.cycles) == ("default", 20.0)
    assert kernels.of_number(found.number) is found
    assert not kernels.has_mailbox


def test_an_address_that_is_used_again_is_another_kernels(
    kernels: LoadedKernels, tmp_path: Path
) -> None:
    load(kernels, tmp_path, 0x100, metadata())
    load(kernels, tmp_path, 0x100, {"name": "k"})
    assert kernels.find(0x100) is None


def test_a_kernel_that_threads_compiled_at_once_is_one(
    kernels: LoadedKernels, tmp_path: Path
) -> None:
    """Its launches once stood apart, by the copy that happened to be launched."""
    load(kernels, tmp_path, 0x100, metadata())
    load(kernels, tmp_path, 0x101, metadata())
    load(kernels, tmp_path, 0x102, metadata(ring_bytes=128))
    first, second, other = (kernels.find(function) for function in (0x100, 0x101, 0x102))
    assert first is not None
    assert second is not None
    assert other is not None
    assert second.number == first.number
    assert second.function == 0x101
    assert other.number != first.number


def test_kernels_loaded_before_anybody_listened_are_looked_for(
    kernels: LoadedKernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = SimpleNamespace(
        function=0x200, name="early", hash="early", metadata=SimpleNamespace(**metadata())
    )
    monkeypatch.setattr(_triton_launch, "loaded_kernels", lambda: [loaded])
    found = kernels.find(0x200)
    assert found is not None
    assert found.name == "early"
    assert kernels.find(0x300) is None


def test_a_kernel_that_tells_the_host_of_full_rings_needs_host_memory(
    kernels: LoadedKernels, tmp_path: Path
) -> None:
    load(kernels, tmp_path, 0x100, metadata(strategy="flush", memory="shared"))
    assert not kernels.has_mailbox
    load(kernels, tmp_path, 0x101, metadata(strategy="flush"))
    assert kernels.has_mailbox
    found = [kernels.find(function) for function in (0x100, 0x101)]
    assert [each is not None and each.has_mailbox for each in found] == [False, True]


def test_a_kernel_that_counts_memory_accesses_keeps_its_buffers(
    kernels: LoadedKernels, tmp_path: Path
) -> None:
    load(kernels, tmp_path, 0x100, metadata())
    assert not kernels.keeps_bytes
    load(kernels, tmp_path, 0x101, metadata(counters=[{"name": "load"}]))
    found = kernels.find(0x101)
    assert found is not None
    assert found.keeps_bytes
    assert kernels.keeps_bytes


@pytest.mark.parametrize("group", [{}, {"k.json": "/nowhere/k.json"}])
def test_metadata_that_is_gone_is_none(kernels: LoadedKernels, group: dict[str, str]) -> None:
    kernels.on_load(None, 0x100, "k", group, "hash")
    assert kernels.find(0x100) is None
