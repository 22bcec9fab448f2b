"""What recording makes of kernels, in profiles of sessions whose plain kernels are in no cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import proton
from proton.backends.instrumentation import kernel_changes
from tests.support.recorded_softmax import launch_softmax, read

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _cold_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cold"))


def _record() -> tuple[dict[str, Any], dict[str, Any]]:
    """Changes of the kernel and the `proton` key of the profile."""
    session = proton.start("run", backend="instrumentation", mode="ops")
    launch_softmax()
    proton.finalize(session)
    root, (entry,) = read()
    return entry["changed"], root["proton"]


def test_both_sides_are_known_though_the_plain_kernel_was_never_compiled(launches: Any) -> None:
    changed, said = _record()
    assert set(changed) == {"registers", "spills", "shared", "occupancy"}
    assert all(None not in pair for pair in changed.values())
    without, with_records = changed["registers"]
    assert with_records > without > 0
    assert said["warnings"] == []


def test_beyond_the_limits_one_side_is_known_and_a_warning_says_so(
    launches: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_changes, "MOST_COMPILED", 0)
    changed, said = _record()
    assert {without for without, _ in changed.values()} == {None}
    assert changed["registers"][1] > 0
    (warning,) = said["warnings"]
    assert warning.startswith("1 kernel not compiled without records in the time there is")
