"""Python and TypeScript read the same recordings alike: both must find what tests/golden says.

`PROTON_UPDATE_GOLDEN=1 pytest tests/integration/test_shared_trees.py` writes the file anew; its
other reader is web/src/read.test.ts.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from proton.files.read import read_profile
from proton.model.metric import DEVICE_ID, DEVICE_TYPE
from tests.support.profiles import tree_in

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden" / "trees.json"
RECORDINGS = sorted(path.name for path in (TESTS / "data").glob("*.hatchet"))


def facts_of(name: str) -> dict[str, Any]:
    """What both languages must find in a recording."""
    profile = read_profile((TESTS / "data" / name).read_bytes(), name)
    tree = tree_in(profile)
    metrics = sorted(
        {
            metric
            for own in tree.own
            for metric, value in own.items()
            if isinstance(value, (int, float)) and metric not in (DEVICE_ID, DEVICE_TYPE)
        }
    )
    return {
        "kinds": "".join(frame.kind.value for frame in tree.frames),
        "parents_sum": sum(row * parent for row, parent in enumerate(tree.parents)),
        "deepest": max(tree.depths()),
        "totals": {metric: tree.totals(metric)[0] for metric in metrics},
        "medians": {str(row): detail.p50_ns for row, detail in sorted(tree.details.items())},
        "devices": [f"{each.device_type} {each.device_id} {each.arch}" for each in profile.devices],
        "command": list(profile.header.command),
        "losses": dict(profile.losses),
        "warnings": list(profile.warnings),
    }


@pytest.mark.parametrize("name", RECORDINGS)
def test_python_finds_in_a_recording_what_typescript_finds(name: str) -> None:
    if os.environ.get("PROTON_UPDATE_GOLDEN"):
        everything = {each: facts_of(each) for each in RECORDINGS}
        GOLDEN.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n")
    golden = json.loads(GOLDEN.read_text())
    assert sorted(golden) == RECORDINGS
    assert facts_of(name) == golden[name]
