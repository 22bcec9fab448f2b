from __future__ import annotations

from pathlib import Path

import pytest

from proton.analysis.folding.library_frames import is_library, library_names, library_rows
from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.frame import ROOT_FRAME, Frame, FrameKind
from proton.model.metric import MetricKind
from proton.model.tree import Tree

DATA = Path(__file__).parents[2] / "data"


def python_frame(file: str) -> Frame:
    return Frame(f"{file}:7@run", FrameKind.PYTHON, file, 7, "run")


@pytest.mark.parametrize(
    "file",
    [
        "/home/me/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py",
        "site-packages/triton/runtime/jit.py",
        "/usr/lib/python3/dist-packages/numpy/core/numeric.py",
        "/usr/lib/python3.11/threading.py",
        "/opt/python/lib/python3.13t/runpy.py",
        "C:\\Python312\\Lib\\threading.py",
        "/usr/lib/python311.zip/runpy.py",
        "<frozen runpy>",
        "<eval_with_key>.12",
        "/tmp/torchinductor_me/ab/cab3.py",
        "/src/triton/python/triton/backends/nvidia/driver.py",
        "triton/runtime/jit.py",
        "/src/pytorch/torch/_tensor.py",
        "/src/pytorch/torch/_inductor/runtime/triton_heuristics.py",
        "/src/pytorch/torch/nn/functional.py",
    ],
)
def test_files_of_packages_are_libraries(file: str) -> None:
    assert is_library(python_frame(file))
    assert is_library(Frame(f"{file}:7@run"))  # as the path of a trace has it
    assert library_names(["main", f"{file}(7): run"]) == [1]  # as torch has it


@pytest.mark.parametrize(
    "file",
    [
        "train.py",
        "/home/me/project/model.py",
        "/home/me/kernels/triton/matmul.py",
        "/home/me/kernels/torch/matmul.py",
        "/home/me/my-site-packages-list.py",
        "/home/me/python3/lib/model.py",
        "<string>",
        "<stdin>",
        "<ipython-input-3-0a1b>",
        "/tmp/ipykernel_7/12.py",
    ],
)
def test_files_of_the_program_are_not(file: str) -> None:
    assert not is_library(python_frame(file))


def test_scopes_kernels_and_their_lines_are_none() -> None:
    file = "/opt/lib/python3.12/site-packages/triton/language/standard.py"
    assert not is_library(Frame(f"{file}:7@sum", FrameKind.SAMPLE, file, 7, "sum"))
    assert not is_library(Frame("site-packages/a.py:1@f", FrameKind.KERNEL))
    assert not is_library(Frame("forward"))
    assert not is_library(ROOT_FRAME)


def test_a_frame_that_measured_what_its_parents_do_not_add_up_stays() -> None:
    library = python_frame("site-packages/a.py")
    own: list[dict[str, float]] = [{}, {"flops": 1.0}, {"cpu_time (ns)": 5}, {}]
    tree = Tree([ROOT_FRAME, library, library, Frame("k")], [-1, 0, 1, 2], own)
    kinds = {"flops": MetricKind.INCLUSIVE, "cpu_time (ns)": MetricKind.EXCLUSIVE}
    assert list(library_rows(tree, kinds.__getitem__)) == [0, 1, 0, 0]


def test_a_recording_with_python_frames_keeps_those_of_the_program() -> None:
    tree = prepare(open_profile(str(DATA / "triton36_python.hatchet"))).tree
    hidden = library_rows(tree, lambda _: MetricKind.INCLUSIVE)
    assert sum(hidden) == 18
    kept = [frame.name for row, frame in enumerate(tree.frames) if not hidden[row]]
    assert all("site-packages" not in name for name in kept)
    assert "record_with_triton.py:60@step" in kept
