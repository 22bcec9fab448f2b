"""Tests of the index of a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from proton.files.growing import find_recordings
from proton.render.folder_facts import Facts
from proton.render.folder_page import folder_page


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path) -> Path:
    return tmp_cwd


def write(name: str, changed_s: int, size: int = 10) -> None:
    Path(name).write_bytes(b"x" * size)
    os.utime(name, (changed_s, changed_s))


def page(folder: Path) -> str:
    return folder_page(folder, find_recordings(folder))


def test_recordings_stand_by_date_newest_first(folder: Path) -> None:
    write("old.hatchet", 1_700_000_000)
    write("new.chrome_trace", 1_800_000_000, 1_234_567)
    write("mid.part_0.hatchet", 1_750_000_000, 999_600)
    write("mid.part_1.hatchet", 1_750_000_001, 1)
    text = page(folder)
    assert re.findall(r'href="view/([^"]+)/"', text) == ["new.chrome_trace", "mid", "old.hatchet"]
    assert re.findall(r"<td>(t[^<]+)</td>", text) == ["trace", "tree, 2 phases", "tree"]
    assert re.findall(r'number">([\d.]+ K?M?B)<', text) == ["1.23 MB", "1 MB", "10 B"]
    assert "2027-01-15 08:00:00" in text


def test_names_are_text_and_nothing_else(folder: Path) -> None:
    name = "\"><img src=x onerror='alert(1)'>\u202e.hatchet"
    write(name, 1)
    text = page(folder)
    assert "<img" not in text
    assert "\u202e" not in text
    assert "&lt;img" in text
    [link] = re.findall(r'href="view/([^"]+)/"', text)
    assert re.fullmatch(r"[\w.%-]+", link)


def test_a_name_that_is_no_text_has_a_link(folder: Path) -> None:
    os.close(os.open(os.fsencode(folder) + b"/\xff.hatchet", os.O_CREAT | os.O_WRONLY))
    text = page(folder)
    assert 'href="view/%FF.hatchet/"' in text
    text.encode()


def test_only_the_script_of_the_page_may_run(folder: Path) -> None:
    text = page(folder)
    assert re.search(r"default-src &#x27;none&#x27;; script-src &#x27;sha256-", text)
    assert len(re.findall("<script", text)) == 1


def test_a_folder_that_was_emptied_or_is_gone_says_so(folder: Path) -> None:
    assert "There is no profile in this folder any more." in page(folder)
    assert "<p>gone: cannot be &lt;read&gt;</p>" in folder_page(
        folder, [], problem="gone: cannot be <read>"
    )


def test_facts_of_recordings_stand_beside_them_as_text(folder: Path) -> None:
    write("a.hatchet", 1)
    facts = Facts("<H200>", "1 080", "88.0 ms")
    text = folder_page(folder, find_recordings(folder), lambda _: facts)
    assert "<td>&lt;H200&gt;</td>" in text
    assert '<td class="number">1 080</td><td class="number">88.0 ms</td>' in text
    broken = folder_page(folder, find_recordings(folder), lambda _: Facts(problem='a "b"'))
    assert '<span class="problem" title="a &quot;b&quot;">cannot be read</span>' in broken
