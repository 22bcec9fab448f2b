"""Tests of pprof's format, read with Google's protobuf where that is installed."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from proton.errors import MetricNotFound
from proton.files.export.pprof import export
from proton.model.profile import Header
from tests.support.pprof import parse_pprof
from tests.support.profiles import Row, profile_of

ROWS: list[Row] = [
    (0, "ROOT", {"time (ns)": 0}),
    (1, "step", {}),
    (2, "k", {"time (ns)": 5, "bytes": 8, "device_id": "0", "device_type": "CUDA"}),
    (1, "k", {"time (ns)": 2.5}),
]


def test_a_context_is_a_sample_with_its_stack_leaf_first() -> None:
    content, notes = export(profile_of(ROWS))
    profile = parse_pprof(content)
    text = profile.string_table
    assert text[0] == ""
    types = [(text[each.type], text[each.unit]) for each in profile.sample_type]
    assert types == [("time", "nanoseconds"), ("bytes", "bytes")]
    functions = {each.id: text[each.name] for each in profile.function}
    names = {each.id: functions[each.line[0].function_id] for each in profile.location}
    stacks = [([names[at] for at in s.location_id], list(s.value)) for s in profile.sample]
    assert stacks == [(["k", "step"], [5, 8]), (["k"], [2, 0])]
    label = profile.sample[0].label[0]
    assert (text[label.key], text[label.str]) == ("device", "CUDA 0")
    assert notes == ("rounded, as pprof holds whole numbers: time (ns)",)


def test_header_and_losses_are_kept_and_the_first_metric_can_be_picked() -> None:
    header = Header(
        session="run",
        command=("python", "a.py"),
        proton_version="0.1.0",
        start_time_ns=10,
        end_time_ns=25,
    )
    made = replace(profile_of(ROWS), header=header, losses={"dropped": 3}, warnings=("beware",))
    profile = parse_pprof(export(made, "bytes").content)
    text = profile.string_table
    assert (profile.time_nanos, profile.duration_nanos) == (10, 15)
    comments = [text[at] for at in profile.comment]
    assert comments == ["python a.py", "device: NVIDIA H200", "lost: 3 dropped", "warning: beware"]
    assert text[profile.default_sample_type] == "bytes"
    assert text[profile.mapping[0].filename] == "run"


def test_the_same_profile_gives_the_same_bytes() -> None:
    first, second = (export(profile_of(ROWS)).content for _ in range(2))
    assert first == second
    assert gzip.decompress(first)


def test_nothing_above_zero_is_an_error() -> None:
    with pytest.raises(MetricNotFound, match="no metric that adds up"):
        export(profile_of([(0, "ROOT", {}), (1, "k", {"x": -1})]))
