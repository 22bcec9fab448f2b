"""The `proton` key and the device map, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.encoding.summary import device_map, read_devices, read_summary, summary_object
from proton.model.device import Device
from proton.model.metric import MetricKind
from proton.model.origins import KernelOrigins, OriginLine
from proton.model.profile import Header, Profile
from proton.model.ranks import Rank
from proton.model.schema import to_object
from proton.model.summary import FrameworkContext

HEADER = Header(
    session="run",
    context="ops",
    framework_context=FrameworkContext("ops", "2.13.0", since_ns=5, refused="no symbols"),
    data="tree",
    backends=("interpreter",),
    mode="m",
    command=("python", "a.py"),
    host="h",
    pid=7,
    proton_version="0.1.0",
    python_version="3.11.7",
    triton_version="3.6.0",
    start_time_ns=1,
    end_time_ns=2,
)


def test_a_file_without_our_key_says_nothing() -> None:
    summary = read_summary(None, "f")
    assert (summary.header, summary.phases, summary.kinds) == (Header(), (0,), None)


def test_what_is_written_reads_back_equal() -> None:
    profile = Profile(
        "f",
        header=HEADER,
        metric_kinds={"cpu_time (ns)": MetricKind.EXCLUSIVE, "lr": MetricKind.PROPERTY},
        losses={"late": 3},
        warnings=("w",),
        autotune=({"kernel": "k", "configs": [], "winner": None},),
        phases=(0, 2),
    )
    summary = read_summary(summary_object(profile), "f")
    assert summary.header == HEADER
    assert summary.metric_kinds == profile.metric_kinds
    assert summary.losses == profile.losses
    assert summary.warnings == profile.warnings
    assert summary.autotune == profile.autotune
    assert summary.phases == profile.phases


def test_the_phase_of_a_part_is_its_own_and_not_all_that_are_known() -> None:
    assert read_summary({"phase": 2, "phases": [0, 1, 2, 3]}, "f").phases == (2,)


def test_null_means_not_known_and_unknown_keys_are_ignored() -> None:
    assert read_summary({"triton": None, "losses": None, "new": [{}]}, "f").header == Header()


def test_what_is_empty_is_not_written() -> None:
    assert summary_object(Profile("f")) == {"format": 1}


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "proton must be an object, not a list"),
        ({"session": 5}, "proton.session must be text, not 5"),
        ({"session": "\ud800"}, r"proton.session must be text, not '\ud800'"),
        ({"pid": "7"}, "proton.pid must be an integer, not '7'"),
        ({"pid": True}, "proton.pid must be an integer, not True"),
        ({"command": "ls"}, "proton.command must be a list of texts, not 'ls'"),
        ({"command": [1]}, "proton.command must be a list of texts, not a list"),
        ({"phases": [0, "1"]}, "proton.phases must be a list of integers, not a list"),
        ({"losses": {"a": "b"}}, "proton.losses must be an object of counts, not an object"),
        ({"autotune": [7]}, "proton.autotune must be a list of objects, not a list"),
        ({"autotune": [{"a": float("nan")}]}, "proton.autotune must be a list of objects"),
        (
            {"metric_kinds": {"x": "odd"}},
            "proton.metric_kinds must be an object of exclusive, inclusive, property",
        ),
        ({"kinds": 7}, "proton.kinds must be text, not 7"),
        ({"format": 99}, "format 99 is newer than this Proton reads (1); install a newer"),
    ],
)
def test_a_wrong_field_is_named(found: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_summary(found, "run.hatchet")
    assert str(caught.value).startswith(f"run.hatchet: {message}")


def test_a_device_map_is_one_device_an_entry() -> None:
    found = {"CUDA": {"0": {"arch": "90", "num_sms": 132}, "1": {"arch": 80}}, "CPU": {"0": {}}}
    assert read_devices(found, "f") == (
        Device("CUDA", "0", "90", num_sms=132),
        Device("CUDA", "1", "80"),
        Device("CPU", "0", ""),
    )


def test_devices_read_back_equal() -> None:
    devices = (Device("CUDA", "0", "90", 132, 1, 2, 3, "H200"), Device("CPU", "0", "interpreter"))
    assert read_devices(device_map(Profile("f", devices=devices)), "f") == devices


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (None, "the device map must be an object, not None"),
        ({"CUDA": []}, "device type 'CUDA' must hold an object"),
        ({"CUDA": {"0": 5}}, "device '0' must be an object"),
        ({"CUDA": {"0": {"arch": []}}}, "device 'CUDA' '0'.arch must be text, not a list"),
        (
            {"CUDA": {"0": {"num_sms": 1.5}}},
            "device 'CUDA' '0'.num_sms must be an integer, not 1.5",
        ),
    ],
)
def test_a_wrong_device_is_named(found: Any, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_devices(found, "f")
    assert str(caught.value) == f"f: {message}"


def test_ranks_read_back_as_they_were() -> None:
    ranks = (Rank(0), Rank(3, "a.hatchet", "n1", 17, "NVIDIA H200", 5.5, 2, 1))
    assert read_summary({"ranks": list(map(to_object, ranks))}, "x").ranks == ranks
    assert read_summary({"ranks": None}, "x").ranks == ()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({}, "proton.ranks must be a list"),
        ([3], r"proton.ranks\[0\] must be an object, not 3"),
        ([{}], r"proton.ranks\[0\].rank must be an integer"),
        ([{"rank": 0, "time_ns": "x"}], r"proton.ranks\[0\].time_ns must be a number, not 'x'"),
    ],
)
def test_what_is_no_rank_is_refused(found: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_summary({"ranks": found}, "x")


@pytest.mark.parametrize("name", ["start_ns", "names", "gpu_time_ns"])
def test_lists_of_steps_are_as_long_as_their_times(name: str) -> None:
    value = "x" if name == "names" else 1
    steps = {"base_ns": 0, "start_ns": [1, 2], "duration_ns": [1, 1]}
    whole = {**steps, name: [value] * 2}
    assert len(getattr(read_summary({"steps": [whole]}, "f").steps[0], name)) == 2
    with pytest.raises(FormatError) as caught:
        read_summary({"steps": [{**steps, name: [value]}]}, "f")
    assert str(caught.value) == (
        f"f: proton.steps[0].{name} must be a list of 2, as many as duration_ns, not a list"
    )


def test_origins_come_back_as_they_were_written() -> None:
    line = OriginLine("m.py", 9, "forward", ("aten.relu",), ("relu",), is_backward=True)
    origins = (KernelOrigins("k", "w.py", 3, (line,), left_out=2, is_partial=True),)
    written = summary_object(Profile("f", origins=origins))
    assert tuple(read_summary(written, "f").origins) == origins
    assert to_object(KernelOrigins("k")) == {"kernel": "k", "wrapper": "", "lines": []}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"file": "m.py", "line": 0}, r"proton.origins\[0\].lines\[0\].line must be"),
        ({"file": 3, "line": 1}, r"proton.origins\[0\].lines\[0\].file must be"),
        ({"file": "m.py", "line": 1, "ops": [1]}, r"proton.origins\[0\].lines\[0\].ops"),
    ],
)
def test_what_is_no_origin_is_refused(line: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_summary({"origins": [{"kernel": "k", "wrapper": "", "lines": [line]}]}, "f")
