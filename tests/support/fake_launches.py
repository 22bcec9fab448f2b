"""A Triton driver whose launches go to the fake CUDA driver: kernels are compiled for real, the
launch path is Triton's own up to the driver's call, and each kernel leaves the records that its
record map asks for.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from triton.backends.compiler import GPUTarget
from triton.runtime import _allocation
from triton.runtime.driver import driver

from proton.inkernel.compiler.compile_hook import KernelRecords, read_records
from proton.inkernel.ir.layout import MAGIC, Geometry, RecordKind, pack_tag
from tests.native.fake_cuda.driver import FakeDriver

CYCLES_PER_NS = 1.5
DEVICE_AHEAD_NS = 5_000_000_000  # the device's global time is not the host's
STEP_CYCLES = 200  # of a passage
KERNEL_NS = 20_000


def write_records(records: KernelRecords, grid_ctas: int, *, passages: int = 1) -> bytes:
    """A buffer in which every warp passed through each region, one behind another."""
    record_map = records.record_map
    geometry = Geometry(
        -(-grid_ctas // record_map["cta_every"]), len(record_map["warps"]), record_map["ring_bytes"]
    )
    buffer = bytearray(geometry.size_bytes)
    start_ns = time.monotonic_ns() + DEVICE_AHEAD_NS
    for slot in range(geometry.slot_count):
        cta, warp = divmod(slot, geometry.warp_count)
        clock = start_clock = 1_000_000 * (cta + 1)
        number = 0
        for _ in range(passages):
            for region in range(len(record_map["regions"])):
                for kind in (RecordKind.START, RecordKind.END):
                    at = geometry.ring_offset(slot) + number * 8 % geometry.ring_bytes
                    struct.pack_into("<2I", buffer, at, pack_tag(kind, region), clock)
                    clock += STEP_CYCLES
                    number += 1
        end_clock = start_clock + int(KERNEL_NS * CYCLES_PER_NS)
        struct.pack_into(
            "<6I4Q",
            buffer,
            geometry.header_offset(slot),
            *(MAGIC, cta, record_map["warps"][warp], cta % 132, number * 8, geometry.ring_bytes),
            *(start_ns, start_clock, start_ns + KERNEL_NS, end_clock),
        )
    return bytes(buffer)


class _Launcher:
    """As Triton's own launcher, with the fake driver behind it."""

    fake: FakeDriver

    def __init__(self, src: Any, metadata: Any) -> None:
        self.metadata = metadata
        self.records = read_records(metadata)

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: int,
        function: int,
        _packed: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *_: Any,
    ) -> None:
        grid = x * y * z
        buffer = 0
        if size := self.metadata.profile_scratch_size:
            allocate = _allocation._profile_allocator.get()
            buffer = int(allocate(grid * size, self.metadata.profile_scratch_align, stream))
        enter_hook(launch_metadata)
        if grid == 0:
            pass  # as Triton's: hooks are called, the driver is not
        elif buffer and self.records is not None:
            data = write_records(self.records, grid)
            started_ns = time.monotonic_ns()
            while time.monotonic_ns() < started_ns + KERNEL_NS:
                pass  # the fake's event is done at once, and no kernel ends before it can have
            self.fake.launch_recording(function, data, buffer, stream)
        else:
            self.fake.launch_function(function, stream=stream)
        exit_hook(launch_metadata)


@contextmanager
def fake_launches(fake: FakeDriver, arch: int = 90) -> Iterator[SimpleNamespace]:
    """Have Triton launch on the fake driver; `.stream` is the one it launches on."""
    before = driver._active
    target = GPUTarget("cuda", arch, 32)

    def load_binary(name: str, kernel: bytes, shared: int, device: int) -> tuple[int, ...]:
        module = fake.load_module(kernel)
        return module, fake.module_function(module, name, KERNEL_NS), 40, 0, 1024

    active = SimpleNamespace(
        stream=0,
        launcher_cls=type("Launcher", (_Launcher,), {"fake": fake}),
        utils=SimpleNamespace(
            load_binary=load_binary,
            unload_module=lambda module: None,
            get_device_properties=lambda device: {"max_shared_mem": 232448},
        ),
        get_current_target=lambda: target,
        get_current_device=lambda: 0,
        get_active_torch_device=lambda: None,
    )
    active.get_current_stream = lambda device: active.stream
    fake.launch("warm")  # a context is current
    driver.set_active(active)
    try:
        yield active
    finally:
        driver._active = before
