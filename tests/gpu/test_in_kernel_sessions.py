"""Sessions that record inside kernels, one after the other and beside a thread that launches."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native
from proton.backends.instrumentation.launch_path import launches

pytestmark = [pytest.mark.gpu, pytest.mark.torch, pytest.mark.timeout(180)]

ROWS, COLUMNS, WARPS = 264, 1024, 4
SESSIONS = 20
MOST_BYTES = 256 << 20  # of the device's memory, that sessions which are over may leave in use
LIMIT_S = 60
HOST, DEVICE = 1, 2  # CU_MEMORYTYPE_HOST, _DEVICE


@pytest.fixture
def softmax(torch: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], Any]:
    """`softmax()` launches the kernel once; its result. Costs of records are measured anew."""
    monkeypatch.setenv("PROTON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    sys.modules.pop("in_kernel_kernels", None)
    import in_kernel_kernels  # type: ignore[import-not-found, unused-ignore]

    torch.manual_seed(0)
    x = torch.randn(ROWS, COLUMNS, device="cuda")

    def run() -> Any:
        y = torch.empty_like(x)
        in_kernel_kernels.softmax[(ROWS,)](x, y, COLUMNS, B=1024, num_warps=WARPS)
        return y

    return run


def check_profile(file: Any, least_launches: int) -> None:
    """All of its launches were recorded, in every warp, and nothing was lost."""
    header = file.header
    why = f"warnings {header.get('warnings')}, losses {file.losses}"
    entries = [each for each in header.get("in_kernel", []) if each["kernel"] == "softmax"]
    assert len(entries) == 1, f"{len(entries)} entries; {why}"
    (entry,) = entries
    assert entry["launches"] >= least_launches, why
    counts = {each["name"]: each["count"] for each in entry["regions"]}
    passages = entry["launches"] * ROWS * WARPS
    assert counts == {"load": passages, "reduce": passages}, why
    assert file.losses == {}, why


def memory_type(address: int) -> int:
    """Where the driver says that an address lies."""
    found = ctypes.c_uint(0)
    status = ctypes.CDLL("libcuda.so.1").cuPointerGetAttribute(
        ctypes.byref(found), 2, ctypes.c_uint64(address)
    )
    assert status == 0, f"cuPointerGetAttribute: {status}"
    return found.value


def test_a_session_behind_one_whose_rings_the_host_empties_records_in_device_memory(
    softmax: Callable[[], Any],
    torch: Any,
    tmp_path: Path,
    profile_of: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All kernels of the process once recorded across the bus from then on."""
    plain = softmax()
    given: list[int] = []
    allocate = launches._allocate

    def look(size: int, alignment: int, stream: int | None) -> int:
        address = allocate(size, alignment, stream)
        given.append(memory_type(address))
        return address

    monkeypatch.setattr(launches, "_allocate", look)
    flushing = "default:buffer_strategy=flush:buffer_type=global"
    for mode, memory in ((flushing, HOST), ("default", DEVICE), (flushing, HOST)):
        session = proton.start(str(tmp_path / "run"), backend="instrumentation", mode=mode)
        results = [softmax() for _ in range(8)]
        proton.finalize(session)
        assert all(torch.equal(each, plain) for each in results), mode
        check_profile(profile_of(tmp_path / "run.hatchet"), 8)
        assert given[-8:] == 8 * [memory], f"{mode}: {given}"


def test_sessions_come_and_go_while_another_thread_launches(
    softmax: Callable[[], Any], torch: Any, tmp_path: Path, profile_of: Callable[..., Any]
) -> None:
    plain = softmax()
    problems: list[str] = []
    rounds = 0
    is_over = threading.Event()

    def work() -> None:
        nonlocal rounds
        with torch.cuda.stream(torch.cuda.Stream()):
            while not is_over.is_set():
                try:
                    results = [softmax() for _ in range(50)]
                    if not all(torch.equal(each, plain) for each in results):
                        problems.append(f"round {rounds}: another result")
                except BaseException as error:
                    problems.append(repr(error))
                    return
                rounds += 1

    def one_session() -> None:
        session = proton.start(str(tmp_path / "run"), backend="instrumentation")
        result = softmax()
        proton.finalize(session)
        assert torch.equal(result, plain)
        check_profile(profile_of(tmp_path / "run.hatchet"), 1)

    one_session()  # compiles, and measures what a record costs
    torch.cuda.synchronize()
    thread = threading.Thread(target=work)
    thread.start()
    try:
        one_session()
        free_before, _ = torch.cuda.mem_get_info()
        for _ in range(SESSIONS):
            one_session()
        free_after, _ = torch.cuda.mem_get_info()
    finally:
        is_over.set()
        thread.join(LIMIT_S)
    assert not thread.is_alive()
    assert problems == []
    assert rounds > 0
    assert free_before - free_after < MOST_BYTES
    one_session()  # has memory back that launches had when the one before ended
    stats = _native.InKernel.stats()
    assert stats["pool_bytes"] < MOST_BYTES, stats
    assert stats["in_flight"] == 0, stats


def test_activating_and_deactivating_beside_a_launching_thread_changes_no_result(
    softmax: Callable[[], Any], torch: Any, tmp_path: Path, profile_of: Callable[..., Any]
) -> None:
    plain = softmax()
    problems: list[str] = []
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.is_set():
                if not torch.equal(softmax(), plain):
                    problems.append("another result")
        except BaseException as error:
            problems.append(repr(error))

    session = proton.start(str(tmp_path / "run"), backend="instrumentation")
    thread = threading.Thread(target=work)
    thread.start()
    try:
        for turn in range(100):
            proton.deactivate(session, flushing=turn % 10 == 0)
            proton.activate(session)
            softmax()
    finally:
        is_over.set()
        thread.join(LIMIT_S)
        proton.finalize(session)
    assert problems == []
    check_profile(profile_of(tmp_path / "run.hatchet"), 100)
