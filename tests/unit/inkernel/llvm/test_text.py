"""Sizes of types, and lists of LLVM text."""

import pytest

from proton.inkernel.ir.parse import split_list
from proton.inkernel.llvm.text import size_of, value_of


@pytest.mark.parametrize(
    ("type_", "size"),
    [
        ("i1", 1),
        ("i32", 4),
        ("half", 2),
        ("ptr addrspace(1)", 8),
        ("ptr addrspace(3)", 4),
        ("<4 x float>", 16),
        ("[2 x <2 x half>]", 8),
        ("{ i32, <2 x i64> }", 20),
        ("void", None),
        ("<4 x token>", None),
        ("{ i32, label }", None),
    ],
)
def test_types_have_sizes(type_: str, size: int | None) -> None:
    assert size_of(type_) == size


def test_commas_in_brackets_and_strings_divide_nothing() -> None:
    text = 'i32 %1, { i32, i32 } %2, ptr nonnull %3, asm "a, b"'
    assert split_list(text) == ["i32 %1", "{ i32, i32 } %2", "ptr nonnull %3", 'asm "a, b"']
    assert split_list("") == []


def test_the_value_of_an_operand_is_its_last_word() -> None:
    assert value_of("ptr addrspace(3) nonnull %5") == "%5"
