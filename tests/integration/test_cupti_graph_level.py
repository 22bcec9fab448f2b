"""Tracing graphs as a whole, on the fake driver: an older graph must not be launched under it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import proton


def capture(driver: Any) -> Any:
    """An executable graph of two kernels."""
    stream = driver.calls.fake_stream_create()
    driver.calls.fake_capture_begin(stream)
    driver.launch("k", 4, stream)
    driver.launch("k", 4, stream)
    return driver.instantiate(driver.calls.fake_capture_end(stream))


def test_an_older_graph_is_recorded_by_its_nodes_and_the_profile_says_so(
    fake_driver: Any, tmp_cwd: Path, profile_of: Any
) -> None:
    older = capture(fake_driver)
    session = proton.start("run", backend="cupti", mode="graphs=graph")
    with proton.scope("whole"):
        fake_driver.replay(capture(fake_driver))
    with proton.scope("older"):
        fake_driver.replay(older)
    proton.finalize(session)
    profile = profile_of("run.hatchet")
    counts = {path: profile.metrics(path).get("count") for path in profile.paths()}
    assert [n for path, n in counts.items() if path.startswith("whole/") and n] == [1]
    assert [n for path, n in counts.items() if path.startswith("older/") and n] == [2]
    assert any("captured before the session" in text for text in profile.header["warnings"])
