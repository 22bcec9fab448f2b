"""The data of pages: documents that read back, parts from a table, nothing that has no module."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from proton.errors import FormatError
from proton.files.detect import open_profile
from proton.files.read import read_profile
from proton.model.profile import Profile
from proton.render import page
from proton.render.page import PARTS, page_data, viewed
from tests.support.pages import unpack
from tests.support.profiles import profile_of, tree_in

DATA = Path(__file__).parents[3] / "data"
SIMPLE = [(0, "ROOT", {}), (1, "step", {}), (2, "k", {"time (ns)": 5, "count": 1})]


def test_the_document_reads_back_as_the_tree_that_was_shown() -> None:
    profile = open_profile(DATA / "gpt.hatchet")
    head, _ = unpack(page_data([profile]))
    (shown,) = head["profiles"]
    again = read_profile(json.dumps(shown["document"]).encode(), "again")
    assert tree_in(again) == viewed(profile).tree
    assert again.header == profile.header
    assert shown["source"] == profile.source
    assert head["format"] == "proton-page/1"
    assert head["diff"] is None


def test_a_trace_has_the_tree_of_its_spans_as_document() -> None:
    head, _ = unpack(page_data([open_profile(DATA / "activity.chrome_trace")]))
    root = head["profiles"][0]["document"][0]
    assert root["children"]


def test_samples_records_and_times_of_ranks_are_left_to_their_parts() -> None:
    profile = open_profile(DATA / "sampled.hatchet")
    head, _ = unpack(page_data([profile]))
    assert "sampling" not in head["profiles"][0]["document"][0]["proton"]
    merged = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5, "time_by_rank (ns)": (2, 3)})])
    from proton.model.ranks import Rank

    merged = replace(merged, ranks=(Rank(0), Rank(1)))
    head, _ = unpack(page_data([merged]))
    assert head["profiles"][0]["document"][0]["children"][0]["metrics"] == {"time (ns)": 5}


def test_a_part_whose_module_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"gone": "proton.render.page.gone:gone_part", "names": PARTS["names"]}
    monkeypatch.setattr(page, "PARTS", {**table, "summary": PARTS["summary"]})
    head, _ = unpack(page_data([profile_of(SIMPLE)]))
    assert list(head["profiles"][0]["parts"]) == ["summary"]


def test_a_profile_in_which_nothing_was_recorded_is_one_clear_line() -> None:
    with pytest.raises(FormatError, match="nothing was recorded"):
        page_data([Profile("empty.hatchet")])
