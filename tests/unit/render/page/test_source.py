"""The source part says what the terminal says, and has all of the text that it needs."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from proton.analysis.prepare import prepare
from proton.analysis.source_lines import samples_by_file
from proton.files.detect import open_profile
from proton.files.source_text import SourceText, TextState
from proton.model.profile import TreeProfile
from proton.model.sampling import NO_CUBIN, Instruction
from proton.model.sampling import SourceFile as RecordedFile
from proton.render.page.source import AROUND, WHOLE_FILE, chunks_of, source_part
from tests.support.pages import plain
from tests.support.profiles import profile_of
from tests.support.sampling import KERNEL, SAMPLING

DATA = Path(__file__).resolve().parents[3] / "data"


def copied(tmp_path: Path, name: str) -> TreeProfile:
    shutil.copy(DATA / name, tmp_path)
    shutil.copytree(DATA / "sampled", tmp_path / "sampled", dirs_exist_ok=True)
    return prepare(open_profile(tmp_path / name))


def part_of(profile: TreeProfile) -> dict[str, Any]:
    part: dict[str, Any] = plain(source_part(profile, tool=None))
    return part


def sums(part: dict[str, Any]) -> dict[tuple[str, int], tuple[int, int, Counter[str]]]:
    """File and line -> samples, latency and reasons, added up as the page does."""
    found: dict[tuple[str, int], tuple[int, int, Counter[str]]] = {}
    for _, stack, samples, latency, reasons in part["seen"]:
        for place in dict.fromkeys(stack):
            file, line = part["places"][place]
            key = (part["files"][file]["path"], line)
            before = found.get(key, (0, 0, Counter[str]()))
            named = Counter({part["reasons"][reason][0]: count for reason, count in reasons})
            found[key] = (before[0] + samples, before[1] + latency, before[2] + named)
    return found


@pytest.mark.parametrize("name", ["sampled.hatchet", "sampled.chrome_trace"])
def test_lines_have_the_numbers_of_the_terminal(tmp_path: Path, name: str) -> None:
    profile = copied(tmp_path, name)
    found = sums(part_of(profile))
    for file, lines in samples_by_file(profile).items():
        for line, one in lines.items():
            assert found.pop((file, line)) == (one.count, one.latency, one.reasons)
    assert not found


@pytest.mark.parametrize("name", ["sampled.hatchet", "samples.hatchet", "triton36_samples.hatchet"])
def test_no_sample_is_left_out(tmp_path: Path, name: str) -> None:
    profile = copied(tmp_path, name)
    part = part_of(profile)
    assert isinstance(profile, TreeProfile)
    whole = profile.tree.totals("num_samples")[0]
    assert sum(one[2] for one in part["seen"]) == whole
    assert sum(kernel["samples"] for kernel in part["kernels"]) == whole


def test_samples_that_have_no_line_count_once() -> None:
    """Instructions without lines once counted beside the kernels that they are of."""
    counts = {"num_samples": 107, "stalled_wait": 40}
    profile = profile_of([(0, "ROOT", {}), (1, "kernel", counts)])
    bare = replace(KERNEL, lines=NO_CUBIN, instructions=(KERNEL.instructions[2],))
    part = part_of(replace(profile, sampling=replace(SAMPLING, kernels=(bare,), lines=())))
    assert [one[:3] for one in part["seen"]] == [[0, [], 107]]
    assert part["kernels"][0]["samples"] == 107


def test_kernels_and_reasons_are_in_the_order_of_their_samples(tmp_path: Path) -> None:
    part = part_of(copied(tmp_path, "sampled.hatchet"))
    counts = [kernel["samples"] for kernel in part["kernels"]]
    assert counts == sorted(counts, reverse=True)
    assert [kernel["title"] for kernel in part["kernels"]][-1] == "fill"
    assert [reason[0] for reason in part["reasons"]][:2] == [
        "math_pipe_throttle",
        "warpgroup_arrive",
    ]
    assert part["reasons"][0][1].startswith("The arithmetic or tensor unit")


def test_what_was_lost_is_said(tmp_path: Path) -> None:
    part = part_of(copied(tmp_path, "sampled.chrome_trace"))
    assert part["sampling"]["dropped"] == 12


def test_files_are_the_users_or_inlined_there(tmp_path: Path) -> None:
    profile = copied(tmp_path, "sampled.hatchet")
    files = {file["path"]: file for file in part_of(profile)["files"]}
    assert {path for path, file in files.items() if file["is_user"]} == {
        "sampled/matmul.py", "sampled/softmax.py", "sampled/removed.py",
    }  # fmt: skip
    text = (DATA / "sampled/softmax.py").read_text().splitlines()
    assert files["sampled/softmax.py"]["chunks"] == [[1, text]]
    assert files["sampled/softmax.py"]["state"] == "same"


def test_a_changed_file_and_a_gone_one_are_said_as_in_the_terminal(tmp_path: Path) -> None:
    profile = copied(tmp_path, "sampled.hatchet")
    (tmp_path / "sampled/softmax.py").write_text("other\n")
    files = {file["path"]: file for file in part_of(profile)["files"]}
    changed, gone = files["sampled/softmax.py"], files["sampled/removed.py"]
    assert changed["state"] == "changed"
    assert "changed since the recording (448 bytes then, 6 now)" in changed["remark"]
    assert (gone["state"], gone["chunks"]) == ("gone", [])
    assert gone["remark"] == "sampled/removed.py: no such file; line numbers without text"


def test_functions_of_inlined_lines_are_named(tmp_path: Path) -> None:
    part = part_of(copied(tmp_path, "sampled.hatchet"))
    place = next(
        at
        for at, (file, line) in enumerate(part["places"])
        if (part["files"][file]["path"], line) == ("/opt/triton/language/standard.py", 191)
    )
    assert part["functions"][place] == "max"


def test_text_that_editors_would_reorder_is_escaped() -> None:
    text = SourceText(TextState.SAME, ("a\t= '\u202eevil'", "x" * 2000))
    ((first, lines),) = chunks_of(text, {1})
    assert (first, lines[0]) == (1, "a   = '\\u202eevil'")
    assert len(lines[1]) == 1000


def test_of_a_very_long_file_the_lines_around_samples_are_in_the_page() -> None:
    count = WHOLE_FILE + 1000
    text = SourceText(TextState.SAME, tuple(f"line {n}" for n in range(1, count + 1)))
    chunks = chunks_of(text, {0, 5, 100, 2000, count, count + 7})
    assert [(first, first + len(lines) - 1) for first, lines in chunks] == [
        (1, 100 + AROUND), (2000 - AROUND, 2000 + AROUND), (count - AROUND, count),
    ]  # fmt: skip
    for first, lines in chunks:
        assert lines == [f"line {n}" for n in range(first, first + len(lines))]


def test_regions_have_their_lines_and_the_text_of_their_files(tmp_path: Path) -> None:
    profile = copied(tmp_path, "in_kernel.hatchet")
    (tmp_path / "matmul.py").write_text("\n".join(f"line {n}" for n in range(1, 71)))
    path = str(tmp_path / "matmul.py")
    (first, *others) = profile.in_kernel
    moved = replace(first, regions=[replace(one, file=path) for one in first.regions])
    part = part_of(replace(profile, in_kernel=(moved, *others)))
    assert (part["sampling"], part["kernels"], part["seen"]) == (None, [], [])
    told = [
        (part["files"][part["places"][place][0]]["path"], part["places"][place][1], kernel, name)
        for place, kernel, name, _ in part["regions"]
    ]
    assert (path, 51, "matmul_kernel", "k loop") in told
    file = next(file for file in part["files"] if file["path"] == path)
    assert (file["state"], file["is_user"], file["count"]) == ("not checked", True, 70)
    known = replace(moved, files={path: RecordedFile(size=5)})
    changed = part_of(replace(profile, in_kernel=(known, *others)))["files"]
    assert "changed" in {file["state"] for file in changed if file["path"] == path}
    assert file["chunks"][0][1][50] == "line 51"
    assert any(file["path"].endswith("softmax.py") for file in part["files"]), "of accesses"


def test_instructions_without_samples_are_no_sampled_lines() -> None:
    cold = Instruction(0x20, b"", 2)
    kernel = replace(KERNEL, instructions=(*KERNEL.instructions[:1], cold), samples=60)
    profile = replace(
        profile_of([(0, "ROOT", {}), (1, "kernel", {"time (ns)": 5})]),
        sampling=replace(SAMPLING, kernels=(kernel,)),
    )
    part = part_of(profile)
    assert [samples for _, _, samples, _, _ in part["seen"]] == [60]
    assert [row[3] for row in part["kernels"][0]["codes"][0]["instructions"]] == [60, 0]


def test_a_profile_without_samples_has_no_such_part() -> None:
    assert plain(source_part(prepare(open_profile(DATA / "gpt.hatchet")))) is None


@pytest.mark.parametrize("suffix", ["", ".txt", ".pem"])
def test_a_profile_cannot_name_any_file_for_a_page_that_is_sent_to_others(
    tmp_path: Path, suffix: str
) -> None:
    secret = tmp_path / f"secret{suffix}"
    secret.write_text("not for pages\n" * 40)
    content = (DATA / "sampled.hatchet").read_text()
    for path in ("sampled/softmax.py", "sampled/matmul.py"):
        content = content.replace(f'"{path}"', f'"{path[8:10]}/../{secret.name}"')
    (tmp_path / "so").mkdir()
    (tmp_path / "ma").mkdir()
    (tmp_path / "run.hatchet").write_text(content)
    part = part_of(prepare(open_profile(tmp_path / "run.hatchet")))
    named = [file for file in part["files"] if file["path"].endswith(secret.name)]
    assert len(named) == 2
    assert all(file["chunks"] == [] for file in named)
    assert all("not the file of a program" in file["remark"] for file in named)
