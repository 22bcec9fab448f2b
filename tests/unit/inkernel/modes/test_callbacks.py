"""Callbacks: their signatures, and whether LLVM takes them."""

import pytest

from proton.errors import UsageError
from proton.inkernel.llvm import subprocess_check
from proton.inkernel.llvm.subprocess_check import verify_callbacks
from proton.inkernel.modes.callback_mode import check_signature

ACCESS = "define dso_local void @f(i64 noundef %a, i32 %b, i32 signext %c, i32 noundef %d{}) #0 {{"
F_AT_BLOCK = ("f", "block", "a.ll")


def test_a_callback_may_take_the_buffer() -> None:
    assert not check_signature(ACCESS.format(""), "f", "access", "a.ll")
    assert check_signature(ACCESS.format(", ptr addrspace(1) %p"), "f", "access", "a.ll")
    assert not check_signature("define void @f(i32) {", "f", "block", "a.ll")


@pytest.mark.parametrize(
    "attributes",
    [
        "nocapture noundef writeonly",
        "noundef writeonly captures(none) initializes((0, 4))",
        "nonnull readnone align 8 dereferenceable(64) noalias",
    ],
)
def test_attributes_of_parameters_do_not_matter(attributes: str) -> None:
    text = f"define void @f(i32 noundef range(i32 0, 9) %0, ptr addrspace(1) {attributes} %1) "
    assert check_signature(f"{text}memory(argmem: write, inaccessiblemem: read) {{", *F_AT_BLOCK)


@pytest.mark.parametrize(
    "text",
    [
        "define void @f (i32 %site) {",
        'define void @"f"(i32 %site) {',
        '  define dso_local void @"f" (\n    i32 %site ; a number\n  ) #0\n{',
        "define { i32, i32 } @g({ i32 } %x) {\n}\ndefine void @f(i32 %site) { ret void }",
    ],
)
def test_signatures_may_be_written_in_other_ways(text: str) -> None:
    assert not check_signature(text, *F_AT_BLOCK)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("define void @f(i32*) {", "block"),
        ("define void @f(i32, ...) {", "block"),
        ("define void @f(i32, ptr addrspace(3) noundef %p) {", "block"),
        ("define i32 @f(i32) {", "block"),
        ("define void @f(i64) {", "block"),
        ("define void @f() {", "block"),
        ("define void @f(i32, i32, ptr) {", "branch"),
        (ACCESS.format(", i32 %e"), "access"),
    ],
)
def test_other_parameters_are_refused_with_the_right_ones(text: str, where: str) -> None:
    with pytest.raises(UsageError, match=rf"cannot be called at {where}; write: define void @f\("):
        check_signature(text, "f", where, "a.ll")


def test_a_text_that_llvm_takes_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    good = "define void @once(i32 %site) {\n  ret void\n}\n"
    verify_callbacks(good, "a.ll")
    monkeypatch.setattr("subprocess.run", None)
    verify_callbacks(good, "a.ll")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "define void @f(i64 %a) {\n  %b = add i32 %a, 1\n  ret void\n}\n",
            "LLVM refuses it: '%a' defined with type 'i64' but expected 'i32', in '%b = add i32",
        ),
        (
            "define void @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  %x = add i32 1, 2\n"
            "  br label %b\nb:\n  %y = add i32 %x, 1\n  ret void\n}\n",
            "LLVM refuses it: Instruction does not dominate all uses!",
        ),
    ],
)
def test_a_text_that_llvm_refuses_does_not_end_the_process(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        verify_callbacks(text, "a.ll")


def test_a_check_that_takes_too_long_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess_check, "CHECK_LIMIT_S", 0.001)
    with pytest.raises(UsageError, match="it took longer than"):
        verify_callbacks("define void @slow() {\n  ret void\n}\n", "a.ll")
