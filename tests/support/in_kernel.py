"""An instrumented kernel as a session would describe it, for tests of what is done with it."""

from __future__ import annotations

from types import MappingProxyType

from proton.model.in_kernel import (
    AccessSite,
    Change,
    Ctas,
    FirstAddress,
    HeatMap,
    RecordedKernel,
    Region,
    Value,
)

FIRST = (FirstAddress(0, 0, "a_ptr", 0), FirstAddress(0, 1, "a_ptr", 2048))
REGIONS = (
    Region(
        "tile", "mm.py", 20, "loop", -1, 512, 409600.0, 256640.5, 700.0, 800.0, 950.5, 640, 2000
    ),
    Region("load a", "mm.py", 22, "op", 0, 512, 102400.0, 64160.0, 150.0, 200.0, 260.0, 120, 900),
    Region("dot", "mm.py", 24, "mma", 0, 512, 204800.0, 128320.0, 390.0, 400.0, 410.0, 380, 480),
    Region("epilogue", "mm.py", 30, "scope", -1, 64, 6400.0, 4010.0, 90.0, 100.0, 110.0, 80, 140),
)
CTAS = Ctas(
    count=16,
    sms=3,
    first_start_ns=1_000_000,
    last_end_ns=1_009_000,
    p50_ns=2400.0,
    p99_ns=2900.0,
    waves=1.33,
    tail_ns=2000,
    per_sm=(0.9, None, 0.5, 1.0),
    active=(12.0, 12.0, 12.0, 4.0),
)
KERNEL = RecordedKernel(
    kernel="matmul_kernel",
    context=("train", "forward"),
    mode="ops+loops",
    device_id=0,
    launches=2,
    recorded_warps=64,
    clock_ghz=1.596,
    record_cycles=21.5,
    error_cycles=15.0,
    regions=REGIONS,
    ctas=CTAS,
    values=(Value("k", 64, 128.0, -1, 4),),
    accesses=(
        AccessSite("load a", "copy", "mm.py", 22, "a_ptr", 12288, 49152, FIRST, 32),
        AccessSite("store c", "store", "mm.py", 31, "", 4096, 16384),
    ),
    uncovered=MappingProxyType({"copies by descriptor": 2}),
    heat=(HeatMap("a_ptr", 65536, 512, 4096, (4, 0, 8, 500), (16, 0, 64, 65456)),),
    losses=MappingProxyType({"overflowed_records": 12}),
    changed=MappingProxyType(
        {
            "registers": Change(128, 168),
            "spills": Change(0, 16),
            "occupancy": Change(16, 12),
            "shared": Change(49152, 49152),
        }
    ),
)
