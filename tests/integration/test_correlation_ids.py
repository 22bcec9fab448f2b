"""Traces number the arrow from a launch to its work as the driver numbers the launch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import proton
from proton import _core
from proton.cli import main
from proton.files.detect import open_profile
from proton.model.profile import TraceProfile
from proton.model.span_table import flow_table
from tests.native.fake_cuda.driver import FakeDriver
from tests.support.perfetto import packets_of

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def launches(driver: FakeDriver) -> list[int]:
    """The correlation ids of a kernel and a copy."""
    return [driver.launch("k", 1000), driver.memcpy(1, 64)]


def test_chrome_traces_have_the_correlation_id_of_launch_and_work(fake_driver: FakeDriver) -> None:
    fake_driver.launch("before")
    session = proton.start("run", backend="cupti", data="trace")
    ids = launches(fake_driver)
    proton.finalize(session)
    events = json.loads(Path("run.chrome_trace").read_text())["traceEvents"]
    for end in ("flow_out", "flow_in"):
        assert [event["bind_id"] for event in events if end in event] == ids
    assert ids[0] > 1


@pytest.mark.parametrize("has_core", [True, False])
@pytest.mark.parametrize("suffix", ["chrome_trace", "pftrace"])
def test_readers_know_the_ids_and_writers_keep_them(
    fake_driver: FakeDriver, monkeypatch: pytest.MonkeyPatch, suffix: str, has_core: bool
) -> None:
    session = proton.start("run", backend="cupti", data="trace")
    ids = launches(fake_driver)
    proton.finalize(session, "perfetto" if suffix == "pftrace" else "")
    for written in ("again.chrome_trace", "again.pftrace"):
        assert main(["convert", f"run.{suffix}", written]) == 0
    with monkeypatch.context() as patch:
        if not has_core:
            patch.setattr(_core, "event_scanner", lambda: None)
            patch.setattr(_core, "packet_scanner", lambda: None)
        for path in (f"run.{suffix}", "again.chrome_trace", "again.pftrace"):
            profile = open_profile(path)
            assert isinstance(profile, TraceProfile)
            assert sorted(flow_table(profile.trace.flows).ids) == ids


def test_flows_of_perfetto_count_on_from_their_process(fake_driver: FakeDriver) -> None:
    fake_driver.launch("before")
    session = proton.start("run", backend="cupti", data="trace")
    ids = launches(fake_driver)
    proton.finalize(session, "perfetto")
    packets = packets_of(Path("run.pftrace").read_bytes())
    flows = [
        flow
        for packet in packets
        if packet.HasField("track_event")
        for flow in packet.track_event.terminating_flow_ids
    ]
    (process,) = (
        packet.track_descriptor.uuid
        for packet in packets
        if packet.HasField("track_descriptor") and packet.track_descriptor.HasField("process")
    )
    assert sorted(flow - process for flow in flows) == ids
