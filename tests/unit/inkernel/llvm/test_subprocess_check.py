"""Python in a process of its own."""

import sys

from proton.inkernel.llvm.subprocess_check import parse_problem, run_apart


def test_what_ends_that_process_leaves_this_one() -> None:
    done = run_apart("import os, sys; print(sys.argv[1]); os.abort()", "there", 60)
    assert done is not None
    assert done.returncode < 0


def test_it_finds_what_this_process_finds() -> None:
    done = run_apart("import sys; import proton; print(sys.argv[1], proton.__file__)", "x", 60)
    assert done is not None
    assert done.stdout.split() == ["x", sys.modules["proton"].__file__]


def test_it_is_given_a_limited_time() -> None:
    assert run_apart("import time; time.sleep(60)", "", 0.05) is None


def test_what_llvm_cannot_read_is_told_with_its_line() -> None:
    said = "LLVM ERROR: failed to parse IR: expected typelineno: 2\nStack dump:"
    assert parse_problem(said, "a\n  b c\n") == "expected type, in 'b c'"
    assert parse_problem(said, "a") == "expected type, in 'a'"
    assert parse_problem("LLVM ERROR: Broken module found", "a") == ""
