from __future__ import annotations

from dataclasses import replace

from proton.model.in_kernel import Change, RecordedKernel, Region
from proton.model.profile import Profile
from proton.render.text.kernel_remarks import (
    changes_text,
    clock_note,
    every_text,
    in_kernel_lines,
    marks_of,
    recording_remark,
    replays_text,
    short_mark,
    wrapped,
)
from proton.render.text.style import Style
from tests.support.in_kernel import KERNEL

SOUND = RecordedKernel("sound", launches=1, recorded_warps=1)


def test_a_profile_without_records_says_nothing() -> None:
    assert in_kernel_lines(Profile("f"), Style()) == []


def test_the_head_counts_and_marks() -> None:
    assert in_kernel_lines(Profile("f", in_kernel=(KERNEL, SOUND)), Style()) == [
        "in-kernel records of 2 kernels, 3 launches, 65 warps; recording is in their times",
        "! matmul_kernel: recording changed it: spills 0 -> 16 bytes, occupancy 16 -> 12",
        "! matmul_kernel: lost in-kernel: 12 overflowed_records",
    ]
    assert in_kernel_lines(Profile("f", in_kernel=(SOUND,)), Style()) == [
        "in-kernel records of 1 kernel, 1 launch, 1 warp; recording is in their times"
    ]


def test_equal_remarks_are_said_once_and_many_are_counted() -> None:
    kernels = [replace(KERNEL, kernel=f"k{number}", losses={}) for number in range(9)]
    lines = in_kernel_lines(Profile("f", in_kernel=(*kernels, *kernels)), Style(width=100))
    assert len(lines) == 6
    assert lines[-1] == "! 5 more remarks on kernels; --regions KERNEL shows those of one"


def test_remarks_are_wrapped_to_the_width_and_do_not_fill_the_screen() -> None:
    kernel = replace(KERNEL, kernel="k" * 999, losses={})
    lines = in_kernel_lines(Profile("f", in_kernel=(KERNEL, kernel)), Style(width=60))
    assert lines[2:4] == [
        "! matmul_kernel: recording changed it: spills 0 -> 16 bytes,",
        "  occupancy 16 -> 12",
    ]
    assert all(len(line) <= 60 for line in lines)
    assert len(lines) <= 10


def test_names_and_kinds_cannot_command_the_terminal() -> None:
    odd = replace(KERNEL, kernel="k\x1b[2J", losses={"\x1bx": 1}, changed={})
    assert marks_of(odd) == ["k\\x1b[2J: lost in-kernel: 1 \\x1bx"]


def test_changes_that_are_not_known_are_a_dash() -> None:
    known = changes_text({"occupancy": Change(None, 0.5)})
    assert known == "occupancy 0.50 (not known without records)"
    assert changes_text({"occupancy": Change(1, None)}) == "occupancy 1 -> -"


def test_kernels_that_were_thinned_out_say_so() -> None:
    thin = RecordedKernel("mm", every=4)
    (mark,) = marks_of(thin)
    assert mark.startswith("mm: thinned out for its budget: 1 of 4 iterations of loops is recorded")
    assert marks_of(replace(thin, every=0)) == [
        "mm: thinned out for its budget: nothing in loops is recorded"
    ]
    assert short_mark([SOUND, thin]) == "(! thinned out)"
    assert every_text(Region("dot", every=16)) == "1 of 16 iterations"
    assert every_text(Region("dot")) == ""


def test_spills_are_marked_where_the_kernel_is_not_known_without_records() -> None:
    kernel = RecordedKernel(
        "mm", changed={"spills": Change(None, 16), "occupancy": Change(None, 8)}
    )
    assert marks_of(kernel) == [
        "mm: recording may have changed it: spills 16 bytes (not known without records)"
    ]
    assert short_mark([kernel]) == "(! spills)"


def test_a_mark_is_a_few_words() -> None:
    assert short_mark([KERNEL]) == "(! spills, occupancy changed, records lost)"
    assert short_mark([SOUND, replace(KERNEL, losses={})]) == "(! spills, occupancy changed)"
    assert short_mark([SOUND]) == ""


def test_replays_that_were_not_read_are_told_in_words() -> None:
    kernel = replace(SOUND, replays=1000, losses={"unread_replays": 999})
    assert marks_of(kernel) == [
        "sound: read 1 of 1 000 replays of its graph: a flush reads the last one"
    ]
    assert short_mark([kernel]) == "(! replays not read)"
    both = replace(kernel, launches=2, losses={"unread_replays": 997, "dropped_buffers": 1})
    assert marks_of(both) == [
        "sound: lost in-kernel: 1 dropped_buffers",
        "sound: read 2 of 1 000 replays of its graph: a flush reads the last one",
    ]
    assert short_mark([both, SOUND]) == "(! records lost, replays not read)"


def test_a_kernel_in_a_graph_that_was_read_at_every_replay_is_sound() -> None:
    kernel = replace(SOUND, launches=3, replays=3)
    assert replays_text(kernel) == "read 3 of 3 replays"
    assert (marks_of(kernel), short_mark([kernel])) == ([], "")


def test_a_frequency_that_changed_is_noted_and_is_no_loss() -> None:
    kernel = replace(SOUND, losses={"clock_outliers": 7})
    assert marks_of(kernel) == []
    assert short_mark([kernel]) == ""
    assert clock_note(kernel).startswith("7 warps ran while the clock frequency changed")
    assert clock_note(SOUND) == ""


def test_text_is_wrapped_where_there_is_a_width() -> None:
    assert wrapped("word " * 30, Style()) == ["word " * 30]
    assert all(len(line) <= 40 for line in wrapped("word " * 30, Style(width=10)))


def test_the_time_of_a_kernel_that_recorded_is_remarked() -> None:
    said = "instrumented: its time includes recording"
    assert recording_remark(()) == ""
    assert recording_remark((SOUND,)) == said
    changed = "spills 0 -> 16 bytes, occupancy 16 -> 12"
    assert recording_remark((SOUND, KERNEL)) == f"{said}, which changed it: {changed}"


def test_a_number_stays_with_its_unit_where_text_is_wrapped() -> None:
    style = Style(width=40)
    front = "a" * 33
    assert wrapped(f"{front} for 1 147 ms", style) == [f"{front} for", "  1 147 ms"]
    assert wrapped(f"{front} by 12.5 % or", style) == [f"{front} by", "  12.5 % or"]
    assert wrapped(f"{front} --fold none", style) == [front, "  --fold none"]
    assert wrapped(f"{front} of 3 same", style) == [f"{front} of 3", "  same"]
