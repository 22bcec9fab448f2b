"""Tests of the table of formats that are only written."""

from __future__ import annotations

import pytest

from proton.errors import UsageError
from proton.files.encoding.schema import SUFFIXES
from proton.files.export import EXPORTS, export_of_path, export_profile, suffixes
from tests.support.profiles import profile_of

PROFILE = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})])


def test_every_ending_names_one_format() -> None:
    endings = [*suffixes(), *(f".{suffix}" for suffix in SUFFIXES.values())]
    assert len(set(endings)) == len(endings)
    assert export_of_path("a/run.speedscope.json") == "speedscope"
    assert export_of_path("run.pb.gz") == "pprof"
    assert export_of_path("run.json") is None


@pytest.mark.parametrize("name", sorted(set(EXPORTS) - {"parquet"}))
def test_every_format_is_written(name: str) -> None:
    assert export_profile(PROFILE, name).content


def test_an_unknown_format_lists_those_there_are() -> None:
    with pytest.raises(UsageError, match="unknown format 'svg'; choose one of 'collapsed', 'csv'"):
        export_profile(PROFILE, "svg")
