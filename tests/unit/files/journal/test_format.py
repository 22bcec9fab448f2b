"""Chunks of a journal: what is whole is read, what is torn or damaged is not."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from proton.files.journal import format as journal_format
from proton.files.journal.format import DATA, MAGIC, is_alive, is_journal, pack_chunk, pack_facts

FACTS = {"pid": 7, "host": "somewhere"}
CHUNKS = (b"first", b"", b"third" * 100)
WHOLE = pack_facts(FACTS) + b"".join(pack_chunk(DATA, chunk) for chunk in CHUNKS)


def test_a_whole_journal_reads_back() -> None:
    content = journal_format.unpack(WHOLE)
    assert content.facts == FACTS
    assert content.chunks == CHUNKS
    assert content.lost_bytes == 0


def test_every_torn_tail_leaves_the_chunks_before_it() -> None:
    ends = [len(pack_facts(FACTS))]
    for chunk in CHUNKS:
        ends.append(ends[-1] + len(pack_chunk(DATA, chunk)))
    for size in range(len(MAGIC), len(WHOLE)):
        content = journal_format.unpack(WHOLE[:size])
        whole = sum(end <= size for end in ends)
        assert content.facts == (FACTS if whole else {})
        assert content.chunks == CHUNKS[: max(0, whole - 1)]
        assert content.lost_bytes == size - ([len(MAGIC), *ends][whole])


def test_a_damaged_byte_ends_what_is_read_and_invents_nothing() -> None:
    chance = random.Random(1)
    for _ in range(500):
        damaged = bytearray(WHOLE)
        at = chance.randrange(len(MAGIC), len(damaged))
        damaged[at] ^= 1 << chance.randrange(8)
        content = journal_format.unpack(bytes(damaged))
        assert content.chunks == CHUNKS[: len(content.chunks)]
        assert content.lost_bytes > 0 or len(content.chunks) < len(CHUNKS)


def test_random_bytes_are_no_journal() -> None:
    assert not is_journal(b"")
    assert not is_journal(b"\x92\x83 something else")
    assert is_journal(MAGIC[:3])  # torn early
    assert is_journal(WHOLE)


def test_facts_are_read_from_the_file_alone(tmp_path: Path) -> None:
    (tmp_path / "run.partial").write_bytes(WHOLE)
    (tmp_path / "empty.partial").write_bytes(b"")
    (tmp_path / "other.partial").write_bytes(b"a download of somebody's")
    assert journal_format.read_facts(tmp_path / "run.partial") == FACTS
    assert journal_format.read_facts(tmp_path / "empty.partial") == {}
    assert journal_format.read_facts(tmp_path / "other.partial") is None
    assert journal_format.read_facts(tmp_path / "missing.partial") is None


def test_a_process_is_known_by_more_than_its_number() -> None:
    facts = journal_format.facts_of_process()
    assert is_alive(facts)
    assert not is_alive({**facts, "process_start": 1})  # its number was given to another
    assert not is_alive({**facts, "host": "another"})
    assert not is_alive({})


def test_a_process_that_ended_is_not_alive() -> None:
    script = (
        "import json, sys; from proton.files.journal.format import facts_of_process;"
        "print(json.dumps(facts_of_process()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=os.environ)
    import json

    assert not is_alive(json.loads(done.stdout))


def test_a_journal_is_of_another_machine_only_if_it_names_one() -> None:
    assert journal_format.is_elsewhere(FACTS)
    assert not journal_format.is_elsewhere({"pid": 7, "host": os.uname().nodename})
    assert not journal_format.is_elsewhere({})
