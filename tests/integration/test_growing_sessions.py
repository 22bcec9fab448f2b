"""A session that is still recorded, as `proton serve` sees it: journal, phases, then the file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import proton
from proton.errors import FormatError
from proton.files.growing import find_recording, find_recordings, open_growing
from proton.render.page import page_data
from proton.render.server.site import DATA, Maker, Place, Site
from tests.support.profiles import tree_in
from tests.support.waiting import wait_for

pytestmark = pytest.mark.usefixtures("tmp_cwd")


def runs() -> float:
    """The kernel runs that can be seen now."""
    try:
        tree = tree_in(open_growing(find_recording("run")))
    except FormatError:
        return 0
    return sum(value for own in tree.own if isinstance(value := own.get("count", 0), int))


def test_what_is_recorded_is_seen_before_it_is_finished(
    fake_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTON_JOURNAL_INTERVAL", "0.05")
    session = proton.start("run")
    fake_gpu.launch("k")
    wait_for(lambda: runs() == 1, "the journal")
    assert find_recording("run.hatchet").is_open
    assert [each.name for each in find_recordings(Path())] == ["run"]
    assert "a profile in the making" in open_growing(find_recording("run")).warnings[-1]
    proton.data.advance_phase(session)
    fake_gpu.launch("k")
    fake_gpu.launch("k")
    wait_for(lambda: runs() == 3, "the second phase in the journal")
    proton.finalize()
    assert runs() == 3
    assert not find_recording("run").is_open
    assert open_growing(find_recording("run")).warnings == ()


def test_a_served_session_stays_at_its_address_until_it_is_one_file(
    fake_gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROTON_JOURNAL_INTERVAL", "0.05")
    proton.start("run")
    fake_gpu.launch("k")
    wait_for(lambda: runs() == 1, "the journal")
    site = Site(["."], Maker(lambda _: "", page_data))
    place = Place(("run",), DATA)
    before = site.version(place)
    assert b'"k"' in gzip.decompress(site.answer(place).body)
    fake_gpu.launch("late")
    proton.finalize()
    assert site.version(place) != before
    assert b'"late"' in gzip.decompress(site.answer(place).body)
