"""Every example runs by itself, in a folder of its own, and leaves the profile it promises."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from proton.files.detect import open_profile
from proton.model.tree import Tree
from tests.support.profiles import tree_in

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="needs Triton")
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


def run(name: str, folder: Path) -> Tree:
    """Run an example in `folder`; the tree of the profile it wrote."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    tree = tree_in(open_profile(folder / f"{name}.hatchet"))
    return tree


def launches(tree: Tree) -> dict[tuple[str, ...], int]:
    """Path of every kernel -> how often it was launched there."""
    return {
        node.path(): int(node.total("count"))
        for node in tree.nodes()
        if node.row > 0 and "time (ns)" in node.own
    }


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short_enough_to_read_at_once(path: Path) -> None:
    assert len(path.read_text().splitlines()) < 80


@needs_triton
@pytest.mark.matrix
def test_interleaved_requests_keep_their_own_scopes(tmp_path: Path) -> None:
    assert launches(run("asyncio_requests", tmp_path)) == {
        ("small_200", "embed", "scale_kernel"): 2,
        ("small_200", "decode", "scale_kernel"): 3,
        ("large_900", "embed", "scale_kernel"): 1,
        ("large_900", "decode", "scale_kernel"): 3,
    }


@needs_triton
@pytest.mark.matrix
def test_threads_keep_their_scopes_and_a_pool_follows_the_main_thread(tmp_path: Path) -> None:
    tree = run("threads", tmp_path)
    assert launches(tree) == {
        ("step_0", "add_kernel"): 1,
        ("step_1", "add_kernel"): 1,
        ("step_2", "add_kernel"): 1,
        ("loader", "shard_0", "add_kernel"): 2,
        ("loader", "shard_1", "add_kernel"): 2,
    }
    assert tree.root.child("loader").total("rows") == 1024
    assert tree.root.child("step_0").own["cpu_time (ns)"]


@needs_triton
@needs_torch
@pytest.mark.torch
def test_a_network_of_changing_depth_is_profiled_by_python_lines(tmp_path: Path) -> None:
    counts = launches(run("dynamic_net", tmp_path))
    names = {path[-1] for path in counts}
    assert names == {"relu_kernel", "relu_backward_kernel"}
    forward = [path for path in counts if path[-1] == "relu_kernel"]
    assert all("dynamic_net.py" in frame for path in forward for frame in path[:2])
    assert any("@train" in frame for frame in forward[0])
    assert sum(n for path, n in counts.items() if path[-1] == "relu_kernel") == sum(
        n for path, n in counts.items() if path[-1] == "relu_backward_kernel"
    )


@needs_triton
@pytest.mark.matrix
def test_matmul_shows_autotuning_scopes_and_renamed_kernels(tmp_path: Path) -> None:
    paths = launches(run("matmul", tmp_path))
    assert any("<autotune>" in path for path in paths)
    assert all(path[0].startswith("matmul_") for path in paths)


def output_of(name: str, folder: Path) -> str:
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_triton
@pytest.mark.matrix
def test_the_heat_map_tool_compiles_and_shows_a_stored_buffer(tmp_path: Path) -> None:
    text = output_of("memory_heat_map", tmp_path)
    assert "no GPU: compiled only; 2 places are counted" in text
    assert "load arg0@32        532480 accesses    8519680 bytes" in text
    assert "x_ptr    |████████▇▇▇▇" in text
    assert "not covered or lost: {}" in text


@needs_triton
@pytest.mark.matrix
def test_the_async_wait_tool_compiles_and_shows_a_stored_buffer(tmp_path: Path) -> None:
    text = output_of("async_wait_view", tmp_path)
    assert "no GPU: compiled only; " in text
    assert "compiled only; 0 records" not in text
    assert "iteration@32         4096 times" in text
    waits = next(line for line in text.splitlines() if line.startswith("wait") and "█" in line)
    assert waits.count("█") > 16


@needs_triton
def test_a_kernel_with_regions_runs_without_a_gpu(tmp_path: Path) -> None:
    assert launches(run("in_kernel_softmax", tmp_path)) == {
        (f"step_{step}", "softmax_kernel"): 1 for step in range(3)
    }
