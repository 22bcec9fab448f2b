"""Tests of telling files apart by how they begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from proton.files.detect import files_of, open_profile
from proton.files.export import EXPORTS, export_profile
from proton.files.recognize import IR, PAGE, is_of_kind
from proton.files.write import format_for, formats_of, write_file, write_profile
from proton.model.profile import TraceProfile

DATA = Path(__file__).parents[2] / "data"
RECORDINGS = sorted(
    path
    for path in DATA.iterdir()
    if path.suffix in (".hatchet", ".hatchet_msgpack", ".chrome_trace", ".pftrace", ".json")
)
STRANGERS = {
    "notes.txt": b"my thesis, 3 years of work\n",
    "table.csv": b"name,age\nme,3\n",
    "values.json": b'[{"a": 1}, {"b": 2}]',
    "settings.json": b'{"frame": 1, "children": []}',
    "program.py": b"import proton\n",
    "page.html": b"<!doctype html><title>proton</title>",
    "image.png": b"\x89PNG\r\n\x1a\n\0\0\0",
}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: str(path.name))
def test_every_recording_is_known_as_a_profile(path: Path) -> None:
    assert is_of_kind(path, "hatchet")
    assert not any(is_of_kind(path, kind) for kind in (*EXPORTS, PAGE))


@pytest.mark.parametrize("export", [name for name in EXPORTS if name != "parquet"])
@pytest.mark.parametrize("name", ["gpt.hatchet", "activity.chrome_trace"])
def test_what_is_exported_is_known_again(export: str, name: str, tmp_path: Path) -> None:
    profile = open_profile(DATA / name)
    if isinstance(profile, TraceProfile) and not EXPORTS[export].holds_traces:
        pytest.skip("holds no trace")
    write_file(tmp_path / "x", export_profile(profile, export).content)
    assert is_of_kind(tmp_path / "x", export)
    assert not is_of_kind(tmp_path / "x", "hatchet")


@pytest.mark.parametrize("name", STRANGERS)
def test_files_of_others_are_of_no_kind(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(STRANGERS[name])
    assert not any(is_of_kind(tmp_path / name, kind) for kind in ("hatchet", *EXPORTS, PAGE, IR))


def test_empty_files_pages_and_ir_are_known(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    assert is_of_kind(path, PAGE)
    path.write_text('<!doctype html><script id="proton-data"></script>')
    assert is_of_kind(path, PAGE)
    path.write_text("#blocked = 1\nmodule {\n}\n")
    assert is_of_kind(path, IR)
    assert not is_of_kind(tmp_path / "gone", PAGE)


def test_a_name_gives_the_files_that_are_read(tmp_path: Path) -> None:
    profile = open_profile(DATA / "gpt.hatchet")
    for name in ("run.hatchet", "set.part_0.hatchet", "set.part_2.hatchet"):
        write_profile(profile, tmp_path / name)
    assert files_of(tmp_path / "run") == [tmp_path / "run.hatchet"]
    parts = [tmp_path / "set.part_0.hatchet", tmp_path / "set.part_2.hatchet"]
    assert files_of(tmp_path / "set.hatchet") == files_of(parts[1]) == parts
    assert files_of(tmp_path / "gone") == []


def test_the_suffix_names_the_format_else_the_first_that_fits() -> None:
    profile = open_profile(DATA / "gpt.hatchet")
    assert format_for(profile, "a.hatchet_msgpack") == "hatchet_msgpack"
    assert format_for(profile, "-") == formats_of(profile)[0] == "hatchet"
