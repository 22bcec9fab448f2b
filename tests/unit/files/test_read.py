"""Bytes of any format into a profile, and what is said of bytes that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgpack
import pytest

from proton.errors import FormatError
from proton.files.read import read_profile
from proton.model.frame import FrameKind
from proton.model.metric import MetricKind
from proton.model.profile import TreeProfile
from tests.support.profiles import tree_in

DATA = Path(__file__).parents[2] / "data"
ROOT = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": []}


def refusal(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        read_profile(data, "run.hatchet")
    message = str(caught.value)
    assert message.startswith("run.hatchet: ")
    return message.removeprefix("run.hatchet: ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a profile: the file is empty"),
        (b" \n\t\n", "not a profile: the file is empty"),
        (gzip.compress(b"[]", mtime=0), "compressed with gzip; unpack it first"),
        (b"BZh91AY", "compressed with bzip2; unpack it first"),
        (b"PK\x03\x04abc", "compressed with zip; unpack it first"),
        (
            b"\x7fELF\x02\x01\x01\x00",
            "not a profile: starts with the bytes 7f 45 4c 46 02 01 01 00",
        ),
        (b"hello", "not a profile: starts with 'hello', which is none of hatchet JSON"),
        (b"[]", "not a profile: a list of 0, not of root node and device map"),
        (b"[1, 2]", "not a profile: a list of 2, not of root node and device map"),
        (b"[{}, {}, {}]", "not a profile: a list of 3, not of root node and device map"),
        (b"[{}]", "node 0 has no frame name"),
        (b'{"a": 1}', "not a profile: an object, neither a list of root node and device map nor"),
        (b'[{"frame":{"name":"ROOT"}},7]', "the device map must be an object, not 7"),
        (b"\x92\x01", "truncated: the file ends at byte 2, inside a value"),
        (b"\x92\x01\x02", "not a profile: a list of 2, not of root node and device map"),
    ],
)
def test_bytes_that_are_no_profile_are_refused_with_the_reason(data: bytes, message: str) -> None:
    assert refusal(data).startswith(message)


@pytest.mark.parametrize("size", [1, 100, 559])
def test_a_file_that_was_cut_off_says_at_which_byte(size: int) -> None:
    data = (DATA / "train.part_0.hatchet").read_bytes()
    assert refusal(data[:size]) == f"truncated: the file ends at byte {size}, inside a value"


@pytest.mark.parametrize("size", [1, 100, 659])
def test_a_msgpack_file_that_was_cut_off_says_at_which_byte(size: int) -> None:
    data = (DATA / "graph.hatchet_msgpack").read_bytes()
    assert refusal(data[:size]) == f"truncated: the file ends at byte {size}, inside a value"


def test_names_that_look_like_keys_do_not_disturb() -> None:
    root = ROOT | {"frame": {"name": '"a": "b":', "type": "function"}}
    tree = tree_in(read_profile(json.dumps([root, {}]).encode(), "f"))
    assert tree.root.name == '"a": "b":'


def test_a_lone_surrogate_is_refused() -> None:
    root = ROOT | {"frame": {"name": "\ud800"}}
    message = refusal(json.dumps([root, {}]).encode())
    assert message == r"node 0 has a frame name that is not text but '\ud800'"


def test_an_escaped_pair_of_surrogates_is_one_character() -> None:
    tree = tree_in(read_profile(json.dumps([ROOT | {"frame": {"name": "🚀"}}, {}]).encode(), "f"))
    assert tree.root.name == "🚀"


def test_kinds_that_do_not_fit_are_inferred_and_that_is_said() -> None:
    profile = read_profile(json.dumps([ROOT | {"proton": {"kinds": "rsk"}}, {}]).encode(), "f")
    assert profile.warnings == ("kinds of frames inferred: 3 are given for 1 nodes",)


def test_cpu_time_of_a_foreign_file_is_exclusive() -> None:
    profile = read_profile((DATA / "triton36_scopes.hatchet").read_bytes(), "f")
    assert profile.metric_kinds == {"cpu_time (ns)": MetricKind.EXCLUSIVE}


@pytest.mark.parametrize("pack", [msgpack.packb, lambda value: json.dumps(value).encode()])
def test_a_root_alone_is_a_profile_without_devices(pack: Any) -> None:
    assert read_profile(pack([ROOT]), "f").devices == ()


def kinds_by_name(recording: str) -> dict[str, FrameKind]:
    tree = tree_in(read_profile((DATA / recording).read_bytes(), recording))
    return {frame.name: frame.kind for frame in tree.frames}


def test_a_profile_of_triton_36_has_kernels_below_scopes() -> None:
    kinds = kinds_by_name("triton36_kernels.hatchet")
    assert kinds["step"] is FrameKind.SCOPE
    assert kinds["matmul_256x256x256"] is FrameKind.KERNEL


def test_a_graph_of_triton_36_has_kernels_below_the_place_of_capture() -> None:
    profile = read_profile((DATA / "triton36_graph.hatchet").read_bytes(), "f")
    assert isinstance(profile, TreeProfile)
    captured = profile.tree.root.child("replay_2").child("<captured_at>").child("capture")
    assert captured.total("count") == 12


def test_scopes_inside_a_kernel_of_triton_36_have_a_named_device() -> None:
    profile = read_profile((DATA / "triton36_inkernel.hatchet").read_bytes(), "f")
    assert isinstance(profile, TreeProfile)
    kernel = profile.tree.root.child("add").child("add")
    assert kernel.frame.kind is FrameKind.KERNEL
    assert kernel.child("load").own["device_type"] == "CUDA"


def test_a_python_context_of_triton_36_has_files_and_lines() -> None:
    tree = tree_in(read_profile((DATA / "triton36_python.hatchet").read_bytes(), "f"))
    frame = tree.frames[1]
    assert (frame.kind, frame.file, frame.function) == (
        FrameKind.PYTHON,
        "record_with_triton.py",
        "<module>",
    )


def test_samples_stand_on_source_lines_below_their_kernel() -> None:
    assert kinds_by_name("samples.hatchet")["kernels/softmax.py:21@softmax"] is FrameKind.SAMPLE


def foreign(scope: dict[str, Any], kernel: dict[str, Any]) -> list[dict[str, Any]]:
    """What a file of somebody else's reads as: the metrics of a scope, and of a row below it."""

    def node(name: str, metrics: dict[str, Any], *children: Any) -> dict[str, Any]:
        frame = {"name": name, "type": "function"}
        return {"frame": frame, "metrics": metrics, "children": list(children)}

    root = node("ROOT", {}, node("step", scope, node("k", kernel)))
    return [dict(own) for own in tree_in(read_profile(json.dumps([root, {}]).encode(), "f")).own]


def test_a_count_that_a_user_gave_a_scope_is_none_of_kernels_in_known_files_too() -> None:
    measured = {"count": 2, "time (ns)": 10, "device_id": "0", "device_type": "CUDA"}
    assert foreign({"count": 7}, measured)[1:] == [{"user count": 7}, measured]


def test_times_of_a_file_that_knows_no_device_stay_times() -> None:
    assert foreign({"time (ns)": 7}, {"time (ns)": 3})[1:] == [{"time (ns)": 7}, {"time (ns)": 3}]
