"""How fast a kernel's buffer is decoded: matched regions, clocks and sums, with and without spans.

Usage: python benchmarks/record_decode.py [--rounds N] [--json PATH]
1056 warps of 1024 records each, as a pipelined matmul leaves them: loads, a dot and its wait inside
every iteration of a loop. "Overwritten" is the same with rings of a quarter of that. "A launch" is
what a small kernel leaves: as many warps with one passage each, read as a tree's session reads it.
Processor time, so that neighbours on the machine count little.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

from proton._native import DeviceBuffer
from proton.inkernel.ir.layout import MAGIC, Geometry, RecordKind, pack_tag
from stats import Result, estimate, interleave, parser, report

CTA_COUNT, WARP_COUNT = 264, 4
RECORD_COUNT = 1024  # of a warp
BAR_NS = 100.0  # a record: 10^7 a second
LAUNCH = f"decode a launch of {CTA_COUNT * WARP_COUNT} warps, 2 records each"
LAUNCH_BAR_US = 40.0
LAUNCHES = 20  # that are decoded in one go
REGIONS = [{"name": name, "kind": "op"} for name in ("loop", "load", "dot", "wait", "kernel")]
RECORD_MAP = {"regions": REGIONS}
START_TIME, START_CLOCK = 1_800_000_000_000_000_000, 5_000_000_000
SM_COUNT = 132


def processor_ns(run: Callable[[], object]) -> int:
    """Processor time of one call of `run`."""
    start = time.thread_time_ns()
    run()
    return time.thread_time_ns() - start


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


def passage(start_clock: int) -> bytes:
    """What one warp writes of one passage."""
    tags = [pack_tag(RecordKind.START, 4), pack_tag(RecordKind.END, 4)]
    return b"".join(
        struct.pack("<II", tag, (start_clock + 100 + 5000 * at) & 0xFFFFFFFF)
        for at, tag in enumerate(tags)
    )


def filled(geometry: Geometry, write: Callable[[int], bytes] = records) -> bytes:
    """The buffer of a launch whose warps `write` from a clock on."""
    rings, headers = [], []
    for slot in range(geometry.slot_count):
        cta, warp = divmod(slot, geometry.warp_count)
        sm = cta % SM_COUNT
        late = cta % 7  # steps of global time
        clock = START_CLOCK + 33_000_000 * sm + 51 * late
        data = write(clock)
        rings.append(data[-geometry.ring_bytes :].ljust(geometry.ring_bytes, b"\0"))
        headers.append(
            struct.pack(
                "<6I4Q2I",
                *(MAGIC, cta, warp, sm, len(data), geometry.ring_bytes),
                *(START_TIME + 32 * late, clock),
                *(START_TIME + 32_768 + 32 * late, clock + 52_429, 0, 0),
            )
        )
    return b"".join(rings + headers)


def main() -> None:
    """Measure, print, and write the results where `--json` says."""
    arguments = parser(__doc__).parse_args()
    whole = Geometry(CTA_COUNT, WARP_COUNT, RECORD_COUNT * 8)
    part = Geometry(CTA_COUNT, WARP_COUNT, RECORD_COUNT * 2)
    small = Geometry(CTA_COUNT, WARP_COUNT, 256)
    buffers = {whole: filled(whole), part: filled(part), small: filled(small, passage)}
    decoded = DeviceBuffer.decode(buffers[whole], whole, RECORD_MAP, record_cycles=20)
    assert not decoded.losses(), decoded.losses()

    def run(geometry: Geometry, *, spans: bool) -> Callable[[], float]:
        buffer, count = buffers[geometry], geometry.slot_count * geometry.ring_bytes / 8
        options = {"record_cycles": 20.0, "kernel_ns": (0, 40_000)}

        def decode() -> object:
            return DeviceBuffer.decode(buffer, geometry, RECORD_MAP, spans=spans, **options)

        return lambda: processor_ns(decode) / count

    def launches() -> None:
        for _ in range(LAUNCHES):
            DeviceBuffer.decode(
                *(buffers[small], small, RECORD_MAP),
                record_cycles=20.0,
                kernel_ns=(0, 40_000),
                exact=False,
            )

    runs = {
        "decode a record": run(whole, spans=False),
        "decode a record, with spans": run(whole, spans=True),
        "decode a record of an overwritten ring": run(part, spans=False),
    }
    a_launch = {LAUNCH: lambda: processor_ns(launches) / LAUNCHES / 1e3}
    samples = interleave(runs | a_launch, rounds=arguments.rounds)
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
        ]
        + [Result(LAUNCH, "us", estimate(samples[LAUNCH]), bar=LAUNCH_BAR_US)],
        arguments.json,
    )


if __name__ == "__main__":
    main()
