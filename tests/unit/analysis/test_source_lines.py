from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proton.analysis.reasons import NO_REASON
from proton.analysis.source_lines import (
    Samples,
    is_sampled,
    samples_by_file,
    samples_by_user_line,
    samples_in,
    samples_of,
    samples_of_file,
    with_rest,
)
from proton.files.detect import open_profile
from proton.model.profile import Profile
from tests.support.profiles import tree_in
from tests.support.sampling import KERNEL, SAMPLING, TOTALS

DATA = Path(__file__).resolve().parents[2] / "data"
SAMPLED = open_profile(DATA / "sampled.hatchet")
STANDARD = "/opt/triton/language/standard.py"


def test_samples_of_an_inlined_line_count_for_the_user_s_line_too() -> None:
    files = samples_by_file(SAMPLED)
    inlined = sum(files[STANDARD][line].count for line in (191,))
    assert files["sampled/softmax.py"][14].count == inlined == 1045
    assert files[STANDARD][170].count == 722


def test_every_sample_stands_once_at_a_line_of_the_user() -> None:
    lines = samples_by_user_line(SAMPLED)
    assert lines["sampled/softmax.py", 14].count == 1045
    assert not any(file == STANDARD for file, _ in lines)
    assert sum(one.count for one in lines.values()) == sum(
        seen.samples for seen in samples_of(SAMPLED) if seen.stack
    )


def test_lines_know_their_reasons_and_kernels() -> None:
    line = samples_by_file(SAMPLED)["sampled/matmul.py"][56]
    assert line.count == 2342
    assert line.kernels == {"matmul": 2342}
    assert line.reasons["warpgroup_arrive"] == 1031
    assert line.top_reasons(1)[0][0] == "math_pipe_throttle"


def test_a_file_counts_each_sample_once() -> None:
    total = samples_of_file(SAMPLED, STANDARD)
    assert total.count == 1045 + 62
    assert total.count < sum(one.count for one in samples_by_file(SAMPLED)[STANDARD].values())


def test_spellings_of_the_known_tool_are_read() -> None:
    own = {"num_samples": 9, "stalled_not_Selected": 4, "stalled_no_instruction": 2, "stalled_x": 0}
    named = {"not_selected": 4, "no_instructions": 2}
    assert samples_in(own).reasons == {**named, NO_REASON: 3}


def test_a_file_of_the_known_tool_has_lines() -> None:
    lines = samples_by_file(open_profile(DATA / "samples.hatchet"))["kernels/softmax.py"]
    assert {line: one.count for line, one in lines.items()} == {21: 40, 25: 12}


def test_a_profile_without_contexts_has_its_lines_from_line_samples() -> None:
    kernels = (replace(KERNEL, line_samples=TOTALS),)
    profile = Profile("f", sampling=replace(SAMPLING, kernels=kernels))
    lines = samples_by_file(profile)
    assert {line: one.count for line, one in lines["k.py"].items()} == {3: 60, 4: 30}
    assert lines["lib/sum.py"][9].count == 30


def test_without_line_samples_instructions_tell_the_lines() -> None:
    seen = list(samples_of(Profile("f", sampling=SAMPLING)))
    assert [one.samples for one in seen] == [60, 30, 4]
    assert seen[1].stack == (("lib/sum.py", 9), ("k.py", 4))
    assert seen[2].stack == ()


def test_profiles_with_samples_are_told_from_others() -> None:
    assert is_sampled(SAMPLED)
    assert is_sampled(open_profile(DATA / "triton36_samples.hatchet"))
    assert is_sampled(Profile("f", sampling=SAMPLING))
    assert not is_sampled(open_profile(DATA / "gpt.hatchet"))


def test_no_samples_have_no_reasons() -> None:
    assert Samples().top_reasons(3) == []


def test_samples_without_a_reason_have_a_name() -> None:
    assert with_rest({"wait": 3}, 10) == {"wait": 3, NO_REASON: 7}
    assert with_rest({"wait": 3}, 3) == {"wait": 3}
    assert samples_in({"num_samples": 10, "stalled_wait": 3}).top_reasons(1) == [(NO_REASON, 0.7)]
    upstream = tree_in(open_profile(DATA / "triton36_samples.hatchet"))
    found = [one for own in upstream.own if (one := samples_in(own)).count]
    assert found
    assert all(one.reasons.total() == one.count for one in found)
