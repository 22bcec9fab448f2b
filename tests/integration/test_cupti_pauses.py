"""Sessions of backend "cupti" that pause, on the fake driver: nothing of before a pause is lost."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import BackendUnavailable
from proton.runtime.hooks import HookManager
from tests.native.fake_cuda.driver import FakeDriver

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def rows_of(path: str) -> Counter[str]:
    """How many launches, arrows and kernels a timeline has."""
    events = json.loads(Path(path).read_bytes())["traceEvents"]
    rows = Counter(key for each in events for key in ("flow_out", "flow_in") if key in each)
    rows["kernels"] = sum(each["ph"] == "X" and each["name"] == "k" for each in events)
    return rows


def test_a_timeline_that_pauses_before_its_end_keeps_its_arrows(fake_driver: FakeDriver) -> None:
    rows = []
    for pauses in (False, True, False):
        session = proton.start("run", backend="cupti", data="trace")
        for _ in range(5):
            fake_driver.launch("k", 1000)
        if pauses:
            proton.deactivate(session)
        proton.finalize(session)
        rows.append(rows_of("run.chrome_trace"))
    assert rows[0]["flow_out"] == rows[0]["flow_in"] == 5
    assert rows == [rows[0]] * 3


def test_an_activation_that_cupti_has_refused_can_be_tried_again(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", hook="triton")
    fake_driver.launch("k", 10)
    proton.deactivate(session)
    fake_driver.fail("cuptiActivityEnable", 15, times=1)
    with pytest.raises(BackendUnavailable, match="cuptiActivityEnable failed"):
        proton.activate(session)
    assert HookManager.active_hooks == [], "they would go on for an inactive session"
    fake_driver.launch("unseen", 10)
    proton.activate(session)
    fake_driver.launch("k", 10)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 2
    assert profile.paths() == ["k"]
    assert profile.losses == {}


@pytest.mark.parametrize("data", ["tree", "trace"])
def test_a_session_may_pause_a_thousand_times(
    data: str, fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", data=data)
    for _ in range(1000):
        proton.activate(session)
        fake_driver.launch("k", 10)
        proton.deactivate(session)
        fake_driver.launch("unseen", 10)
    proton.finalize(session)
    if data == "trace":
        rows = rows_of("run.chrome_trace")
        assert (rows["kernels"], rows["flow_out"], rows["flow_in"]) == (1000, 1000, 1000)
        return
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 1000
    assert profile.losses == {}


def test_dropped_records_and_migrations_outlast_a_pause_before_the_end(
    fake_driver: FakeDriver, profile_of: Any
) -> None:
    session = proton.start("run", backend="cupti", mode="unified_memory=on")
    fake_driver.calls.fake_unified_memory(1, 4096, 20, 0, 0)
    fake_driver.option("drop_next", 3)
    for _ in range(5):
        fake_driver.launch("k", 10)
    proton.deactivate(session)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    assert profile.metrics("k")["count"] == 2
    assert profile.metrics("<unified memory HtoD>")["count"] == 1
    assert profile.losses == {"dropped_event": 3}
