"""What kernels need, with records and without, read from their binaries."""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.runtime.jit import MockTensor

from proton.inkernel.compiler.compile_hook import plain_resources
from proton.inkernel.compiler.resources import resources_of
from tests.support.kernels import compiled, matmul, softmax
from tests.support.recording import absent_gpu, recording

pytestmark = [
    pytest.mark.matrix,
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]

MATRICES = {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32"}


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))


def _softmax() -> Any:
    rows = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    return compiled(softmax, rows, {"BLOCK": 1024}, "90")


@pytest.mark.parametrize("target", ["80", "90", "100"])
def test_a_cubin_says_what_its_kernel_needs(target: str) -> None:
    kernel = compiled(matmul, MATRICES, {"BM": 128, "BN": 128, "BK": 64}, target)
    found = resources_of(kernel)
    assert 64 < found["registers"] <= 255
    assert found["spills"] % 4 == 0
    assert found["shared"] == kernel.metadata.shared > 32_000
    assert found["occupancy"] in (4, 8, 12), "one to three CTAs of four warps"


def test_spills_are_counted() -> None:
    from triton.compiler import ASTSource

    from tests.support.kernels import target_of

    rows = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(softmax, rows, {"BLOCK": 8192})
    kernel = triton.compile(source, target=target_of("90"), options={"maxnreg": 32})
    found = resources_of(kernel)
    assert found["registers"] <= 32
    assert found["spills"] > 0


def test_an_amd_kernel_says_its_registers() -> None:
    kernel = compiled(matmul, MATRICES, {"BM": 128, "BN": 128, "BK": 64}, "gfx942")
    found = resources_of(kernel)
    assert found["registers"] > 32
    assert found["spills"] >= 0
    assert "occupancy" not in found


@triton.jit
def add(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + 1)


def _ready(**options: Any) -> Any:
    tensors = (MockTensor(tl.float32), MockTensor(tl.float32))
    return add.warmup(*tensors, BLOCK=128, grid=(1,), **options)


@pytest.mark.parametrize("options", [{}, {"num_warps": 2, "maxnreg": 48}], ids=["usual", "given"])
def test_a_recorded_kernel_knows_its_plain_twin_by_the_cache(options: dict[str, Any]) -> None:
    with absent_gpu():
        plain = _ready(**options)
        with recording("ops"):
            recorded = _ready(**options)
            assert plain_resources(recorded) == resources_of(plain)
            assert resources_of(recorded)["shared"] > plain.metadata.shared
            assert plain_resources(plain) is None, "it has no records"
        assert plain_resources(recorded) is None, "recording is over"
    add.device_caches.clear()


def test_a_plain_kernel_that_is_in_no_cache_is_compiled_only_if_it_may() -> None:
    with recording("ops"):
        recorded = _softmax()
        assert plain_resources(recorded) is None
        found = plain_resources(recorded, may_compile=True)
        assert found is not None
        assert found == plain_resources(recorded)
    assert found == resources_of(_softmax())


@pytest.mark.parametrize("cubin", [b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 200])
def test_a_binary_that_cannot_be_read_says_nothing(cubin: bytes) -> None:
    metadata = SimpleNamespace(shared=16)
    assert resources_of(SimpleNamespace(asm={"cubin": cubin}, metadata=metadata)) == {"shared": 16}
