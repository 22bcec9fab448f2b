"""Kernels compiled with records by the hook, on a GPU: results stay, twins come and go.

Nothing of the runtime takes part: the tests give the profile buffer themselves.
"""

# Kernels are in Triton's language: Python's types do not apply to them.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proton.inkernel.ir.layout import HEADER_BYTES, MAGIC

pytestmark = [pytest.mark.gpu, pytest.mark.torch]

MODES = [
    "default",
    "ops",
    "loops:cap=4",
    "mma",
    "async-wait",
    "cta",
    "default+ops+loops+mma",
    "ops:buffer_type=global",
    "ops:buffer_strategy=flush",
    "ops:granularity=warp_2:optimizations=time_shift,sched_stores,clock32",
    "ops:sampling_strategy=selective:sampling_options=1",
]


class Buffers:
    """Gives launches their profile buffers and keeps the last one."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.last: Any = None

    def __call__(self, size: int, alignment: int, stream: Any) -> Any:
        raw = self.torch.zeros(size + alignment, dtype=self.torch.uint8, device="cuda")
        self.raw = raw
        self.last = raw[-raw.data_ptr() % alignment :][:size]
        self.torch.cuda.synchronize()
        return self.last

    def headers(self, ring_bytes: int) -> list[list[int]]:
        """The headers of all slots, as words."""
        words = self.last.cpu().numpy().view("uint32")
        slots = len(words) * 4 // (ring_bytes + HEADER_BYTES)
        at = slots * ring_bytes // 4
        found: list[list[int]] = words[at:].reshape(slots, HEADER_BYTES // 4).tolist()
        return found


@pytest.fixture
def buffers(torch: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Buffers]:
    from triton.runtime._allocation import set_profile_allocator

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    given = Buffers(torch)
    set_profile_allocator(given)
    yield given
    set_profile_allocator(None)


def _softmax(torch: Any) -> Callable[[], Any]:
    from tests.support.kernels import softmax

    x = torch.randn(1000, device="cuda", generator=torch.Generator("cuda").manual_seed(0))

    def launch() -> tuple[Any, Any]:
        y = torch.empty_like(x)
        kernel = softmax[(1,)](x, y, 1000, BLOCK=1024, num_warps=4)
        return kernel, y

    return launch


def _matmul(torch: Any) -> Callable[[], Any]:
    from tests.support.kernels import matmul

    make = torch.Generator("cuda").manual_seed(0)
    a, b = (
        torch.randn(512, 512, device="cuda", dtype=torch.float16, generator=make) for _ in range(2)
    )

    def launch() -> tuple[Any, Any]:
        c = torch.empty_like(a)
        kernel = matmul[(4, 4)](
            a, b, c, 512, 512, 512, BM=128, BN=128, BK=64, num_warps=4, num_stages=3
        )
        return kernel, c

    return launch


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", [_softmax, _matmul], ids=["softmax", "matmul"])
def test_results_are_bit_identical_in_every_mode(
    torch: Any, buffers: Buffers, mode: str, make: Callable[[Any], Callable[[], Any]]
) -> None:
    from proton.inkernel.compiler.compile_hook import read_records
    from tests.support.recording import recording

    launch = make(torch)
    plain_kernel, plain = launch()
    with recording(mode) as warnings:
        kernel, recorded = launch()
        torch.cuda.synchronize()
    again_kernel, again = launch()
    torch.cuda.synchronize()
    assert warnings == []
    assert torch.equal(recorded, plain), "records changed the result"
    assert torch.equal(again, plain)
    assert again_kernel is plain_kernel, "the plain kernel was compiled or loaded again"
    records = read_records(kernel.metadata)
    if mode == "default" or (records is None and mode in ("mma", "async-wait", "loops:cap=4")):
        assert kernel.asm["cubin"] == plain_kernel.asm["cubin"], "it has nothing to record"
        return
    assert records is not None
    headers = buffers.headers(records.record_map["ring_bytes"])
    assert headers
    assert all(header[0] == MAGIC for header in headers), headers[:2]
    if records.record_map["regions"]:
        assert all(header[4] > 0 for header in headers), "a warp wrote nothing"


def test_what_a_binary_says_is_what_the_driver_says(torch: Any, buffers: Buffers) -> None:
    from proton.inkernel.compiler.resources import resources_of
    from tests.support.recording import recording

    launch = _matmul(torch)
    kernels = [launch()[0]]
    with recording("ops"):
        kernels.append(launch()[0])
    torch.cuda.synchronize()
    for kernel in kernels:
        found = resources_of(kernel)
        assert found["registers"] == kernel.n_regs
        assert found["spills"] // 4 == kernel.n_spills


def test_a_budget_is_kept_without_waiting(torch: Any, buffers: Buffers) -> None:
    from proton.inkernel.compiler.recording_choice import choice
    from tests.support.kernels import matmul
    from tests.support.recording import recording

    launch = _matmul(torch)
    with recording("ops+loops:cap=0:budget=5") as warnings:
        for _ in range(150):
            launch()
        torch.cuda.synchronize()
        with choice.launching(matmul):
            chosen = choice.current()
    assert chosen is not None
    print(f"thinning {chosen.thinning}, warnings {warnings}")
    assert 0 <= chosen.thinning <= 4
    assert all("above its budget of 5 %" in each for each in warnings)
