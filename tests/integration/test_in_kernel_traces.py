"""Lanes of multiprocessors and warps, as Perfetto's own engine sees them in both formats."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from proton._native import DeviceBuffer, Scope, Session
from proton.files.detect import open_profile
from proton.files.write import write_profile
from tests.support.device_buffer import RECORD_MAP, nested_launch
from tests.support.trace_processor import TraceProcessor

FORMATS = {"perfetto": "run.pftrace", "chrome_trace": "run.chrome_trace"}


@pytest.fixture(scope="module")
def engine() -> Iterator[TraceProcessor]:
    """Perfetto's engine, started once."""
    with TraceProcessor() as started:
        yield started


@pytest.fixture
def recorded(tmp_cwd: Path) -> dict[str, Path]:
    """A session with one instrumented launch, in every format."""
    session = Session(0, context="shadow", data="trace")
    session.activate()
    start_ns = time.monotonic_ns()
    geometry, buffer = nested_launch()
    ran = (start_ns, start_ns + 66_000)
    decoded = DeviceBuffer.decode(buffer, geometry, RECORD_MAP, kernel_ns=ran, spans=True)
    with Scope("step"):
        session.on_kernel("copies", *ran, device_type="CUDA", device_id=0)
        session.add_in_kernel(decoded, RECORD_MAP, kernel="copies", device_type="CUDA", device_id=0)
    for name, path in FORMATS.items():
        session.write(path, name, 0, {"session": "run", "pid": 7})
    session.close()
    return {name: tmp_cwd / path for name, path in FORMATS.items()}


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("is_converted", [False, True])
def test_regions_and_ctas_are_slices_with_their_times(
    engine: TraceProcessor, recorded: dict[str, Path], output_format: str, is_converted: bool
) -> None:
    path = recorded[output_format]
    if is_converted:
        write_profile(open_profile(path), path)
    engine.load(path)
    assert engine.problems() == []
    rows = engine.query(
        "select s.name, s.dur, s.ts - k.ts as after, s.category from slice as s, slice as k "
        "where k.category = 'kernel' and s.ts > k.ts order by s.ts, s.name"
    )
    found = [(row["name"], row["after"], row["dur"]) for row in rows if row["name"] != "step"]
    assert found == [
        ("CTA 0", 1_000, 64_000),
        ("CTA 1", 1_000, 64_000),
        *[("outer", 3_000, 2_000)] * 2,
        *[("copy", 3_200, 3_800)] * 2,
        *[("n", 3_400, 0)] * 2,
    ]


@pytest.mark.parametrize("is_converted", [False, True])
def test_warps_stand_below_their_cta_and_that_below_its_multiprocessor(
    engine: TraceProcessor, recorded: dict[str, Path], is_converted: bool
) -> None:
    path = recorded["perfetto"]
    if is_converted:
        write_profile(open_profile(path), path)
    engine.load(path)
    rows = engine.query(
        "select distinct t.name as warp, c.name as cta, m.name as sm from slice as s "
        "join track as t on s.track_id = t.id left join track as c on t.parent_id = c.id "
        "left join track as m on c.parent_id = m.id where s.name in ('outer', 'copy') "
        "order by cta, warp"
    )
    assert [(row["sm"], row["cta"], row["warp"]) for row in rows] == [
        (f"GPU SM {n}", f"copies Core{n} CTA{n}", f"warp 0 (line {k})")
        for n in (0, 1)
        for k in (0, 1)
    ]


def test_ctas_of_a_chrome_trace_are_processes_with_warps_as_threads(
    engine: TraceProcessor, recorded: dict[str, Path]
) -> None:
    engine.load(recorded["chrome_trace"])
    rows = engine.query(
        "select distinct process.name as process, thread.name as thread from slice "
        "join thread_track on slice.track_id = thread_track.id join thread using (utid) "
        "join process using (upid) where slice.name = 'outer' order by process"
    )
    assert [(row["process"], row["thread"]) for row in rows] == [
        (f"copies Core{n} CTA{n}", "warp 0 (line 0)") for n in (0, 1)
    ]
