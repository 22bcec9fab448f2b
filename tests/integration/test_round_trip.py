"""Every recording reads, writes and reads back equal in every format that can hold it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.files.detect import open_profile
from proton.files.read import read_profile
from proton.files.write import formats_of, to_bytes, write_profile
from proton.model.profile import Profile, TraceProfile, TreeProfile
from tests.support.profiles import tree_in
from tests.support.traces import as_held

DATA = Path(__file__).parents[1] / "data"
RECORDINGS = sorted(
    path.name for path in DATA.iterdir() if path.is_file() and path.suffix not in (".py", ".md")
)
SUFFIXES = {"hatchet", "hatchet_msgpack", "chrome_trace", "pftrace"}
FORMATS = ("hatchet", "hatchet_msgpack", "chrome_trace", "perfetto")


def read(name: str) -> Profile:
    return read_profile((DATA / name).read_bytes(), name)


def test_there_are_recordings_of_every_format() -> None:
    assert {Path(name).suffix.removeprefix(".") for name in RECORDINGS} >= SUFFIXES


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_reads(name: str) -> None:
    profile = read(name)
    assert isinstance(profile, (TreeProfile, TraceProfile))


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_reads_back_equal(name: str, output_format: str) -> None:
    profile = read(name)
    if output_format not in formats_of(profile):
        with pytest.raises(ValueError, match=r"is a t\w+, and format"):
            to_bytes(profile, output_format)
        return
    assert read_profile(to_bytes(profile, output_format), name) == as_held(profile, output_format)


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_is_written_is_the_same_from_the_second_time_on(name: str) -> None:
    profile = read(name)
    output_format = formats_of(profile)[0]
    once = to_bytes(profile, output_format)
    assert to_bytes(read_profile(once, name), output_format) == once


@pytest.mark.parametrize("name", ["gpt", "values", "graph", "deep", "sampled", "in_kernel"])
def test_json_and_msgpack_of_one_recording_are_one_tree(name: str) -> None:
    text, packed = tree_in(read(f"{name}.hatchet")), tree_in(read(f"{name}.hatchet_msgpack"))
    assert text.frames[-1] == packed.frames[-1]
    if name != "deep":  # one level more in JSON
        assert text == packed


def test_a_merged_set_of_parts_survives_as_one_file(tmp_path: Path) -> None:
    merged = open_profile(DATA / "train.hatchet")
    target = tmp_path / "merged.hatchet_msgpack"
    write_profile(merged, target)
    assert replace(open_profile(target), source=merged.source) == merged


def test_parts_with_samples_are_one_profile_with_all_of_them(tmp_path: Path) -> None:
    part = read("sampled.hatchet")
    for phase in (0, 1):
        write_profile(part, tmp_path / f"run.part_{phase}.hatchet_msgpack")
    merged = open_profile(tmp_path / "run")
    assert part.sampling is not None
    assert merged.sampling is not None
    assert merged.sampling.samples == 2 * (part.sampling.samples or 0)
    assert merged.sampling.lines == part.sampling.lines
    assert isinstance(merged, TreeProfile)
    assert merged.tree.root.total("num_samples") == merged.sampling.samples
    write_profile(merged, tmp_path / "all.hatchet")
    assert open_profile(tmp_path / "all.hatchet").sampling == merged.sampling


@pytest.mark.filterwarnings("ignore")  # of packages that are not ours
@pytest.mark.parametrize("name", ["gpt.hatchet", "triton36_kernels.hatchet", "samples.hatchet"])
def test_what_we_write_opens_in_the_viewer_of_triton(name: str, tmp_path: Path) -> None:
    pytest.importorskip("hatchet")
    viewer = pytest.importorskip("triton.profiler.viewer")
    profile = read(name)
    write_profile(profile, tmp_path / "out.hatchet")
    with (tmp_path / "out.hatchet").open(encoding="utf-8") as file:
        graph, _, _, devices = viewer.get_raw_metrics(file)
    assert isinstance(profile, TreeProfile)
    assert set(graph.dataframe["name"]) == {frame.name for frame in profile.tree.frames}
    assert graph.dataframe["time (ns)"].sum() == profile.tree.root.total("time (ns)")
    assert list(devices["CUDA"]) == ["0"]
