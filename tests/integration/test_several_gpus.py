"""Several GPUs in one process, on the fake driver: rows, lanes and totals by device."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import proton
from proton import _native
from proton.analysis.prepare import prepare
from proton.analysis.roofline import dots_of
from proton.analysis.several_devices import SpanRows
from proton.files.detect import open_profile
from proton.model.metric import DEVICE_ID
from proton.model.profile import TreeProfile
from proton.render.page.summary import summary_part
from proton.render.page.trace import trace_part
from proton.render.page.trace_lanes import shown_lanes
from proton.render.text.digest import digest_of
from proton.render.text.style import Style
from proton.render.text.view import view_lines
from proton.render.text.view_content import ViewOptions
from proton.render.units import format_time
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.page import ReadableColumns

pytestmark = pytest.mark.usefixtures("tmp_cwd")
SUFFIXES = {"hatchet": "hatchet", "chrome_trace": "chrome_trace", "perfetto": "pftrace"}
every_format = pytest.mark.parametrize("output_format", SUFFIXES)
two_and_eight = pytest.mark.parametrize("devices", [2, 8])


def work(driver: FakeDriver, device: int) -> None:
    """A kernel twice, another once, a copy and a graph, on a new context of a device."""
    context = driver.calls.fake_context_create(device)
    for _ in range(2):
        driver.launch("matmul", 1000 * (device + 1))
    driver.launch(f"only_{device}", 500)
    driver.memcpy(1, 64, 100)
    stream = driver.stream()
    driver.calls.fake_capture_begin(stream)
    with proton.scope("captured"):
        driver.launch("replayed", 10 + device, stream)
    executable = driver.instantiate(driver.calls.fake_capture_end(stream))
    with proton.scope("serve"):
        driver.replay(executable, stream)
    driver.calls.fake_context_destroy(context)


def record(driver: FakeDriver, devices: list[int], output_format: str) -> TreeProfile:
    driver.option("device_count", max(devices) + 1)
    data = "tree" if output_format == "hatchet" else "trace"
    session = proton.start("run", backend="cupti", data=data)
    with proton.scope("model"):
        for device in devices:
            work(driver, device)
    proton.finalize(session, output_format)
    assert driver.violations == []
    profile = open_profile(Path(f"run.{SUFFIXES[output_format]}"))
    assert profile.losses == {}
    return prepare(profile)


def rows_named(profile: TreeProfile, name: str) -> dict[Any, tuple[Any, Any]]:
    """Device -> count and time of each row of this name."""
    tree = profile.tree
    found = [own for frame, own in zip(tree.frames, tree.own, strict=True) if frame.name == name]
    rows = {own.get(DEVICE_ID): (own["count"], own["time (ns)"]) for own in found}
    assert len(rows) == len(found), "two rows of one device"
    return rows


@every_format
@two_and_eight
def test_kernels_of_one_name_have_a_row_for_each_device(
    fake_driver: FakeDriver, devices: int, output_format: str
) -> None:
    profile = record(fake_driver, [*range(devices)], output_format)
    assert rows_named(profile, "matmul") == {
        str(device): (2, 2000 * (device + 1)) for device in range(devices)
    }
    assert rows_named(profile, "replayed") == {
        str(device): (1, 10 + device) for device in range(devices)
    }
    assert [device.device_id for device in profile.devices] == [*map(str, range(devices))]


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_lanes_of_every_device_say_whose_they_are(
    fake_driver: FakeDriver, output_format: str
) -> None:
    profile = record(fake_driver, [3, 1], output_format)
    assert profile.trace is not None
    shown = [(lane.group, lane.name.split()[0]) for lane in shown_lanes(profile.trace.lanes)]
    of_one = ["stream", "graphs", "stream"]
    assert shown == [
        ("Host", "CPU"),
        *(("GPU 1", what) for what in of_one),
        *(("GPU 3", what) for what in of_one),
    ]
    names = {lane.name.partition("Stream")[0] for lane in profile.trace.lanes[1:]}
    assert names >= {"GPU 1 ", "GPU 3 ", "Graph: GPU 1 ", "Graph: GPU 3 "}


def test_a_trace_of_one_device_has_the_known_names(fake_driver: FakeDriver) -> None:
    record(fake_driver, [1], "chrome_trace")
    events = json.loads(Path("run.chrome_trace").read_text())["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert [name.partition("Stream")[0] for name in sorted(names)] == [
        "CPU Thread 0",
        "GPU ",
        "GPU ",
        "Graph: ",
    ]


def total_of(device: int) -> int:
    return 2000 * (device + 1) + 500 + 100 + 10 + device


@every_format
@two_and_eight
def test_totals_by_device_are_on_the_first_screens(
    fake_driver: FakeDriver, devices: int, output_format: str
) -> None:
    profile = record(fake_driver, [*range(devices)], output_format)
    head = "\n".join(view_lines(profile, ViewOptions(), Style(width=80)))
    assert f"{devices} x Fake GPU" in head
    said = [f"GPU {device} {format_time(total_of(device))}" for device in range(devices)]
    assert f"time by device: {', '.join(said)}" in " ".join(head.split())
    wanted = [
        {"name": f"GPU {device}", "time_ns": total_of(device), "kernels": 5}
        for device in range(devices)
    ]
    assert digest_of(profile)["by_device"] == wanted
    assert [asdict(total) for total in summary_part(profile).by_device] == wanted
    assert sum(map(total_of, range(devices))) == profile.tree.root.total("time (ns)")


@every_format
def test_rows_of_one_name_are_told_apart(fake_driver: FakeDriver, output_format: str) -> None:
    profile = record(fake_driver, [0, 1], output_format)
    lines = view_lines(profile, ViewOptions(), Style())
    names = [line.split("─ ")[-1] for line in lines]
    assert [name for name in names if "matmul" in name and "launch" not in name] == [
        "2000 matmul (GPU 0)",
        "4000 matmul (GPU 1)",
    ]
    assert any(line.endswith(" only_1") for line in lines)


@pytest.mark.parametrize("output_format", ["chrome_trace", "perfetto"])
def test_spans_belong_to_the_row_of_their_device(
    fake_driver: FakeDriver, output_format: str
) -> None:
    profile = record(fake_driver, [0, 1], output_format)
    assert profile.trace is not None
    rows = SpanRows(profile.trace, profile.tree, profile.devices)
    found: dict[Any, list[float]] = {}
    for span in profile.trace.spans:
        if span.name == "matmul":
            row = rows.find(span.path, span.lane)
            assert row is not None
            found.setdefault(profile.tree.own[row][DEVICE_ID], []).append(span.duration_ns)
    assert found == {"0": [1000, 1000], "1": [2000, 2000]}
    columns = ReadableColumns()
    part = trace_part(profile, columns)
    assert part is not None
    names, of_rows = columns.read(part.looks.name), columns.read(part.looks.row)
    matmul = part.names.index("matmul")
    looked = {row for name, row in zip(names, of_rows, strict=True) if name == matmul}
    assert {profile.tree.frames[row].name for row in looked} == {"matmul"}
    assert len(looked) == 2


def test_work_of_each_device_has_its_own_roof(fake_driver: FakeDriver) -> None:
    fake_driver.option("device_count", 2)
    session = proton.start("run", backend="cupti", data="trace", hook="triton")
    for device in (0, 1):
        context = fake_driver.calls.fake_context_create(device)
        _native.enter_op("op", {"flops16": 1000.0, "bytes": 10})
        fake_driver.launch("raw", 5)
        _native.exit_op()
        fake_driver.calls.fake_context_destroy(context)
    proton.finalize(session)
    profile = prepare(open_profile(Path("run.chrome_trace")))
    dots = dots_of(profile)
    assert [(dot.name, dot.device) for dot in dots] == [("op", 0), ("op", 1)]
