"""The journal of a session: replaced or extended, never in the way of another's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proton import _native
from proton.files.detect import open_profile
from proton.files.journal.format import pack_facts, unpack
from proton.files.read import read_profile
from proton.runtime.autosave import Journal
from tests.support.native import DEVICE, MakeSession, launch
from tests.support.profiles import trace_in, tree_in

HEADER = {"format": 1, "end_time_ns": 5}


def make(folder: Path, data: str = "tree") -> Journal:
    return Journal(str(folder / "run"), session="run", data=data, output_format="hatchet")


def test_nothing_appears_until_something_is_saved(tmp_path: Path) -> None:
    make(tmp_path).remove()
    assert os.listdir(tmp_path) == []


def test_a_tree_is_replaced_as_a_whole(tmp_path: Path, make_session: MakeSession) -> None:
    session, journal = make_session(), make(tmp_path)
    for _ in range(3):
        launch(session, "k")
        journal.save(session, 0, HEADER)
    assert os.listdir(tmp_path) == ["run.partial"]
    assert len(unpack((tmp_path / "run.partial").read_bytes()).chunks) == 1
    tree = tree_in(open_profile(tmp_path / "run.partial"))
    assert tree.root.total("count") == 3
    journal.remove()
    assert os.listdir(tmp_path) == []


def test_origins_are_in_a_growing_journal_once(tmp_path: Path, make_session: MakeSession) -> None:
    session, journal = make_session(data="trace"), make(tmp_path, "trace")
    names = ["first_kernel", "second_kernel"]
    for known in (1, 1, 2, 2):
        launch(session, "k")
        line = {"file": "m.py", "line": 3}
        origins = [{"kernel": name, "wrapper": "", "lines": [line]} for name in names[:known]]
        journal.save(session, 0, {**HEADER, "origins": origins})
    chunks = unpack((tmp_path / "run.partial").read_bytes()).chunks
    found = [[each.kernel for each in read_profile(chunk, "x").origins] for chunk in chunks]
    assert found == [names[:1], [], names, []]
    profile = open_profile(tmp_path / "run.partial")
    assert [origins.kernel for origins in profile.origins] == names
    journal.remove()


def test_a_trace_grows_by_what_is_new(tmp_path: Path, make_session: MakeSession) -> None:
    session, journal = make_session(data="trace"), make(tmp_path, "trace")
    path = tmp_path / "run.partial"
    sizes, contents = [], []
    for save in range(3):
        for n in range(100):
            start_ns = 1000 * (100 * save + n)
            session.on_kernel("k", start_ns, start_ns + 500, **DEVICE)
        journal.save(session, 0, HEADER)
        contents.append(path.read_bytes())
        sizes.append(len(contents[-1]))
    assert contents[2].startswith(contents[1])
    assert contents[1].startswith(contents[0])
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.2)
    trace = trace_in(open_profile(path))
    assert sum(span.name == "k" for span in trace.spans) == 600  # launches and kernels
    journal.remove()


def test_a_new_phase_starts_a_new_file(tmp_path: Path, make_session: MakeSession) -> None:
    session, journal = make_session(data="trace"), make(tmp_path, "trace")
    launch(session, "old")
    journal.save(session, 0, HEADER)
    session.advance_phase()
    launch(session, "new")
    journal.save(session, 1, HEADER)
    content = unpack((tmp_path / "run.partial").read_bytes())
    assert content.facts["phase"] == 1
    trace = trace_in(open_profile(tmp_path / "run.partial"))
    assert {span.name for span in trace.spans} == {"new"}
    journal.remove()


def test_after_a_failure_a_trace_starts_anew_and_loses_nothing(
    tmp_path: Path, make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, journal = make_session(data="trace"), make(tmp_path, "trace")
    launch(session, "a")
    journal.save(session, 0, HEADER)
    launch(session, "b")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "no space")))
        with pytest.raises(OSError, match="no space"):
            journal.save(session, 0, HEADER)
    journal.save(session, 0, HEADER)
    trace = trace_in(open_profile(tmp_path / "run.partial"))
    assert {span.name for span in trace.spans} == {"a", "b"}
    journal.remove()


def test_a_dead_processs_journal_is_kept_and_said(tmp_path: Path) -> None:
    old = pack_facts({"pid": 4_000_000, "host": os.uname().nodename, "process_start": 1})
    (tmp_path / "run.partial").write_bytes(old)
    journal = make(tmp_path)
    kept = tmp_path / "run.pid_4000000.partial"
    assert kept.read_bytes() == old
    assert journal.path == str(tmp_path / "run.partial")
    (notice,) = journal.notices
    assert notice == (
        f"{tmp_path}/run.partial: process 4000000 was killed and left this journal; it is kept as "
        f"'{kept}', to get its profile: proton recover {kept}"
    )
    (tmp_path / "run.partial").write_bytes(old)
    make(tmp_path)
    assert (tmp_path / "run.pid_4000000_2.partial").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"a download of somebody's",
        pack_facts({"pid": 5, "host": "another machine", "process_start": 1}),
    ],
)
def test_a_file_that_is_not_ours_to_move_stays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.partial").write_bytes(content)
    journal = make(tmp_path)
    assert journal.path == str(tmp_path / f"run.pid_{os.getpid()}.partial")
    assert (tmp_path / "run.partial").read_bytes() == content
    assert journal.notices == []


def test_forgetting_leaves_the_file(tmp_path: Path, make_session: MakeSession) -> None:
    session, journal = make_session(data="trace"), make(tmp_path, "trace")
    launch(session, "a")
    journal.save(session, 0, HEADER)
    journal.forget()
    journal.remove()
    assert os.listdir(tmp_path) == ["run.partial"]
    assert isinstance(session, _native.Session)
