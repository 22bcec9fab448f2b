from __future__ import annotations

import re
from pathlib import Path

import pytest

from proton.analysis.reasons import NO_REASON, REASONS, UNKNOWN, explain, reason_of_metric

ROOT = Path(__file__).resolve().parents[3]
# As the known tool spells them in its files.
KNOWN_TOOL = [
    "branch_resolving", "no_instruction", "short_scoreboard", "wait", "long_scoreboard",
    "tex_throttle", "barrier", "membar", "imc_miss", "mio_throttle", "math_pipe_throttle",
    "drain", "lg_throttle", "not_Selected", "misc", "dispatch_stall", "sleeping",
    "selected",
]  # fmt: skip
H200 = [
    "barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle",
    "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc",
    "no_instructions", "not_selected", "selected", "short_scoreboard", "sleeping",
    "tex_throttle", "wait", "warpgroup_arrive",
]  # fmt: skip


def test_every_reason_of_the_hardware_is_explained() -> None:
    assert set(REASONS) == {*H200, "gmma"}


@pytest.mark.parametrize("name", KNOWN_TOOL)
def test_every_metric_of_the_known_tool_is_a_reason(name: str) -> None:
    reason = reason_of_metric(f"stalled_{name}")
    assert reason is not None
    assert explain(reason) is not UNKNOWN


@pytest.mark.parametrize("metric", ["num_samples", "num_stalled_samples", "time (ns)", "stalled_"])
def test_other_metrics_are_no_reasons(metric: str) -> None:
    assert reason_of_metric(metric) is None


def test_a_reason_of_hardware_to_come_is_said_to_be_unknown() -> None:
    assert explain("quantum_wait") is UNKNOWN
    assert explain(NO_REASON) is not UNKNOWN


@pytest.mark.parametrize("name", REASONS)
def test_meaning_and_remedy_are_one_sentence_each(name: str) -> None:
    for text in REASONS[name]:
        assert re.fullmatch(r"[A-Z][^.]*\.", text), text


def test_the_guide_has_the_same_table() -> None:
    page = (ROOT / "docs" / "guide" / "sampling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", page, re.MULTILINE)
    found = {name: (meaning, remedy) for name, meaning, remedy in rows if name in REASONS}
    assert found == {name: tuple(reason) for name, reason in REASONS.items()}
