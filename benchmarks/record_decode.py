"""How fast a kernel's buffer is decoded: matched regions, clocks and sums, with and without spans.

Usage: python benchmarks/record_decode.py [--rounds N] [--json PATH]
1056 warps of 1024 records each, as a pipelined matmul leaves them: loads, a dot and its wait inside
every iteration of a loop. "Overwritten" is the same with rings of a quarter of that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from proton._native import DeviceBuffer
from proton.inkernel.layout import MAGIC, Geometry, RecordKind, pack_tag
from stats import Result, estimate, interleave, parser, report, time_ns

CTA_COUNT, WARP_COUNT = 264, 4
RECORD_COUNT = 1024  # of a warp
BAR_NS = 100.0  # a record: 10^7 a second
REGIONS = [{"name": name, "kind": "op"} for name in ("loop", "load", "dot", "wait", "kernel")]
RECORD_MAP = {"regions": REGIONS}
START_TIME, START_CLOCK = 1_800_000_000_000_000_000, 5_000_000_000
SM_COUNT = 132


def records(start_clock: int) -> bytes:
    """What one warp writes: `kernel` around iterations of `loop` with three operations each."""
    tags = [pack_tag(RecordKind.START, 4)]
    iteration = [(RecordKind.START, 0)]
    for region in (1, 2, 3):
        iteration += [(RecordKind.START, region), (RecordKind.END, region)]
    iteration.append((RecordKind.END, 0))
    while len(tags) + len(iteration) < RECORD_COUNT:
        tags += [pack_tag(*one) for one in iteration]
    tags += [pack_tag(RecordKind.MARK, 4)] * (RECORD_COUNT - 1 - len(tags))
    tags.append(pack_tag(RecordKind.END, 4))
    words = [(tag, (start_clock + 50 * at) & 0xFFFFFFFF) for at, tag in enumerate(tags)]
    return b"".join(struct.pack("<II", *one) for one in words)


def filled(geometry: Geometry) -> bytes:
    """The buffer of a launch."""
    rings, headers = [], []
    for slot in range(geometry.slot_count):
        cta, warp = divmod(slot, geometry.warp_count)
        sm = cta % SM_COUNT
        clock = START_CLOCK + 33_000_000 * sm
        data = records(clock)
        rings.append(data[-geometry.ring_bytes :])
        headers.append(
            struct.pack(
                "<6I4Q2I",
                *(MAGIC, cta, warp, sm, len(data), geometry.ring_bytes),
                *(START_TIME, clock, START_TIME + 32_768, clock + 52_429, 0, 0),
            )
        )
    return b"".join(rings + headers)


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__).parse_args()
    whole = Geometry(CTA_COUNT, WARP_COUNT, RECORD_COUNT * 8)
    part = Geometry(CTA_COUNT, WARP_COUNT, RECORD_COUNT * 2)
    buffers = {whole: filled(whole), part: filled(part)}
    decoded = DeviceBuffer.decode(buffers[whole], whole, RECORD_MAP, record_cycles=20)
    assert not decoded.losses(), decoded.losses()

    def run(geometry: Geometry, *, spans: bool) -> Callable[[], float]:
        buffer, count = buffers[geometry], geometry.slot_count * geometry.ring_bytes / 8
        options = {"record_cycles": 20.0, "kernel_ns": (0, 40_000)}

        def decode() -> object:
            return DeviceBuffer.decode(buffer, geometry, RECORD_MAP, spans=spans, **options)

        return lambda: time_ns(decode) / count

    runs = {
        "decode a record": run(whole, spans=False),
        "decode a record, with spans": run(whole, spans=True),
        "decode a record of an overwritten ring": run(part, spans=False),
    }
    samples = interleave(runs, rounds=arguments.rounds)
    note = f"{decoded.record_count / 1e6:.2f} M records"
    report(
        [
            Result(
                name,
                "ns",
                estimate(samples[name]),
                bar=BAR_NS,
                note=note if name == "decode a record" else "",
            )
            for name in runs
        ],
        arguments.json,
    )


if __name__ == "__main__":
    main()
