"""Kinds of frames, given or inferred, and the places that names spell out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proton.files.hatchet.frames import frames_of, infer_kinds, is_kinds, name_device_types
from proton.model.frame import Frame, FrameKind

NONE: Mapping[str, object] = {}
KERNEL = {"time (ns)": 5, "count": 1, "device_id": "0", "device_type": "CUDA"}


def kinds_of(*rows: tuple[str, int, Mapping[str, object]]) -> str:
    names = ["ROOT", *(name for name, _, _ in rows)]
    parents = [-1, *(parent for _, parent, _ in rows)]
    return infer_kinds(names, [{}, *(metrics for _, _, metrics in rows)], parents)


def test_a_python_frame_knows_its_file_line_and_function() -> None:
    (frame,) = frames_of(["C:/a b.py:12@f.<locals>.g"], "p")
    place = ("C:/a b.py", 12, "f.<locals>.g")
    assert frame == Frame("C:/a b.py:12@f.<locals>.g", FrameKind.PYTHON, *place)


def test_a_scope_may_look_like_a_place_and_stays_a_scope() -> None:
    assert frames_of(["a.py:1@f"], "s") == [Frame("a.py:1@f", FrameKind.SCOPE)]


@pytest.mark.parametrize("name", ["a.py", "a.py:x@f", ":1@", "a.py:99999999999@f"])
def test_a_python_frame_that_spells_no_place_has_none(name: str) -> None:
    assert frames_of([name], "p") == [Frame(name, FrameKind.PYTHON)]


def test_frames_of_a_framework_have_kinds_and_no_place() -> None:
    names = ["a.py:1@f", "aten::addmm", "<backward>"]
    kinds = [FrameKind.MODULE, FrameKind.OPERATOR, FrameKind.BACKWARD]
    assert frames_of(names, "mob") == [Frame(*each) for each in zip(names, kinds, strict=True)]
    assert is_kinds("rmob", 4)


def test_equal_frames_are_one_object() -> None:
    first, second, other = frames_of(["a", "a", "a"], "ssk")
    assert first is second
    assert first is not other


def test_a_device_and_a_time_make_a_kernel() -> None:
    assert kinds_of(("a", 0, {}), ("k", 1, KERNEL), ("t", 0, {"time (ns)": 1})) == "rsks"


def test_places_are_python_frames_and_below_kernels_source_lines() -> None:
    frames = ("a.py:1@f", 0, NONE), ("k", 1, KERNEL)
    lines = ("k.py:2@k", 2, NONE), ("lib.py:3@g", 3, NONE)
    assert kinds_of(*frames, *lines) == "rpkll"


def test_a_place_with_samples_is_a_source_line_wherever_it_stands() -> None:
    assert kinds_of(("k", 0, {}), ("k.py:2@k", 1, {"num_samples": 3})) == "rsl"


def test_what_holds_cycles_is_a_kernel() -> None:
    cycles = {"cycles": 10, "device_id": "0", "device_type": "1"}
    outside = ("s", 0, NONE), ("k", 1, NONE)
    assert kinds_of(*outside, ("load", 2, cycles), ("inner", 3, cycles)) == "rskss"


def test_launch_metadata_is_a_state() -> None:
    assert kinds_of(("__proton_launch_metadata", 0, {})) == "rt"


@pytest.mark.parametrize(
    ("kinds", "fits"), [("rsk", True), ("rs", False), ("ssk", False), ("rsz", False), ("", False)]
)
def test_kinds_must_fit_the_tree(kinds: str, fits: bool) -> None:
    assert is_kinds(kinds, 3) is fits


def test_numbers_for_device_types_get_their_names_beside_cycles_only() -> None:
    plain = {"device_type": "1"}
    named = name_device_types([{"cycles": 1, "device_type": "1"}, plain, {"cycles": 2}])
    assert named == [{"cycles": 1, "device_type": "CUDA"}, plain, {"cycles": 2}]
