"""Profiles into files."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from proton.errors import DataKindError, UsageError, WriteError
from proton.files.detect import open_profile
from proton.files.write import formats_of, to_bytes, write_profile
from proton.model.profile import Profile, TraceProfile
from proton.model.trace import Trace

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def profile() -> Profile:
    return open_profile(DATA / "gpt.hatchet")


def test_trees_and_traces_have_formats_of_their_own(profile: Profile) -> None:
    assert formats_of(profile) == ("hatchet", "hatchet_msgpack")
    assert formats_of(TraceProfile("t", trace=Trace())) == ("chrome_trace", "perfetto")


def test_an_unknown_format_lists_the_choices(profile: Profile) -> None:
    with pytest.raises(UsageError, match="unknown output format 'pdf'; choose one of 'chrome_tr"):
        to_bytes(profile, "pdf")


@pytest.mark.parametrize(
    ("kind", "output_format"), [("tree", "chrome_trace"), ("trace", "hatchet")]
)
def test_a_format_of_the_other_kind_is_refused(
    profile: Profile, kind: str, output_format: str
) -> None:
    other = profile if kind == "tree" else TraceProfile("t", trace=Trace())
    with pytest.raises(DataKindError, match=r"is a t\w+, and format .*; choose one of"):
        to_bytes(other, output_format)


@pytest.mark.parametrize("name", ["a.hatchet", "a.hatchet_msgpack", "a.other"])
def test_the_suffix_says_the_format(profile: Profile, tmp_path: Path, name: str) -> None:
    write_profile(profile, tmp_path / name)
    is_msgpack = (tmp_path / name).read_bytes()[:1] == b"\x92"
    assert is_msgpack is name.endswith("msgpack")
    assert replace(open_profile(tmp_path / name), source=profile.source) == profile


def test_a_given_format_goes_before_the_suffix(profile: Profile, tmp_path: Path) -> None:
    write_profile(profile, tmp_path / "a.hatchet", "hatchet_msgpack")
    assert (tmp_path / "a.hatchet").read_bytes()[:1] == b"\x92"


def test_nothing_but_the_file_is_left(profile: Profile, tmp_path: Path) -> None:
    write_profile(profile, tmp_path / "a.hatchet")
    write_profile(profile, tmp_path / "a.hatchet")
    assert [path.name for path in tmp_path.iterdir()] == ["a.hatchet"]


def test_the_file_is_as_readable_as_any_other(profile: Profile, tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    write_profile(profile, tmp_path / "a.hatchet")
    assert (tmp_path / "a.hatchet").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_missing_folder_is_named(profile: Profile, tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a.hatchet"
    with pytest.raises(WriteError, match="cannot be written: No such file or directory") as caught:
        write_profile(profile, target)
    assert str(caught.value).startswith(f"{target}: ")


def test_a_link_stays_a_link_and_its_file_keeps_its_permissions(
    profile: Profile, tmp_path: Path
) -> None:
    there, link = tmp_path / "kept" / "real.hatchet", tmp_path / "a.hatchet"
    there.parent.mkdir()
    there.write_bytes(b"old")
    there.chmod(0o640)
    link.symlink_to(there)
    write_profile(profile, link)
    assert link.is_symlink()
    assert stat.S_IMODE(there.stat().st_mode) == 0o640
    assert there.read_bytes() == to_bytes(profile, "hatchet")
    assert os.listdir(there.parent) == ["real.hatchet"]


def test_a_link_to_a_name_that_is_still_free_makes_the_file_there(
    profile: Profile, tmp_path: Path
) -> None:
    (tmp_path / "a.hatchet").symlink_to(tmp_path / "real.hatchet")
    write_profile(profile, tmp_path / "a.hatchet")
    assert (tmp_path / "a.hatchet").is_symlink()
    assert (tmp_path / "real.hatchet").is_file()


def test_a_pipe_gets_the_content_and_stays_a_pipe(profile: Profile, tmp_path: Path) -> None:
    pipe = tmp_path / "a.hatchet"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        received = pool.submit(pipe.read_bytes)
        write_profile(profile, pipe)
        assert received.result() == to_bytes(profile, "hatchet")
    assert pipe.is_fifo()


def test_a_device_is_written_to_and_stays_a_device(profile: Profile, tmp_path: Path) -> None:
    device = tmp_path / "null.hatchet"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.open("wb").close()
    except OSError:
        pytest.skip("making a device takes rights that this process lacks")
    write_profile(profile, device)
    assert device.is_char_device()


def test_a_folder_cannot_be_written_to(profile: Profile, tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot be written: Is a directory"):
        write_profile(profile, tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any file")
def test_a_read_only_file_is_not_replaced(profile: Profile, tmp_path: Path) -> None:
    target = tmp_path / "a.hatchet"
    target.write_bytes(b"old")
    target.chmod(0o444)
    with pytest.raises(WriteError, match="cannot be written: Permission denied"):
        write_profile(profile, target)
    assert target.read_bytes() == b"old"


def test_a_failure_half_way_leaves_the_old_file_and_no_other(
    profile: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.hatchet"
    target.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(WriteError, match="No space left on device"):
        write_profile(profile, target)
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.hatchet"]


def test_a_profile_that_holds_nothing_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(DataKindError, match="choose one of none"):
        write_profile(Profile("empty"), tmp_path / "a")
