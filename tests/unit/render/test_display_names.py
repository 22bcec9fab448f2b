from __future__ import annotations

import pytest

from proton.render.display_names import (
    cell_width,
    cut_middle,
    cut_name,
    cut_names,
    display_name,
    name_formatter,
    printable,
    shown_names,
    visible,
)

FRAME = "/home/me/project/model.py:42@forward"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("größe → 模型 🚀", "größe → 模型 🚀"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("abc\u202ecba", "abc\\u202ecba"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("half \ud83d", "half \\ud83d"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u2028b", "a\\u2028b"),
    ],
)
def test_what_a_terminal_might_obey_is_written_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("frame_format", "shown"),
    [
        ("full", FRAME),
        ("file_function_line", "model.py:42@forward"),
        ("function_line", "42@forward"),
        ("file_function", "model.py@forward"),
    ],
)
def test_python_frames_show_the_parts_asked_for(frame_format: str, shown: str) -> None:
    assert display_name(FRAME, frame_format=frame_format) == shown
    assert name_formatter(frame_format)(FRAME) == shown


def test_other_names_are_not_taken_apart() -> None:
    kernel = "matmul_<grid:128x1x1>_<warps:4>"
    assert display_name(kernel, frame_format="function_line") == kernel


def test_an_empty_name_can_be_seen() -> None:
    assert name_formatter()("") == '""'


def test_cpp_names_are_demangled_and_shortened() -> None:
    name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEEEEviT0_"
    assert (
        name_formatter()(name) == "at::native::vectorized_elementwise_kernel<4, FillFunctor<int>>"
    )


def test_full_cpp_names_keep_their_parameters() -> None:
    assert name_formatter(full=True)("_Z3fooi") == "foo(int)"


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghij", 7, "abc…hij"),
        ("abcdefghij", 6, "abc…ij"),
        ("abcdefghij", 1, "…"),
        ("abcdefghij", 0, ""),
        ("日本語日本語", 7, "日…語"),
    ],
)
def test_a_long_name_is_cut_in_the_middle(text: str, room: int, cut: str) -> None:
    assert cut_middle(text, room) == cut
    assert cell_width(cut) <= room


@pytest.mark.parametrize(
    ("room", "cut"),
    [
        (36, FRAME),
        (35, "…/me/project/model.py:42@forward"),
        (30, "…/project/model.py:42@forward"),
        (21, "…/model.py:42@forward"),
        (20, "model.py:42@forward"),
        (17, "model.py…@forward"),
    ],
)
def test_a_long_python_frame_loses_its_folders_first(room: int, cut: str) -> None:
    assert cut_name(FRAME, room) == cut
    assert cell_width(cut) <= room


def test_folders_of_wide_characters_are_measured_in_columns() -> None:
    assert cut_name("/日本/日本.py:1@f", 12) == "日本.py:1@f"
    assert cut_name("/日本/日本.py:1@f", 13) == "…/日本.py:1@f"


def test_names_that_are_no_python_frames_are_cut_in_the_middle() -> None:
    assert cut_name("abcdefghij", 7) == "abc…hij"


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert cell_width("日本") == 4
    assert cell_width("e\u0301") == 1


def test_cut_names_of_a_table_stay_distinct() -> None:
    names = [
        f"sm80_xmma_gemm_f32f32_f32f32_f32_{way}_n_tilesize{tile}_ffma_execute_kernel__5x_cublas"
        for way in ("tn", "nt")
        for tile in ("128x128x8", "128x64x8", "64x64x8")
    ]
    for room in (40, 60):
        cut = cut_names([*names, "short", names[0]], room)
        assert len(set(cut)) == len(names) + 1
        assert cut[0] == cut[-1]
        assert all(len(text) <= room for text in cut)
        assert "short" in cut


def test_names_that_are_told_apart_in_groups_do_not_meet_again() -> None:
    names = [
        f"at::native::vectorized_elementwise_kernel<4, {what}Functor<float>, array<char*, {n}ul>>"
        for what in ("CUDA", "Abs")
        for n in (2, 3)
    ]
    cut = cut_names(names, 22)
    assert len(set(cut)) == 4
    assert all(len(text) <= 22 for text in cut)


def test_cut_names_of_one_name_are_cut_in_the_middle() -> None:
    assert cut_names(["abcdefghij"], 5) == ["ab…ij"]


def test_shown_names_are_as_short_as_they_can_be_and_distinct() -> None:
    names = [
        "_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nt_align1EEvNT_6ParamsE",
        "_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_256x128_8x4_nn_align1EEvNT_6ParamsE",
        "plain",
        "",
    ]
    shown = shown_names(names)
    assert shown["plain"] == "plain"
    assert shown[""] == '""'
    assert shown[names[0]] == "cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>"
    assert len(set(shown.values())) == len(names)
    write = name_formatter(names=names)
    assert [write(name) for name in names] == [shown[name] for name in names]


def test_names_that_differ_in_nothing_a_person_reads_get_numbers() -> None:
    assert sorted(shown_names(["_Z1fv", "_Z1fi"]).values()) == ["f()", "f(int)"]
    shown = shown_names(["_ZN1AC1Ev", "_ZN1AC2Ev"])  # two symbols of one constructor
    assert sorted(shown.values()) == ["A::A() #1", "A::A() #2"]


@pytest.mark.parametrize(
    ("name", "seen"), [("", '""'), ("  ", '"  "'), ("\u3000", '"\u3000"'), ("a b", "a b")]
)
def test_names_that_nobody_would_see_are_quoted(name: str, seen: str) -> None:
    assert visible(name) == seen
    assert display_name(name) == seen
    assert shown_names([name]) == {name: seen}
    assert name_formatter()(name) == seen


@pytest.mark.parametrize("symbol", ["_Z3addIfEvPT_", "_Z3addIdEvPT_"])
def test_what_was_launched_is_named_as_its_kernel_is(symbol: str) -> None:
    others = ("_Z3addIfEvPT_", "launch _Z3addIdEvPT_", "launch _Z3addIfEvPT_")
    for full in (False, True):
        name = name_formatter(names=others, full=full)
        assert name(f"launch {symbol}") == f"launch {name(symbol)}"
        assert "_Z" not in name(symbol)
        assert display_name(f"launch {symbol}", full=full) == (
            f"launch {display_name(symbol, full=full)}"
        )
    assert name_formatter()("launch _Z3addIfEvPT_") == "launch add<float>"
    assert name_formatter("function_line")("launch <memset>") == "launch <memset>"
