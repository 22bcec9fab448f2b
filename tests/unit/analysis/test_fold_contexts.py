from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from proton.analysis.folding.fold_contexts import (
    fold_contexts,
    fold_profile,
    folded_names,
    folded_tree,
    without_library,
)
from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.in_kernel import RecordedKernel
from proton.model.metric import MetricKind, Metrics
from proton.model.profile import kind_of
from proton.model.tree import KernelDetail, Tree
from tests.support.profiles import Row, profile_of, tree_of_kinds

DATA = Path(__file__).parents[2] / "data"


def titles(*names: str) -> list[str]:
    """The different titles of siblings, with how many have each."""
    found = list(folded_names(names).values())
    return [f"{title} {found.count(title)}" for title in dict.fromkeys(found)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([f"step_{at}" for at in range(991)], ["step_* 991"]),
        (["layer1", "layer2", "layer3", "head"], ["layer* 3"]),
        (["h.0.attn", "h.1.attn", "h.2.attn", "h.0.mlp"], ["h.*.attn 3"]),
        (["7", "8", "9"], ["* 3"]),
        (["s1.b0", "s1.b1", "s1.b2", "s2.b0", "s2.b1", "s2.b2"], ["s1.b* 3", "s2.b* 3"]),
        (["v2_step_0", "v2_step_1", "v2_step_2"], ["v2_step_* 3"]),
        ([f"request {97 * at}" for at in range(40)], ["request * 40"]),
    ],
)
def test_names_of_a_loop_are_one(names: list[str], expected: list[str]) -> None:
    assert titles(*names) == expected


@pytest.mark.parametrize(
    "names",
    [
        ["step_0", "step_1"],
        ["matmul 1024", "matmul 2048", "matmul 3072", "matmul 4096"],
        ["fp8", "fp16", "fp32"],
        ["conv3x3", "conv1x1", "conv5x5"],
        ["forward", "backward", "optimizer"],
    ],
)
def test_names_of_different_things_stay(names: list[str]) -> None:
    assert titles(*names) == []


def tree_of(*paths: tuple[str, ...], kernel: str = "k") -> Tree:
    """Scopes of these paths, a kernel below each."""
    frames, parents = [ROOT_FRAME], [-1]
    for path in paths:
        above = 0
        for name in path:
            frames.append(Frame(name))
            parents.append(above)
            above = len(frames) - 1
        frames.append(Frame(kernel, FrameKind.KERNEL))
        parents.append(above)
    return Tree(frames, parents, [{} for _ in frames])


def test_what_is_below_folded_siblings_is_put_together_and_folded_as_well() -> None:
    tree = tree_of(*((f"step_{at}", f"layer{at % 3}") for at in range(4)))
    folding = fold_contexts(tree)
    assert folding is not None
    assert folding.titles == {1: "step_*", 2: "layer*"}
    assert folding.group == [0, *([1, 2, 3] * 4)]


def test_groups_are_depth_first_and_parents_of_rows_are_parents_of_groups() -> None:
    profile = prepare(open_profile(str(DATA / "h200" / "gpt2.hatchet")))
    folding = fold_contexts(profile.tree)
    assert folding is not None
    above = {
        (folding.group[row], folding.group[parent])
        for row, parent in enumerate(profile.tree.parents)
        if row
    }
    assert len(above) == max(folding.group)  # each group has one above it
    assert all(parent < group for group, parent in above)
    assert {"transformer.h.*.attn", "transformer.h.*.mlp"} <= set(folding.titles.values())
    assert "transformer.h.*.attn.c_attn" in folding.titles.values()


def test_kernels_and_their_launches_keep_their_numbers() -> None:
    names = [f"gemm_{at}" for at in range(5)]
    kernels = [Frame(name, FrameKind.KERNEL) for name in names]
    calls = [Frame(f"launch {name}") for name in names]
    frames = [ROOT_FRAME, *kernels, *calls]
    assert fold_contexts(Tree(frames, [-1, *([0] * 10)], [{}] * 11)) is None


def test_lines_of_python_frames_keep_their_numbers_in_traces_too() -> None:
    frames = [ROOT_FRAME, *(Frame(f"train.py:{at}@main") for at in range(5))]
    assert fold_contexts(Tree(frames, [-1, *([0] * 5)], [{}] * 6)) is None


def test_what_took_time_of_a_device_keeps_its_number() -> None:
    frames = [ROOT_FRAME, *(Frame(f"gemm_{at}") for at in range(5))]
    own: list[dict[str, int]] = [{"time (ns)": 0}, *({"time (ns)": 1} for _ in range(5))]
    assert fold_contexts(Tree(frames, [-1, *([0] * 5)], own)) is None


def test_rows_of_different_devices_stay_apart() -> None:
    def ran(device: str) -> dict[str, int | str]:
        return {"time (ns)": 1, "device_id": device, "device_type": "CUDA"}

    rows: list[Row] = [(0, "ROOT", {})]
    for turn in range(3):
        rows += [(1, f"turn_{turn}", {}), (2, "k", ran("0")), (2, "k", ran("1"))]
    folding = fold_contexts(profile_of(rows).tree)
    assert folding is not None
    assert folding.group == [0, *[1, 2, 3] * 3]


def test_a_profile_without_loops_is_not_folded() -> None:
    assert fold_contexts(tree_of(("a", "b"), ("c",))) is None
    profile = prepare(open_profile(str(DATA / "h200" / "kernels.hatchet")))
    assert fold_contexts(profile.tree) is None


def names_of(tree: Tree) -> list[tuple[int, str]]:
    return [(depth, frame.name) for depth, frame in zip(tree.depths(), tree.frames, strict=True)]


def test_what_stood_below_hidden_contexts_moves_up_and_equal_ones_are_one() -> None:
    profile = profile_of(
        [
            (0, "ROOT", {}),
            (1, "main", {}),
            (2, "lib a", {}),
            (3, "lib b", {}),
            (4, "k", {"time (ns)": 1, "count": 1}),
            (3, "own", {}),
            (4, "k", {"time (ns)": 2, "count": 1}),
            (2, "lib c", {"time (ns)": 8}),
            (3, "k", {"time (ns)": 4, "count": 1}),
        ]
    )
    tree = replace(
        profile.tree,
        details={4: KernelDetail(1, 1), 8: KernelDetail(4, 4)},
        entries={1: 1, 2: 3},
    )
    hidden = bytearray(frame.name.startswith("lib") for frame in tree.frames)
    folding = fold_contexts(tree, hidden=hidden)
    assert folding is not None
    folded = folded_tree(tree, folding, partial(kind_of, profile))
    assert names_of(folded) == [(0, "ROOT"), (1, "main"), (2, "k"), (2, "own"), (3, "k")]
    assert folded.own[1] == {"time (ns)": 8}
    assert folded.own[2] == {"time (ns)": 5, "count": 2}
    assert folded.details == {2: KernelDetail(1, 4)}
    assert folded.entries == {1: 4}
    assert folded.totals("time (ns)")[0] == tree.totals("time (ns)")[0]


def test_numbered_siblings_become_one_row_with_the_sum_of_all() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    for step in range(4):
        rows += [(1, f"step_{step}", {}), (2, "k", {"time (ns)": step})]
    profile = profile_of(rows)
    folding = fold_contexts(profile.tree)
    assert folding is not None
    folded = folded_tree(profile.tree, folding, partial(kind_of, profile))
    assert names_of(folded) == [(0, "ROOT"), (1, "step_*"), (2, "k")]
    assert folded.own[2] == {"time (ns)": 6}


def test_numbers_stay_where_only_hidden_contexts_are_to_go() -> None:
    tree = tree_of(*((f"step_{at}", "lib") for at in range(3)))
    hidden = bytearray(frame.name == "lib" for frame in tree.frames)
    folding = fold_contexts(tree, numbered=False, hidden=hidden)
    assert folding is not None
    assert folding.titles == {}
    assert folding.group == [0, 1, 1, 2, 3, 3, 4, 5, 5, 6]


def test_nothing_is_folded_where_nothing_is_hidden() -> None:
    tree = tree_of(("a", "b"), ("c",))
    assert fold_contexts(tree, hidden=bytearray(len(tree))) is None


def test_what_kernels_recorded_inside_is_put_together_with_their_contexts() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    for step in range(3):
        rows += [(1, f"step_{step}", {}), (2, "site-packages/a.py:1@f", {})]
        rows += [(3, "k", {"time (ns)": 1})]
    recorded = [
        RecordedKernel("k", (f"step_{step}", "site-packages/a.py:1@f"), launches=step + 1)
        for step in range(3)
    ]
    profile = without_library(replace(profile_of(rows), in_kernel=recorded))
    assert [kernel.context for kernel in profile.in_kernel] == [["step_0"], ["step_1"], ["step_2"]]
    folding = fold_contexts(profile.tree)
    assert folding is not None
    (kernel,) = fold_profile(profile, folding).in_kernel
    assert (kernel.context, kernel.launches) == (["step_*"], 6)


def test_captured_kernels_are_found_below_every_replay() -> None:
    rows: list[Row] = [(0, "ROOT", {})]
    for step in range(3):
        rows += [
            (1, f"step_{step}", {}),
            (2, "<captured_at>", {}),
            (3, "lib/python3.12/a.py:1@f", {}),
        ]
        rows += [(4, "forward", {}), (5, "k", {"time (ns)": 1})]
    context = ("<captured_at>", "lib/python3.12/a.py:1@f", "forward")
    profile = replace(profile_of(rows), in_kernel=[RecordedKernel("k", context)])
    (kernel,) = without_library(profile).in_kernel
    assert kernel.context == ["<captured_at>", "forward"]


def test_layers_of_a_model_are_one_and_so_are_the_modules_inside() -> None:
    rows: list[tuple[int, str, str, Metrics]] = [(0, "r", "ROOT", {}), (1, "m", "GPT", {})]
    for layer in range(4):
        rows += [
            (2, "m", f"transformer.h.{layer}", {}),
            (3, "m", f"transformer.h.{layer}.attn", {}),
            (4, "o", "aten::addmm", {"cpu_time (ns)": 5, "calls": 2}),
            (5, "k", "gemm_128", {"time (ns)": 10 + layer, "count": 2}),
            (5, "b", "<backward>", {}),
            (6, "o", "AddmmBackward0", {"cpu_time (ns)": 7, "calls": 2}),
        ]
    tree = tree_of_kinds(rows)
    folding = fold_contexts(tree)
    assert folding is not None
    folded = folded_tree(tree, folding, lambda _: MetricKind.INCLUSIVE)
    names = [frame.name for frame in folded.frames]
    assert names[2:5] == ["transformer.h.*", "transformer.h.*.attn", "aten::addmm"]
    assert [frame.kind.value for frame in folded.frames] == list("rmmmokbo")
    assert folded.own[4] == {"cpu_time (ns)": 20, "calls": 8}
    assert folded.own[5]["time (ns)"] == 46
