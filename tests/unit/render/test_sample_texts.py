from __future__ import annotations

from collections import Counter
from dataclasses import replace

from proton.analysis.source_lines import Samples
from proton.files.source_text import SourceText, TextState
from proton.model.frame import ROOT_FRAME, Frame
from proton.model.profile import Profile, TraceProfile, TreeProfile
from proton.model.sampling import NO_CUBIN, Sampling
from proton.model.trace import Trace
from proton.model.tree import Tree
from proton.render.text.sample_texts import (
    SPLIT_NOTE,
    choices_of_reasons,
    fit_reason,
    fitting,
    kernel_remark,
    legend_lines,
    reasons_in,
    reasons_text,
    sampling_lines,
    text_remark,
)
from proton.render.text.style import RED, Style
from tests.support.sampling import KERNEL, SAMPLING

PLAIN = Style()


def head(sampling: Sampling, **losses: int) -> list[str]:
    return sampling_lines(Profile("f", sampling=sampling, losses=losses), PLAIN)


def test_the_head_says_how_often_how_many_and_what_was_lost() -> None:
    assert head(SAMPLING)[0] == (
        "107 samples, one every 1 024 cycles of a multiprocessor   0 dropped   "
        "3 outside the program's kernels   0 buffer overflows"
    )


def test_the_head_says_that_samples_were_divided() -> None:
    assert head(SAMPLING)[1:] == [SPLIT_NOTE]
    assert head(replace(SAMPLING, is_split=False))[1:] == []


def test_in_a_trace_nothing_was_divided() -> None:
    profile = TraceProfile("f", sampling=SAMPLING, trace=Trace([], [], []))
    assert SPLIT_NOTE not in sampling_lines(profile, PLAIN)


def test_a_duty_cycle_and_a_filter_are_said() -> None:
    windows = replace(SAMPLING, window_ns=30_000_000, every_ns=1_500_000_000, left_out=1200)
    assert ", for 30 ms of every 1.5 s   " in head(windows)[0]
    assert head(windows)[0].endswith("1 200 left out by include")


def test_lost_samples_are_a_red_line_with_a_remedy() -> None:
    lines = sampling_lines(
        Profile("f", sampling=replace(SAMPLING, dropped=5, overflows=2)), Style(color=True)
    )
    assert lines[1].startswith(f"{RED}! 5 samples dropped, hardware buffer full 2 times: ")
    assert "longer interval" in lines[1]


def test_counts_that_only_the_losses_have_are_said_too() -> None:
    found = head(Sampling(samples=9), dropped_samples=4, non_user_samples=2)
    assert "2 outside the program's kernels" in found[0]
    assert found[1].startswith("! 4 samples dropped")


def test_the_file_of_another_tool_gets_a_count() -> None:
    tree = Tree([ROOT_FRAME, Frame("k")], [-1, 0], [{}, {"num_samples": 1}])
    assert sampling_lines(TreeProfile("f", tree=tree), PLAIN) == [
        "1 sample; the file does not say how often"
    ]
    assert sampling_lines(Profile("f"), PLAIN) == []


def test_reasons_are_named_with_shares_as_far_as_they_matter() -> None:
    samples = Samples(100, 0, Counter({"wait": 60, "barrier": 30, "misc": 4}))
    assert reasons_text(samples) == "wait 60 %, barrier 30 %"
    assert reasons_text(samples, 1) == "wait 60 %"
    assert reasons_text(Samples(100, 0, Counter({"misc": 3}))) == "misc 3 %"


def test_the_legend_explains_the_reasons_that_are_named() -> None:
    found = [Samples(100, 0, Counter({"wait": 60, "barrier": 40}))]
    text = " ".join(" ".join(legend_lines(found, Style(width=80))).split())
    assert text.startswith("wait It sits out the fixed few cycles")
    assert "barrier It waits for the other warps of its block at a barrier. Helps: Share" in text
    assert all(len(line) <= 80 for line in legend_lines(found, Style(width=80)))


def test_reasons_that_hardly_count_are_only_named_unless_all_are_asked_for() -> None:
    found = [Samples(1000, 0, Counter({"wait": 1000})), Samples(2, 0, Counter({"drain": 2}))]
    assert legend_lines(found, PLAIN)[-1] == "--full explains also: drain"
    assert any(line.startswith("drain  ") for line in legend_lines(found, PLAIN, full=True))


def test_reasons_give_way_to_text() -> None:
    samples = {0: Samples(10, 0, Counter({"a": 8, "b": 2})), 1: Samples(1, 0, Counter({"c": 1}))}
    choices = choices_of_reasons(samples)
    assert choices[0] == ({0: "a 80 %, b 20 %", 1: "c 100 %"}, 14)
    assert choices[-1] == ({0: "a 80 %", 1: "c 100 %"}, 7)
    assert fitting(choices, None, 30) == choices[0]
    assert fitting(choices, 46, 30) == choices[0]
    assert fitting(choices, 45, 30) == choices[-1]
    assert fitting(choices, 3, 30) == choices[-1]


def test_a_file_that_changed_or_is_gone_is_said() -> None:
    assert text_remark("a.py", SourceText(TextState.SAME)) == ""
    assert text_remark("a.py", SourceText(TextState.GONE, (), "no such file")) == (
        "a.py: no such file; line numbers without text"
    )
    assert "changed since the recording (why)" in text_remark(
        "a.py", SourceText(TextState.CHANGED, (), "why")
    )


def test_a_kernel_without_lines_has_a_remedy() -> None:
    assert kernel_remark(KERNEL) == ""
    assert "start the session earlier" in kernel_remark(replace(KERNEL, lines=NO_CUBIN))


def test_of_a_reason_the_name_is_cut_and_not_the_share() -> None:
    assert fit_reason("long_scoreboard 56 %", 20) == "long_scoreboard 56 %"
    assert fit_reason("long_scoreboard 56 %", 17) == "long_scoreb… 56 %"
    assert fit_reason("long_scoreboard 56 %", 3) == "long_sc… 56 %"
    assert fit_reason("long_scoreboard 56 %", None) == "long_scoreboard 56 %"
    assert fit_reason("", 0) == ""


def test_as_many_reasons_are_named_as_there_is_room_for() -> None:
    samples = Samples(100, 0, Counter({"wait": 50, "barrier": 30, "selected": 20}))
    assert reasons_in(samples, 40) == "wait 50 %, barrier 30 %, selected 20 %"
    assert reasons_in(samples, 37) == "wait 50 %, barrier 30 %"
    assert reasons_in(samples, 10) == "wait 50 %"
    assert reasons_in(Samples(), 10) == ""
