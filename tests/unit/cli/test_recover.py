"""`proton recover`: which journals it finds, where it writes, and what it says."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton._native import TraceCursor
from proton.cli import main
from proton.cli.parser import parse
from proton.cli.recover import find_journals
from proton.errors import FormatError, UsageError
from proton.files.detect import open_profile
from proton.files.journal.format import DATA, MAGIC, facts_of_process, pack_chunk, pack_facts
from proton.model.schema import to_object
from tests.support.in_kernel import KERNEL
from tests.support.native import MakeSession, launch
from tests.support.profiles import tree_in

pytestmark = pytest.mark.usefixtures("tmp_cwd")

DEAD = 4_000_000


def run(words: list[str]) -> int:
    arguments = parse(["recover", *words])
    return int(arguments.run(arguments))


def facts(**changes: Any) -> dict[str, Any]:
    host = os.uname().nodename
    return {"pid": DEAD, "host": host, "data": "tree", "format": "hatchet", "phase": 0} | changes


def header(phase: int = 0, end_time_ns: int = 10**18, pid: int = DEAD) -> dict[str, object]:
    return {"format": 1, "pid": pid, "phase": phase, "phases": [phase], "end_time_ns": end_time_ns}


def leave_journal(
    make_session: MakeSession, name: str = "run.partial", count: int = 3, **changes: Any
) -> bytes:
    session = make_session()
    for _ in range(count):
        launch(session, "k")
    content = session.serialize("hatchet_msgpack", 0, header(changes.get("phase", 0)))
    data = pack_facts(facts(**changes)) + pack_chunk(DATA, content)
    Path(name).write_bytes(data)
    return data


def leave_newer_file(make_session: MakeSession) -> None:
    """As a process that is killed between writing its profile, of 9 launches, and tidying up."""
    leave_journal(make_session)
    session = make_session()
    for _ in range(9):
        launch(session, "k")
    Path("run.hatchet").write_bytes(session.serialize("hatchet", 0, header()))


def kernel_count(path: str) -> float:
    tree = tree_in(open_profile(path))
    total = tree.root.total("count")
    assert total is not None
    return total


@pytest.mark.parametrize("name", ["run", "run.hatchet", "run.partial", "run.part_3.hatchet"])
def test_any_name_of_the_profile_finds_the_journal(make_session: MakeSession, name: str) -> None:
    leave_journal(make_session)
    assert run([name]) == 0
    assert os.listdir() == ["run.hatchet"]
    assert kernel_count("run.hatchet") == 3
    warnings = json.loads(Path("run.hatchet").read_text())[0]["proton"]["warnings"]
    assert warnings == [
        f"recovered: process {DEAD} was killed; data up to 2001-09-09 01:46:40.000 UTC"
    ]


def test_what_was_found_and_done_is_said(
    make_session: MakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_journal(make_session)
    Path(f".proton-{DEAD}-7.tmp").write_bytes(b"half a file")
    run(["run"])
    assert capsys.readouterr().err.splitlines() == [
        f"proton: recovered: process {DEAD} was killed; data up to 2001-09-09 01:46:40.000 UTC",
        "proton: wrote run.hatchet",
        f"proton: removed run.partial, ./.proton-{DEAD}-7.tmp",
    ]
    assert os.listdir() == ["run.hatchet"]


def test_the_journal_can_be_kept(make_session: MakeSession) -> None:
    data = leave_journal(make_session)
    run(["run", "--keep"])
    assert Path("run.partial").read_bytes() == data


def test_a_set_of_parts_gets_the_one_that_is_missing(make_session: MakeSession) -> None:
    session = make_session()
    launch(session, "k")
    for phase in range(2):
        content = session.serialize("hatchet", 0, header(phase))
        Path(f"run.part_{phase}.hatchet").write_bytes(content)
    leave_journal(make_session, phase=2)
    run(["run"])
    assert sorted(os.listdir()) == [f"run.part_{phase}.hatchet" for phase in range(3)]
    assert kernel_count("run") == 5


def test_one_file_can_be_made_of_the_whole_set(make_session: MakeSession) -> None:
    session = make_session()
    launch(session, "k")
    Path("run.part_0.hatchet").write_bytes(session.serialize("hatchet", 0, header(0)))
    Path("run.part_1.hatchet").write_bytes(session.serialize("hatchet", 0, header(1, pid=1)))
    leave_journal(make_session, phase=2)
    run(["run", "-o", "whole.hatchet"])
    assert kernel_count("whole.hatchet") == 4  # part 1 is of another run
    assert any(
        "1 of 3 parts are missing" in text for text in open_profile("whole.hatchet").warnings
    )


def test_parts_that_were_written_after_the_journal_are_in_the_one_file(
    make_session: MakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session = make_session()
    for _ in range(5):
        launch(session, "k")
    later = 2 * 10**18
    for phase in range(4):
        content = session.serialize("hatchet", 0, header(phase, end_time_ns=later))
        Path(f"run.part_{phase}.hatchet").write_bytes(content)
    leave_journal(make_session, phase=2)  # with 3 of the 5 launches
    run(["run", "-o", "whole.hatchet"])
    assert kernel_count("whole.hatchet") == 20
    assert capsys.readouterr().err.splitlines() == [
        f"proton: recovered: process {DEAD} was killed; data up to 2033-05-18 03:33:20.000 UTC",
        "proton: parts that are whole: phase 0 to 3",
        "proton: wrote whole.hatchet",
        "proton: removed run.partial",
    ]


def test_a_file_written_after_the_journal_was_saved_is_taken_in_its_place(
    make_session: MakeSession,
) -> None:
    leave_newer_file(make_session)
    old = make_session().serialize("hatchet", 0, header(pid=1))
    Path("run.part_0.hatchet").write_bytes(old)  # of another run
    run(["run", "-o", "whole.hatchet"])
    assert kernel_count("whole.hatchet") == 9


def test_a_process_killed_after_writing_needs_no_recovery(
    make_session: MakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_newer_file(make_session)
    assert run(["run"]) == 0
    assert "run.hatchet has all of it already" in capsys.readouterr().err
    assert os.listdir() == ["run.hatchet"]
    assert kernel_count("run.hatchet") == 9


def test_a_profile_of_another_run_is_not_overwritten(make_session: MakeSession) -> None:
    leave_journal(make_session)
    session = make_session()
    launch(session, "k")
    Path("run.hatchet").write_bytes(session.serialize("hatchet", 0, header(pid=1)))
    with pytest.raises(UsageError, match=r"^run\.hatchet: is the profile of another run; "):
        run(["run.partial"])
    assert kernel_count("run.hatchet") == 1
    assert Path("run.partial").exists()
    os.utime("run.partial", (2**32, 2**32))
    (warning,) = open_profile("run").warnings
    assert warning.endswith("a later one was killed; see it with: proton-viewer run.partial")
    os.utime("run.partial", (0, 0))
    assert open_profile("run.hatchet").warnings == ()
    assert run(["run.hatchet", "--force"]) == 0
    assert kernel_count("run.hatchet") == 3
    assert not Path("run.partial").exists()


def test_a_process_that_runs_keeps_its_journal(make_session: MakeSession) -> None:
    leave_journal(make_session, **facts_of_process())
    with pytest.raises(UsageError, match="is still running and will write its profile itself"):
        run(["run"])
    assert run(["run", "-o", "now.hatchet"]) == 0
    assert kernel_count("now.hatchet") == 3
    assert Path("run.partial").exists()


def test_journals_that_were_kept_are_recovered_too(make_session: MakeSession) -> None:
    leave_journal(make_session)
    leave_journal(make_session, "run.pid_7.partial", 5)
    assert find_journals("run") == ["run.partial", "run.pid_7.partial"]
    assert run(["run"]) == 0
    assert kernel_count("run.hatchet") == 3
    assert kernel_count("run.pid_7.hatchet") == 5


@pytest.mark.parametrize("content", [b"", MAGIC[:4], MAGIC, pack_facts(facts())])
def test_an_empty_or_torn_journal_is_one_clear_line(
    content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("run.partial").write_bytes(content)
    assert main(["recover", "run"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("proton: run.partial: ")
    assert "nothing to recover" in line or "the file is empty" in line
    assert "still being written" not in line or "the file is empty" in line
    assert os.listdir() == ["run.partial"]


def test_without_a_journal_it_says_what_there_is() -> None:
    with pytest.raises(FormatError, match=r"^run: nothing to recover: there is no journal"):
        run(["run"])
    Path("run.hatchet").write_bytes(b"[]")
    with pytest.raises(FormatError, match="the file itself is there: open it"):
        run(["run.hatchet"])
    Path("run.part_0.hatchet").write_bytes(b"[]")
    with pytest.raises(FormatError, match=r"parts are there: open run\.part_0\.hatchet, which"):
        run(["run"])
    Path("other.partial").write_bytes(b"somebody's download")
    with pytest.raises(FormatError, match=r"^other\.partial: not a journal of proton"):
        run(["other.partial"])


def test_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(["--help"])
    assert "usage: proton recover FILE" in capsys.readouterr().out
    with pytest.raises(UsageError, match="-o needs a file"):
        run(["run", "-o"])


def test_what_kernels_recorded_about_themselves_is_recovered_and_merged_with_earlier_parts(
    make_session: MakeSession,
) -> None:
    session = make_session()
    launch(session, "k")
    recorded = {"in_kernel": [to_object(KERNEL)]}
    Path("run.part_0.hatchet").write_bytes(session.serialize("hatchet", 0, header(0) | recorded))
    content = session.serialize("hatchet_msgpack", 0, header(1) | recorded)
    Path("run.partial").write_bytes(pack_facts(facts(phase=1)) + pack_chunk(DATA, content))
    run(["run", "-o", "whole.hatchet", "--keep"])
    assert [each.launches for each in open_profile("whole.hatchet").in_kernel] == [4]
    run(["run"])
    assert open_profile("run.part_0.hatchet").in_kernel == open_profile("whole.hatchet").in_kernel


def test_a_trace_has_what_its_last_chunk_says_of_kernels(make_session: MakeSession) -> None:
    session = make_session(data="trace")
    cursor = TraceCursor()
    chunks = b""
    for launches in (1, 2):
        launch(session, "k")
        recorded = {"in_kernel": [to_object(replace(KERNEL, launches=launches))]}
        content, _ = session.serialize_new(0, header() | recorded, cursor, limit=100)
        chunks += pack_chunk(DATA, content)
    Path("run.partial").write_bytes(pack_facts(facts(data="trace", format="perfetto")) + chunks)
    run(["run"])
    assert [each.launches for each in open_profile("run.pftrace").in_kernel] == [2]


def test_a_journal_of_another_machine_is_not_taken_from_a_process_that_may_run_there(
    make_session: MakeSession, capsys: pytest.CaptureFixture[str]
) -> None:
    data = leave_journal(make_session, host="node7")
    with pytest.raises(
        UsageError, match=r"written on 'node7', where process 4000000 may still run"
    ):
        run(["run"])
    assert run(["run", "-o", "copy.hatchet"]) == 0
    assert Path("run.partial").read_bytes() == data
    assert kernel_count("copy.hatchet") == 3
    assert run(["run", "--force"]) == 0
    assert kernel_count("run.hatchet") == 3
    assert not Path("run.partial").exists()
