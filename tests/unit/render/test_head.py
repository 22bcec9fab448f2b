from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from proton.analysis.tuning_work import TuningCost
from proton.model.device import Device
from proton.model.profile import TreeProfile
from proton.model.summary import FrameworkContext
from proton.render.text.head import counted_line, device_names, head_lines
from proton.render.text.style import RED, Style

MakeProfile = Callable[..., TreeProfile]
ROWS = [(0, "ROOT", {}), (1, "k", {"time (ns)": 1_071_300_000, "count": 83_800})]
INTERPRETER = Device("CPU", "0", "interpreter")


def test_the_head_line_says_what_the_file_holds(make_profile: MakeProfile) -> None:
    head = head_lines(make_profile(ROWS), Style())
    assert head == ["run.hatchet   NVIDIA H200   83 800 kernels, 0 lost   total 1 071 ms"]


def test_a_foreign_file_does_not_claim_that_nothing_was_lost(make_profile: MakeProfile) -> None:
    assert "lost" not in head_lines(make_profile(ROWS, is_ours=False), Style())[0]


def test_losses_are_listed_in_red(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), losses={"unclosed_scope": 2, "invalid_text": 0})
    lines = head_lines(profile, Style(color=True))
    assert "2 lost" in lines[0]
    assert lines[1].startswith(RED)
    assert "2 unclosed_scope" in lines[1]
    assert "invalid_text" not in lines[1]


def test_warnings_are_shown_and_cannot_control_the_terminal(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), warnings=["bad\x1b[2J"])
    assert head_lines(profile, Style())[1] == "! bad\\x1b[2J"


def test_many_warnings_are_cut_short(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), warnings=[f"w{i}" for i in range(20)])
    assert head_lines(profile, Style())[-1] == "! and 12 more warnings"


def test_a_long_warning_is_wrapped_and_keeps_its_remedy(make_profile: MakeProfile) -> None:
    text = "another tool took the records of CUPTI, so launches are missing: stop it, then activate"
    profile = replace(make_profile(ROWS), warnings=[text])
    lines = head_lines(profile, Style(width=80))[1:]
    assert " ".join(line.strip() for line in lines) == f"! {text}"
    assert [line[:2] for line in lines] == ["! ", "  "]


def test_a_warning_without_end_is_cut(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), warnings=["x" * 5000])
    lines = head_lines(profile, Style(width=80))[1:]
    assert max(map(len, lines)) == 80
    assert len(lines) <= 6


def test_phases_are_counted(make_profile: MakeProfile) -> None:
    profile = replace(make_profile(ROWS), phases=(0, 1, 3))
    assert head_lines(profile, Style())[0].endswith("3 phases")


def test_equal_devices_are_counted(make_profile: MakeProfile) -> None:
    devices = [Device("CUDA", str(i), "90") for i in range(8)]
    assert device_names(make_profile(ROWS, devices=devices)) == "8 x CUDA sm_90"


def test_a_device_without_a_name_shows_its_type(make_profile: MakeProfile) -> None:
    devices = [Device("HIP", "0", "gfx942"), INTERPRETER]
    assert device_names(make_profile(ROWS, devices=devices)) == "HIP gfx942, interpreter"


def test_a_profile_is_interpreted_if_all_its_devices_are(make_profile: MakeProfile) -> None:
    assert make_profile(ROWS, devices=[INTERPRETER]).is_interpreted
    assert not make_profile(ROWS).is_interpreted
    assert not make_profile(ROWS, devices=[]).is_interpreted


def test_a_profile_without_kernels_has_no_total(make_profile: MakeProfile) -> None:
    profile = make_profile([(0, "ROOT", {"time (ns)": 0, "count": 0}), (1, "a", {})], devices=[])
    assert head_lines(profile, Style()) == ["run.hatchet   0 lost"]


def test_why_a_tier_was_refused_is_said_once(make_profile: MakeProfile) -> None:
    context = FrameworkContext("blame", "2.13.0", refused="torch has no such symbols")
    profile = make_profile(ROWS)
    profile = replace(profile, header=replace(profile.header, framework_context=context))
    said = "recorded with context blame, torch 2.13.0: torch has no such symbols"
    assert said in head_lines(profile, Style())
    warned = replace(profile, warnings=("torch has no such symbols",))
    assert said not in head_lines(warned, Style())


def test_a_view_that_counts_autotuning_says_how_much_it_was() -> None:
    said = counted_line(TuningCost(170_000_000, 0.107, 12))
    assert said == "autotuning counts here: it took 170 ms (10.7 %)"
