"""What recordings hold, as tests/golden says, and that the columns of a page hold the same.

`PROTON_UPDATE_GOLDEN=1 pytest tests/integration/test_shared_trees.py` writes the file anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.measurements import whole_of
from proton.errors import FormatError
from proton.files.read import read_profile
from proton.model.metric import CPU_TIME_NS, DEVICE_ID, DEVICE_TYPE
from proton.render.page import page_data
from tests.support.pages import unpack
from tests.support.profiles import tree_in

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden" / "trees.json"
RECORDINGS = sorted(path.name for path in (TESTS / "data").glob("*.hatchet"))


def facts_of(name: str) -> dict[str, Any]:
    """What must be found in a recording."""
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
def test_a_recording_holds_what_the_golden_file_says(name: str) -> None:
    if os.environ.get("PROTON_UPDATE_GOLDEN"):
        everything = {each: facts_of(each) for each in RECORDINGS}
        GOLDEN.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n")
    golden = json.loads(GOLDEN.read_text())
    assert sorted(golden) == RECORDINGS
    assert facts_of(name) == golden[name]


@pytest.mark.parametrize("name", RECORDINGS)
def test_the_columns_of_a_page_hold_the_same(name: str) -> None:
    profile = read_profile((TESTS / "data" / name).read_bytes(), name)
    try:
        head, read = unpack(page_data([profile]))
    except FormatError:  # nothing was recorded
        return
    (parts,) = head["profiles"]
    tree, golden = parts["tree"], json.loads(GOLDEN.read_text())[name]
    kinds = "".join(tree["kinds"][frame] for frame in read(tree["frame"]))
    if len(kinds) == len(golden["kinds"]):  # views leave launches of metadata out
        assert kinds == golden["kinds"]
        parents = read(tree["parent"])
        assert sum(row * parent for row, parent in enumerate(parents)) == golden["parents_sum"]
        for metric in tree["metrics"]:
            total = sum(read(metric["values"]))
            wanted = golden["totals"][metric["name"]] or 0
            if (
                "o" in kinds and metric["name"] == CPU_TIME_NS
            ):  # times of operators lie in each other
                wanted = whole_of(tree_in(profile), CPU_TIME_NS)
            assert total == pytest.approx(wanted), metric["name"]
    assert parts["summary"]["command"] == golden["command"]
    assert parts["summary"]["warnings"] == golden["warnings"]
