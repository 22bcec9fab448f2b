"""Tests of what is served under which path, without a server."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from proton.errors import FormatError
from proton.files.write import write_profile
from proton.model.profile import Profile, TreeProfile
from proton.render.page import page_data
from proton.render.page.html import PLACE
from proton.render.server.site import Answer, Maker, Site, page_maker
from tests.support.profiles import profile_of


def pack(profiles: Sequence[Profile]) -> bytes:
    """What the tests look at of profiles: where from, what time, what is warned of."""
    shown = []
    for profile in profiles:
        assert isinstance(profile, TreeProfile)
        time_ns = profile.tree.own[1]["time (ns)"]
        shown.append([os.path.basename(profile.source), time_ns, list(profile.warnings)])
    return json.dumps(shown).encode()


MAKER = Maker(lambda element: f"<page>{element}", pack)


def write(path: str, time_ns: int = 5) -> None:
    write_profile(profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": time_ns})]), path)


def answer(site: Site, path: str) -> Answer | None:
    place = site.place(path)
    return None if place is None else site.answer(place)


def data(site: Site, path: str = "/data") -> object:
    found = answer(site, path)
    assert found is not None
    if found.status != 200:
        return found.body.decode()
    return json.loads(gzip.decompress(found.body))


@pytest.fixture(autouse=True)
def folder(tmp_cwd: Path) -> Path:
    return tmp_cwd


def test_a_file_is_a_page_and_its_data() -> None:
    write("run.hatchet")
    site = Site(["run.hatchet"], MAKER)
    assert site.prepare() == ""
    page = answer(site, "/")
    assert page is not None
    assert page.body.startswith(b"<page><script")
    assert b'data-live="data"' in page.body
    assert data(site) == [["run.hatchet", 5, []]]
    assert site.place("/changes") is not None


def test_several_files_are_one_page() -> None:
    write("a.hatchet", 1)
    write("b.hatchet", 2)
    site = Site(["a.hatchet", "b.hatchet"], MAKER)
    assert data(site) == [["a.hatchet", 1, []], ["b.hatchet", 2, []]]


def test_a_folder_has_an_index_and_a_page_a_recording() -> None:
    write("a.hatchet", 1)
    write("s.part_0.hatchet", 2)
    write("s.part_1.hatchet", 3)
    site = Site(["."], MAKER)
    index = answer(site, "/")
    assert index is not None
    assert b'"link":"a.hatchet"' in index.body
    assert b'id="proton-folder"' in index.body
    assert data(site, "/view/a.hatchet/data") == [["a.hatchet", 1, []]]
    assert data(site, "/view/s/data") == [["s", 5, []]]
    assert data(site, "/view/a.hatchet/s/data") == [["a.hatchet", 1, []], ["s", 5, []]]
    assert site.place("/data") is None
    assert site.place("/changes") is not None


def test_the_page_of_a_session_stays_when_it_becomes_one_file() -> None:
    write("run.part_0.hatchet", 2)
    site = Site(["."], MAKER)
    Path("run.part_0.hatchet").unlink()
    write("run.hatchet", 9)
    assert data(site, "/view/run/data") == [["run.hatchet", 9, []]]


@pytest.mark.parametrize(
    "path",
    [
        "/view/../secret.hatchet/data",
        "/view/..%2Fsecret.hatchet/data",
        "/view/%2e%2e/secret.hatchet/data",
        "/view/secret.hatchet/data",
        "/view/link.hatchet/data",
        "/view/inside%2Fa.hatchet/data",
        "/view//data",
        "/view/data",
        "/view/a.hatchet/a.hatchet/a.hatchet/data",
        "/a.hatchet",
        "/inside/a.hatchet",
        "/../secret.hatchet",
        "/%00/",
        "/assets/page.html",
    ],
)
def test_nothing_else_is_there(path: str, folder: Path) -> None:
    (folder / "inside").mkdir()
    write("secret.hatchet")
    write("inside/a.hatchet")
    (folder / "inside" / "link.hatchet").symlink_to(folder / "secret.hatchet")
    assert Site(["inside"], MAKER).place(path) is None


def test_a_served_file_has_no_folder() -> None:
    write("a.hatchet")
    write("b.hatchet")
    assert Site(["a.hatchet"], MAKER).place("/view/b.hatchet/data") is None


def test_the_version_changes_with_the_files_and_data_are_packed_once_each() -> None:
    packed = 0

    def count(profiles: Sequence[Profile]) -> bytes:
        nonlocal packed
        packed += 1
        return pack(profiles)

    write("run.hatchet", 1)
    site = Site(["run.hatchet"], Maker(lambda _: "", count))
    place = site.place("/data")
    assert place is not None
    first = site.version(place)
    tags = {site.answer(place).headers["ETag"] for _ in range(3)}
    assert tags == {f'"{first}"'}
    assert packed == 1
    write("run.hatchet", 2)
    assert site.version(place) != first
    assert data(site) == [["run.hatchet", 2, []]]
    assert packed == 2


def test_the_index_changes_when_a_recording_appears() -> None:
    write("a.hatchet")
    site = Site(["."], MAKER)
    place = site.place("/changes")
    assert place is not None
    before = site.version(place)
    Path("notes.txt").touch()
    assert site.version(place) == before
    write("b.hatchet")
    assert site.version(place) != before


def test_a_file_that_is_gone_or_cut_is_said_in_place_of_data() -> None:
    write("run.hatchet")
    site = Site(["run.hatchet"], MAKER)
    whole = Path("run.hatchet").read_bytes()
    Path("run.hatchet").write_bytes(whole[:40])
    assert str(data(site)).startswith("run.hatchet: truncated")
    assert site.prepare().endswith("it is still being written: look again when it is whole")
    Path("run.hatchet").unlink()
    assert data(site) == "run.hatchet: no such file any more"
    Path("run.hatchet").write_bytes(whole)
    assert data(site) == [["run.hatchet", 5, []]]


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["gone.hatchet"], "^gone.hatchet: no such file$"),
        (["empty"], "^empty: no profile in this folder; they end in .hatchet, "),
        (["above"], "^above: no profile in this folder; there is 1 in above/b: serve that$"),
        (["empty", "a.hatchet"], "^empty: a folder among files; serve it alone$"),
    ],
)
def test_what_cannot_be_served_is_one_line(paths: list[str], said: str) -> None:
    Path("empty").mkdir()
    for name in ("a", "b"):
        Path("above", name).mkdir(parents=True)
    write("above/b/run.hatchet")
    write("a.hatchet")
    with pytest.raises(FormatError, match=said):
        Site(paths, MAKER)


def test_a_file_that_is_no_profile_is_found_before_anybody_looks() -> None:
    Path("x.hatchet").write_text("hello")
    with pytest.raises(FormatError, match="not a profile"):
        Site(["x.hatchet"], MAKER).prepare()


def test_the_real_maker_puts_elements_into_the_built_page(monkeypatch: pytest.MonkeyPatch) -> None:
    page = f"<body>{PLACE}</body>"
    monkeypatch.setattr("proton.render.server.site.template", lambda: page)
    maker = page_maker()
    assert maker.page("<p>") == "<body><p></body>"
    profiles = [profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})])]
    assert maker.pack(profiles) == page_data(profiles)
