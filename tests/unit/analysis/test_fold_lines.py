from __future__ import annotations

from proton.analysis.folding.fold_lines import (
    absorb_lines,
    fold_lines,
    is_of_samples,
    kernels_without_lines,
)
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.profile import Profile
from proton.model.tree import Tree
from tests.support.sampling import SAMPLING

KERNEL = {"time (ns)": 10, "num_samples": 4, "stalled_wait": 4}


def line(name: str, number: int) -> Frame:
    return Frame(f"{name}:{number}@f", FrameKind.SAMPLE, name, number, "f")


def tree_of(lines: list[tuple[int, Frame, int]]) -> Tree:
    """A kernel below a scope, with lines of (parent row, frame, samples) behind."""
    frames = [Frame("ROOT", FrameKind.ROOT), Frame("s"), Frame("k", FrameKind.KERNEL)]
    parents = [-1, 0, 1]
    own: list[dict[str, int]] = [{}, {}, dict(KERNEL)]
    for parent, frame, samples in lines:
        frames.append(frame)
        parents.append(parent)
        own.append({"num_samples": samples, "stalled_barrier": samples})
    return Tree(frames, parents, own)


TREE = tree_of(
    [
        (2, line("a.py", 1), 10),
        (3, line("lib.py", 9), 30),
        (2, line("a.py", 2), 50),
        (2, line("a.py", 3), 6),
        (2, line("a.py", 4), 0),
    ]
)


def test_lines_stand_hottest_first_with_what_was_inlined_into_them() -> None:
    tree, lines, _ = fold_lines(TREE)
    assert [(hot.file, hot.line, hot.samples.count) for hot in lines.values()][:3] == [
        ("a.py", 2, 50),
        ("a.py", 1, 40),
        ("a.py", 3, 6),
    ]
    assert [tree.parents[row] for row in lines] == [2] * len(lines)


def test_shares_are_of_the_kernel_and_add_up() -> None:
    _, lines, _ = fold_lines(TREE)
    assert [round(100 * hot.share) for hot in lines.values()] == [50, 40, 6, 4]


def test_samples_of_the_kernel_itself_get_a_row() -> None:
    tree, lines, _ = fold_lines(TREE)
    last = max(lines)
    assert (tree.frames[last].name, lines[last].samples.count) == ("no line known", 4)
    assert not lines[last].is_line
    assert tree.own[2] == {"time (ns)": 10}


def test_the_sum_of_samples_stays() -> None:
    assert fold_lines(TREE, 1).tree.totals("num_samples")[0] == TREE.totals("num_samples")[0] == 100


def test_lines_past_the_most_are_one_row() -> None:
    tree, lines, _ = fold_lines(TREE, 1)
    names = [tree.frames[row].name for row in lines]
    assert names == ["a.py:2@f", "3 more lines", "no line known"]
    assert lines[4].samples.count == 46


def test_one_line_that_hardly_counts_is_left_to_the_rest() -> None:
    tree, lines, _ = fold_lines(tree_of([(2, line("a.py", 1), 994), (2, line("a.py", 2), 2)]))
    assert [tree.frames[row].name for row in lines][1] == "1 more line"


def test_a_tree_without_lines_stays_as_it_is() -> None:
    plain = tree_of([])
    folded = fold_lines(plain)
    assert folded.lines == {}
    assert (folded.tree.frames, folded.tree.own) == (plain.frames, plain.own)
    assert absorb_lines(plain) is plain


def test_kernels_take_in_the_samples_of_their_lines() -> None:
    tree = absorb_lines(TREE)
    assert [frame.name for frame in tree.frames] == ["ROOT", "s", "k"]
    assert tree.own[2] == {
        "time (ns)": 10,
        "num_samples": 100,
        "stalled_wait": 4,
        "stalled_barrier": 96,
    }


def test_what_stands_below_a_line_goes_with_it() -> None:
    odd = tree_of([(2, line("a.py", 1), 10), (3, Frame("scope"), 5)])
    assert absorb_lines(odd).own[2]["num_samples"] == 19
    assert len(absorb_lines(odd)) == 3
    assert fold_lines(odd).lines[3].samples.count == 15


def test_metrics_of_samples_are_told_from_others() -> None:
    assert is_of_samples("num_latency_samples")
    assert is_of_samples("stalled_wait")
    assert not is_of_samples("time (ns)")


def test_kernels_without_lines_are_those_with_samples_of_their_own() -> None:
    frames = [ROOT_FRAME, Frame("gemm", FrameKind.KERNEL), Frame("a:1@b", FrameKind.SAMPLE)]
    tree = Tree(frames, [-1, 0, 0], [{"num_samples": 0}, {"num_samples": 7}, {"num_samples": 1}])
    found = kernels_without_lines(Profile("f", sampling=SAMPLING), tree)
    assert {row: lineless.status for row, lineless in found.items()} == {1: "no line table"}
    assert found[1].samples.count == 7
