"""Tests of the digest as Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from proton.analysis.prepare import prepare
from proton.files.detect import open_profile
from proton.model.device import Device
from proton.model.frame import Frame
from proton.model.ranks import Rank
from proton.model.steps import StepSeries
from proton.render.text.digest import digest_of
from proton.render.text.digest_markdown import markdown_lines
from proton.render.text.head import step_lines
from tests.support.in_kernel import KERNEL
from tests.support.origins import compiled_profile
from tests.support.profiles import Row, profile_of

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(
    "name", ["gpt", "sampled", "in_kernel", "interpreter", "proton_python", "training"]
)
def test_every_row_of_a_table_has_the_columns_of_its_head(name: str) -> None:
    lines = markdown_lines(digest_of(prepare(open_profile(DATA / f"{name}.hatchet"))))
    columns = 0
    for line in lines:
        if not line.startswith("|"):
            columns = 0
            continue
        count = line.replace("\\|", "").count("|")
        assert count == (columns or count), line
        columns = count
    assert any(line.startswith("| `") for line in lines)


def test_of_kernels_in_graphs_it_says_how_many_replays_were_read() -> None:
    captured = replace(KERNEL, replays=1000, losses={"unread_replays": 998})
    profile = replace(
        open_profile(DATA / "in_kernel.hatchet"),
        in_kernel=(captured, replace(KERNEL, kernel="other")),
    )
    digest = digest_of(prepare(profile))
    assert [each["replays"] for each in digest["in_kernel"]["kernels"]] == [1000, 0]
    text = "\n".join(markdown_lines(digest))
    assert "mode `ops+loops`, read 2 of 1 000 replays, 64 warps, in `" in text
    assert "\nlost: 998 unread_replays" in text
    assert "mode `ops+loops`, 2 launches, 64 warps" in text


def test_time_of_the_interpreter_is_not_called_that_of_a_gpu() -> None:
    rows = [(0, "ROOT", {}), (1, "k", {"time (ns)": 9e9, "count": 1, "bytes": 9})]
    profile = replace(profile_of(rows), devices=(Device("CPU", "0", "interpreter"),))
    lines = markdown_lines(digest_of(profile))
    assert "- time (interpreted): 9 000 ms, 1 kernel" in lines
    [row] = [line for line in lines if line.startswith("| `k`")]
    assert " | <0.001 | " in row  # a rate that is small, not one of zero


@pytest.mark.parametrize(
    ("arch", "work"), [("90", "GPU time"), ("interpreter", "time (interpreted)")]
)
def test_steps_are_told_with_what_their_work_took(arch: str, work: str) -> None:
    series = StepSeries(0, (0, 1, 2), (10, 30, 20), gpu_time_ns=(4, 6, 5), rank=3)
    profile = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 15, "count": 3})])
    profile = replace(profile, steps=(series,), devices=(Device("CUDA", "0", arch),))
    assert (
        "- steps: 3; time of a step on the host: median 20 ns, p90 30 ns, slowest 30 ns "
        f"(step 1 of rank 3); {work} of a step: median 5 ns"
    ) in markdown_lines(digest_of(profile))
    assert step_lines(profile) == [
        "3 steps, median 20 ns, p90 30 ns, slowest 30 ns (step 1 of rank 3); "
        f"{work} of a step: median 5 ns"
    ]
    bare = replace(profile, steps=(replace(series, gpu_time_ns=()),))
    assert "(step 1 of rank 3)" in step_lines(bare)[0]
    assert work not in step_lines(bare)[0]
    assert any(line.endswith("(step 1 of rank 3)") for line in markdown_lines(digest_of(bare)))


def test_one_launch_is_no_plural() -> None:
    kernel = replace(KERNEL, launches=1)
    profile = replace(profile_of([(0, "ROOT", {})]), in_kernel=[kernel])
    assert ", 1 launch, " in "\n".join(markdown_lines(digest_of(profile)))


def test_calls_that_launched_are_named_as_their_kernels_are() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "launch _Z3addIfEvPT_", {"cpu_time (ns)": 5})])
    tree = replace(profile.tree, frames=[Frame("ROOT"), Frame("launch _Z3addIfEvPT_")])
    text = "\n".join(markdown_lines(digest_of(replace(profile, tree=tree))))
    assert "| `launch add<float>` |" in text


def test_python_frames_are_written_without_their_folders() -> None:
    frames = [f"/usr/lib/python3.12/site-packages/trainer/{name}:7@go" for name in ("a.py", "b.py")]
    rows = [(0, "ROOT", {}), (1, frames[0], {}), (2, frames[1], {}), (3, "k", {"time (ns)": 5})]
    lines = markdown_lines(digest_of(profile_of(rows)))
    assert any(line.startswith("| `a.py:7@go / b.py:7@go` |") for line in lines)


def test_ranks_without_kernels_have_no_times_to_tell() -> None:
    merged = replace(
        profile_of([(0, "ROOT", {}), (1, "s", {"cpu_time (ns)": 5})]), ranks=(Rank(0), Rank(1))
    )
    lines = markdown_lines(digest_of(merged))
    assert "- time of scopes: 5 ns" in lines
    assert "- ranks: 2, values are summed over them" in lines


def test_names_cannot_break_a_table() -> None:
    profile = profile_of([(0, "ROOT", {}), (1, "a|b`c\nd", {"time (ns)": 12_345_678_901_234})])
    profile = replace(profile, losses={"dropped": 2}, warnings=("x | y\nz",))
    lines = markdown_lines(digest_of(profile))
    assert "- lost: 2 dropped" in lines
    assert "- warning: x \\| y z" in lines
    row = next(line for line in lines if line.startswith("| `"))
    assert row.startswith("| `a\\|b'c\\nd` | 12 346 s | 100.0 % |")


def test_a_share_of_peak_that_is_not_known_says_how_much_work_is() -> None:
    path = DATA / "h200/kernels.hatchet"
    lines = markdown_lines(digest_of(prepare(open_profile(path))))
    assert "- share of peak: not known (work is known for 28.0 % of the time)" in lines
    bare = profile_of([(0, "ROOT", {}), (1, "k", {"time (ns)": 5})])
    assert "- share of peak: not known (work not known)" in markdown_lines(digest_of(bare))


def test_records_of_a_kernel_are_told_apart_by_context() -> None:
    lines = markdown_lines(digest_of(prepare(open_profile(DATA / "in_kernel.hatchet"))))
    [first, second] = [line for line in lines if line.startswith("`matmul_kernel`, mode")]
    assert first.endswith("2 launches, 8 192 warps, in `step / forward`")
    assert second.endswith("1 launch, 4 096 warps, in `step / backward`")
    assert "| `k loop` | 8 192 | 31 083 725 | 80.3 % |" in lines


def test_lines_that_kernels_come_from_are_a_table() -> None:
    lines = markdown_lines(digest_of(compiled_profile()))
    table = lines[lines.index("## Origins") :]
    assert (
        "| `triton_poi_fused_mul_relu_0` | `/home/me/model.py:13` | aten.mul (backward) |" in table
    )
    assert "- `triton_red_fused_sum_1`: lines of all kernels of this name" in table
    assert "## Origins" not in markdown_lines(digest_of(replace(compiled_profile(), origins=())))


def test_a_remark_on_many_kernels_is_said_once() -> None:
    work = {"time (ns)": 10, "count": 1, "bytes": 5}
    rows: list[Row] = [(0, "ROOT", {}), *((1, f"k{at}", work) for at in range(5))]
    profile = profile_of(rows, devices=[Device("CUDA", "0", arch="99")])
    lines = markdown_lines(digest_of(profile))
    remarks = [
        line for line in lines if line.endswith(": the peak rates of this device are not known")
    ]
    assert remarks == ["- all kernels: the peak rates of this device are not known"]
