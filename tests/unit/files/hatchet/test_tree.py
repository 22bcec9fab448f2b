"""Nodes of a file into columns, and back."""

from __future__ import annotations

import json
from typing import Any

import msgpack
import pytest

from proton.errors import FormatError
from proton.files.hatchet import tree as hatchet
from proton.files.hatchet.tree import check_nodes, to_json, to_msgpack
from proton.model.device import Device
from proton.model.frame import Frame, FrameKind
from proton.model.profile import Header, TreeProfile
from proton.model.tree import Tree


def node(name: Any, metrics: Any = None, *children: Any) -> dict[str, Any]:
    frame = {"name": name, "type": "function"}
    return {"frame": frame, "metrics": metrics or {}, "children": list(children)}


def read_tree(root: Any, kinds: str | None, source: str) -> Tree:
    return hatchet.read_tree(root, kinds, source).tree


def test_rows_are_depth_first_in_the_order_of_the_file() -> None:
    inner = node("a", {"x": 1}, node("b"), node("c", {"y": 2.5}))
    tree = read_tree(node("ROOT", None, inner, node("d")), None, "f")
    assert [frame.name for frame in tree.frames] == ["ROOT", "a", "b", "c", "d"]
    assert list(tree.parents) == [-1, 0, 1, 1, 0]
    assert [dict(own) for own in tree.own] == [{}, {"x": 1}, {}, {"y": 2.5}, {}]


def test_kinds_come_from_the_file_where_they_fit() -> None:
    tree = read_tree(node("ROOT", None, node("x")), "rt", "f")
    assert tree.frames[1] == Frame("x", FrameKind.STATE)


def test_kinds_are_inferred_where_they_do_not_fit() -> None:
    tree = read_tree(node("ROOT", None, node("x")), "rtt", "f")
    assert tree.frames[1].kind is FrameKind.SCOPE


def test_lists_become_tuples() -> None:
    tree = read_tree(node("ROOT", {"h": [1, 2.5], "x": 1}), None, "f")
    assert tree.own[0] == {"h": (1, 2.5), "x": 1}


def test_a_node_may_lack_metrics_and_children() -> None:
    tree = read_tree({"frame": {"name": "ROOT"}}, None, "f")
    assert (len(tree), dict(tree.own[0])) == (1, {})


def test_a_sum_past_the_largest_float_is_no_fault() -> None:
    metrics = {"a": 1.7e308, "b": 1.7e308}
    assert read_tree(node("ROOT", metrics), None, "f").own[0] == metrics


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({}, "has no frame name"),
        ({"frame": {}}, "has no frame name"),
        ({"frame": None}, "has no frame name"),
        ({"frame": "x"}, "has a frame that is not an object but 'x'"),
        (node(5), "has a frame name that is not text but 5"),
        (node(None), "has a frame name that is not text but None"),
        (node(["a"]), "has a frame name that is not text but a list"),
        (node("\ud800"), r"has a frame name that is not text but '\ud800'"),
        ("leaf", "must be an object, not 'leaf'"),
        (None, "must be an object, not None"),
        ([], "must be an object, not a list"),
        (node("a") | {"children": None}, "has children that are not a list but None"),
        (node("a") | {"children": {"0": {}}}, "has children that are not a list but an object"),
        (node("a") | {"children": ""}, "has children that are not a list but ''"),
        (node("a") | {"metrics": None}, "has metrics that are not an object but None"),
        (node("a") | {"metrics": []}, "has metrics that are not an object but a list"),
        (node("a", {"": 1}), "has a metric whose name is ''"),
        (node("a", {"\ud800": 1}), r"has a metric whose name is '\ud800'"),
        (node("a", {1: 1}), "has a metric whose name is 1"),
        (node("a", {"x": None}), "has a metric 'x' that is not a number in range but None"),
        (node("a", {"x": True}), "has a metric 'x' that is not a number in range but True"),
        (node("a", {"x": {}}), "has a metric 'x' that is not a number in range but an object"),
        (node("a", {"x": [[]]}), "has a metric 'x' that is not a number in range but a list"),
        (node("a", {"x": 2**64}), "has a metric 'x' that is not a number in range but 1844"),
        (node("a", {"x": float("inf")}), "has a metric 'x' that is not a number in range but inf"),
        (node("a", {"x": float("nan")}), "has a metric 'x' that is not a number in range but nan"),
        (
            node("a", {"x": "\ud800"}),
            r"has a metric 'x' that is not a number in range but '\ud800'",
        ),
    ],
)
def test_a_bad_node_is_named_by_its_row(bad: Any, message: str) -> None:
    root = node("ROOT", None, node("first", None, node("inner")), bad, node("last"))
    doubt = "\\ud800" in message  # the reader knows from the text that there may be surrogates
    with pytest.raises(FormatError) as caught:
        hatchet.read_tree(root, None, "run.hatchet", doubt=doubt)
    assert str(caught.value).startswith(f"run.hatchet: node 3 {message}")


def test_good_nodes_pass_the_closer_look() -> None:
    check_nodes(node("ROOT", {"x": [1]}, node("a", {"label": "y"})), "f")


PROFILE = TreeProfile(
    "f",
    Tree(
        [Frame("ROOT", FrameKind.ROOT), Frame('q"\n', FrameKind.STATE), Frame("é"), Frame("z")],
        [-1, 0, 1, 0],
        [{}, {"x": 1, "h": (1, 2)}, {}, {"y": 0.1}],
    ),
    devices=(Device("CUDA", "0", "90", num_sms=132),),
    header=Header(session="s"),
    losses={"late": 2},
)
WRITTEN = [
    node("ROOT", {}, node('q"\n', {"x": 1, "h": [1, 2]}, node("é")), node("z", {"y": 0.1}))
    | {"proton": {"format": 1, "session": "s", "losses": {"late": 2}, "kinds": "rtss"}},
    {"CUDA": {"0": {"arch": "90", "num_sms": 132}}},
]


def test_json_is_the_known_layout_and_compact() -> None:
    assert isinstance(PROFILE, TreeProfile)
    text = to_json(PROFILE, PROFILE.tree)
    assert json.loads(text) == WRITTEN
    assert b": " not in text
    assert b"\n" not in text


def test_msgpack_holds_the_same_objects_as_json() -> None:
    assert isinstance(PROFILE, TreeProfile)
    assert msgpack.unpackb(to_msgpack(PROFILE, PROFILE.tree)) == WRITTEN


def test_nodes_keep_the_known_order_of_keys() -> None:
    assert isinstance(PROFILE, TreeProfile)
    root = msgpack.unpackb(to_msgpack(PROFILE, PROFILE.tree))[0]
    assert list(root) == ["frame", "metrics", "children", "proton"]
    assert list(json.loads(to_json(PROFILE, PROFILE.tree))[0]) == list(root)


def test_text_as_a_time_is_refused() -> None:
    root = node("ROOT", None, node("k", {"time (ns)": "abc"}))
    with pytest.raises(FormatError, match=r"^f: node 1 has text as its 'time \(ns\)': 'abc'"):
        read_tree(root, None, "f")
