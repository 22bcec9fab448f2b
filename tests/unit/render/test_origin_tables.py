"""`--origins`: lines by time, kernels with their lines, and what to know of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proton.analysis.origins.join_rows import FoundOrigins
from proton.errors import FormatError
from proton.render.text.origin_tables import origin_tables, remarks_of, shown_files
from proton.render.text.style import UNICODE, Style
from tests.support.origins import RELU, compiled_profile

PLAIN = Style(color=False, width=None, glyphs=UNICODE)


def test_lines_come_first_then_kernels_with_their_lines() -> None:
    text = "\n".join(origin_tables(compiled_profile(), PLAIN, full=False))
    _, _, tables = text.partition("lines are known for ")
    assert (
        tables
        == """\
1.50 us of 2.00 us of GPU time (75.0%)

line                      time           kernels  operators
model.py:13 in forward  800 ns  divided        2  aten.mul
loss.py:3 in loss       350 ns  divided        1  aten.sum
model.py:12 in forward  350 ns  divided        2  aten.relu

triton_poi_fused_mul_relu_0   600 ns
  model.py:12 in forward  300 ns  divided  forward   aten.relu
  model.py:13 in forward  300 ns  divided  backward  aten.mul

gemm   500 ns
  model.py:13 in forward  500 ns    backward  aten.mul

triton_red_fused_sum_1   300 ns
  loss.py:3 in loss  300 ns    forward  aten.sum

triton_red_fused_sum_1   100 ns
  loss.py:3 in loss       50 ns  divided  forward  aten.sum
  model.py:12 in forward  50 ns  divided  forward  aten.relu
  several graphs have a kernel of this name: these are the lines of all of them
  its code came from a cache: there may be more lines

divided: a kernel has several lines, and each is given an equal share of its time; nobody \
measures which of them takes how long"""
    )


def test_a_profile_without_origins_is_refused_with_the_remedy() -> None:
    with pytest.raises(FormatError, match="open the session before the program compiles"):
        origin_tables(replace(compiled_profile(), origins=()), PLAIN, full=False)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_tables_fit_the_width(width: int) -> None:
    style = Style(color=False, width=width, glyphs=UNICODE)
    lines = origin_tables(compiled_profile(), style, full=False)
    assert max(map(len, lines)) <= width


def test_whole_paths_are_shown_on_request_and_where_names_are_alike() -> None:
    assert "/home/me/model.py:12 in forward" in "\n".join(
        origin_tables(compiled_profile(), PLAIN, full=True)
    )
    assert shown_files(["/a/m.py", "/b/m.py", "/a/n.py"], full=False) == {
        "/a/m.py": "/a/m.py",
        "/b/m.py": "/b/m.py",
        "/a/n.py": "n.py",
    }


def test_remarks_say_what_is_not_sure() -> None:
    assert remarks_of(FoundOrigins((RELU,))) == []
    found = FoundOrigins((RELU,), is_united=True, is_partial=True, left_out=2)
    assert [text.partition(":")[0] for text in remarks_of(found)] == [
        "several graphs have a kernel of this name",
        "its code came from a cache",
        "and 2 more lines, which the file does not keep",
    ]
