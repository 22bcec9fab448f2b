"""The `kernels` and `entries` of a `proton` key."""

from __future__ import annotations

from typing import Any

import pytest

from proton.errors import FormatError
from proton.files.encoding.checks import read_attributes
from proton.files.hatchet.details import (
    details_object,
    entries_object,
    read_details,
    read_entries,
)
from proton.files.read import read_profile
from proton.files.write import to_bytes
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.metric import MetricKind
from proton.model.profile import TreeProfile
from proton.model.tree import KernelDetail, Tree
from tests.support.profiles import tree_in

ENTRY = [1, 10, 90, 40, None, {"grid": [4, 2, 1], "registers": 32}]
DETAIL = KernelDetail(10, 90, 40, None, {"grid": (4, 2, 1), "registers": 32})
TREE = Tree([ROOT_FRAME, Frame("k", FrameKind.KERNEL)], [-1, 0], [{}, {"count": 2}], {1: DETAIL})


def test_details_read_back() -> None:
    assert read_details([ENTRY], 2, "run") == {1: DETAIL}
    assert read_details(details_object(TREE), 2, "run") == {1: DETAIL}


def test_equal_attributes_stand_in_a_file_once() -> None:
    frames = [ROOT_FRAME, *(Frame(name, FrameKind.KERNEL) for name in "abc")]
    other = DETAIL._replace(attributes={})
    tree = Tree(
        frames, [-1, 0, 0, 0], [{}] * 4, {1: DETAIL, 2: other, 3: DETAIL._replace(min_ns=1)}
    )
    entries = details_object(tree)
    assert [entry[5] for entry in entries] == [ENTRY[5], {}, 0]
    assert read_details(entries, 4, "run") == tree.details


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_a_profile_keeps_them(output_format: str) -> None:
    profile = TreeProfile("run", tree=TREE)
    found = tree_in(read_profile(to_bytes(profile, output_format), "run"))
    assert found.details == {1: DETAIL}


def test_rows_are_not_trusted_once_somebody_changed_the_nodes() -> None:
    text = to_bytes(TreeProfile("run", tree=TREE), "hatchet").replace(
        b'"kinds":"rk"', b'"kinds":"rkk"'
    )
    profile = read_profile(text, "run")
    assert isinstance(profile, TreeProfile)
    assert profile.tree.details == {}
    assert profile.warnings


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (3, "proton.kernels must be a list, not 3"),
        ([3], r"proton.kernels\[0\] must be a list of a row, four times and an object"),
        ([ENTRY[:5]], "must be a list of a row"),
        ([[*ENTRY[:5], None]], "must end in an object or name an earlier entry that does"),
        ([[*ENTRY[:5], 0]], "must end in an object or name an earlier entry that does"),
        ([ENTRY, [*ENTRY[:5], 1]], r"proton.kernels\[1\] must end in an object"),
        ([[2, *ENTRY[1:]]], r"proton.kernels\[0\] must name one of 2 nodes, not 2"),
        ([[1, None, *ENTRY[2:]]], "must have a least and a largest time"),
        ([[1, 1, 2, "x", None, {}]], "must have quantiles in nanoseconds or null"),
    ],
)
def test_damage_is_named(found: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_details(found, 2, "run")


def test_attributes_of_no_known_kind_are_left_out() -> None:
    assert read_attributes({"a": {}, "b": None, "": 1, "c": [1, "x"], "d": "text"}) == {"d": "text"}


ENTERED = Tree([ROOT_FRAME, Frame("a"), Frame("b")], [-1, 0, 0], [{}, {}, {}], {}, {1: 3, 2: 1})


@pytest.mark.parametrize("output_format", ["hatchet", "hatchet_msgpack"])
def test_entries_of_scopes_read_back(output_format: str) -> None:
    assert read_entries(entries_object(ENTERED), 3, "run") == {1: 3, 2: 1}
    profile = TreeProfile("run", tree=ENTERED)
    assert tree_in(read_profile(to_bytes(profile, output_format), "run")).entries == {1: 3, 2: 1}


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        ({}, r"run: proton.entries must be a list, not an object"),
        ([[1]], r"run: proton.entries\[0\] must be a list of a row and a count"),
        ([[1, 2], [3, 1]], r"run: proton.entries\[1\] must name one of 3 nodes, not 3"),
        ([[1, -1]], r"run: proton.entries\[0\] must have a count of zero or more, not -1"),
    ],
)
def test_entries_that_are_none_are_refused(entries: Any, text: str) -> None:
    with pytest.raises(FormatError, match=text):
        read_entries(entries, 3, "run")


def test_metrics_that_a_user_called_as_a_backend_does_are_kept_apart() -> None:
    own = [{"count": 0}, {"count": 3, "x": 1}, {"count": 2}]
    frames = [ROOT_FRAME, Frame("a"), Frame("k", FrameKind.KERNEL)]
    given = TreeProfile(
        "run",
        tree=Tree(frames, [-1, 0, 1], own),
        metric_kinds={"count": MetricKind.EXCLUSIVE},
    )
    profile = read_profile(to_bytes(given, "hatchet"), "run")
    assert tree_in(profile).own[1:] == [{"user count": 3, "x": 1}, {"count": 2}]
    assert profile.metric_kinds == {"user count": MetricKind.EXCLUSIVE}
