from __future__ import annotations

import pytest

from proton.errors import UsageError
from proton.render.text.choose_by_name import choose_file, choose_kernel

FILES = [
    "/h/a/kernels/softmax.py",
    "/h/a/kernels/matmul.py",
    "/h/b/softmax.py",
    "rel/x.py",
]
KERNELS = [("_Z4fillPfi", "fill"), ("matmul",), ("matmul_bwd", "renamed")]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("matmul.py", FILES[1]),
        ("kernels/softmax.py", FILES[0]),
        ("./b/softmax.py", FILES[2]),
        ("/h/b/softmax.py", FILES[2]),
        ("/somewhere/rel/x.py", FILES[3]),
    ],
)
def test_a_file_is_found_by_the_end_of_its_path(wanted: str, found: str) -> None:
    assert choose_file(wanted, FILES) == found


def test_several_files_are_listed() -> None:
    with pytest.raises(UsageError, match=r"means several files: /h/a/kernels/softmax.py, /h/b"):
        choose_file("softmax.py", FILES)


@pytest.mark.parametrize("wanted", ["max.py", "nothing.py", "", "/"])
def test_when_no_file_is_meant_all_are_listed(wanted: str) -> None:
    with pytest.raises(UsageError, match=r"is not a sampled file; there are: .*rel/x\.py"):
        choose_file(wanted, FILES)


@pytest.mark.parametrize(
    ("wanted", "place"),
    [("matmul", 1), ("_Z4fillPfi", 0), ("fill", 0), ("bwd", 2), ("renamed", 2), ("renam", 2)],
)
def test_a_kernel_is_found_by_any_name_or_part_of_one(wanted: str, place: int) -> None:
    assert choose_kernel(wanted, KERNELS) == place


def test_several_kernels_are_listed() -> None:
    with pytest.raises(UsageError, match="means several kernels: matmul, renamed; give more"):
        choose_kernel("matm", KERNELS)


def test_when_no_kernel_is_meant_the_first_of_all_are_listed() -> None:
    many = [(f"k{number}",) for number in range(20)]
    with pytest.raises(UsageError, match=r"there are: k0, .* k11 and 8 more$"):
        choose_kernel("x", many)
